// Every rule that a CUDA kernel has about its problem or its parameters, broken once.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem Gemm(const View& a, const View& b, const View& c, MathMode math = MathMode::kFp32) {
  Problem p = ProblemOf(Family::kGemm, GemmAttrs{}, 2, {a, b}, {c});
  p.math = math;
  return p;
}
Problem Gemm(int64_t m, int64_t k, int64_t n, DType dtype = DType::kF32,
             MathMode math = MathMode::kFp32) {
  return Gemm(DenseView(dtype, {m, k}), DenseView(dtype, {k, n}), DenseView(dtype, {m, n}), math);
}

Problem OfElements(int64_t count) {
  Problem p =
      ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 1, {F32({count})}, {F32({count})});
  p.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
  return p;
}

TEST(CudaRefusals, OfThreadsAndBlocks) {
  const std::vector<ParameterFault> strides = {
      {"threads in multiples of 32, here is 100", {{"threads", 100}}},
      {"elements at once", {{"blocks", kMany}}}};
  ExpectParametersRefused("cuda.elementwise.map", OfElements(4096), strides);
  ExpectParametersRefused("cuda.elementwise.map", OfElements(4096),
                          {{"vector as a power of two, here is 3", {{"vector", 3}}}});
  const Problem fill =
      ProblemOf(Family::kCopy, CopyAttrs{{Dims{0}}, true, 0}, 1, {F32({4})}, {F32({9})});
  ExpectParametersRefused("cuda.copy.fill", fill, strides);
  ExpectParametersRefused("cuda.copy.fill", fill,
                          {{"power of two up to 1, here is 4", {{"vector", 4}}}});
  const Problem scan = ProblemOf(Family::kScan, ScanAttrs{ScanKind::kSum, 1, false, false}, 1,
                                 {F32({2, 99})}, {F32({2, 99})});
  ExpectParametersRefused("cuda.scan.block", scan, strides);
  ExpectParametersRefused("cuda.scan.lines", scan, strides);
  const Problem topk =
      ProblemOf(Family::kTopK, TopKAttrs{1, 2, true}, 1, {F32({2, 9})}, {F32({2, 2}), I64({2, 2})});
  ExpectParametersRefused("cuda.topk.select", topk, strides);
  const Problem scatter =
      ProblemOf(Family::kScatter, ScatterAttrs{ScatterKind::kPoints, ScatterReduction::kNone, 0}, 3,
                {F32({9, 5}), I64({4, 1}), F32({4, 5})}, {F32({9, 5})});
  ExpectParametersRefused("cuda.scatter.owners", scatter, strides);
  ExpectParametersRefused("cuda.scatter.owners", scatter,
                          {{"takes at most 268435456 shares", {{"shares", kMany}}}});
  ExpectUnsupported("cuda.scatter.lines", scatter, "walks lines of single elements");
}

TEST(CudaRefusals, OfNms) {
  const auto boxes = [](int64_t count) {
    return ProblemOf(
        Family::kNms, NmsAttrs{false}, 5,
        {Repeated({1, count, 4}), Repeated({1, 2, count}), I64({1}), F32({1}), F32({1})},
        {I64({9, 3}), I64({1})});
  };
  ExpectParametersRefused("cuda.nms.greedy", boxes(6),
                          {{"threads in multiples of 32", {{"threads", 33}}}});
  ExpectUnsupported("cuda.nms.greedy", boxes(kMany), "less than 2^30 boxes");
}

TEST(CudaRefusals, OfCopies) {
  const Problem whole = ProblemOf(Family::kCopy, CopyAttrs{{Dims{0, 0}}, false, 0}, 1,
                                  {View{DType::kF32, {64, 48}, {1, 64}, 0}}, {F32({64, 48})});
  ExpectParametersRefused("cuda.copy.pieces", whole,
                          {{"threads in multiples of 32", {{"threads", 33}}},
                           {"vector as a power of two", {{"vector", 3}}}});
  ExpectParametersRefused("cuda.copy.transpose", whole,
                          {{"tile_rows as a power of two", {{"tile_rows", 3}}},
                           {"elements at once", {{"blocks", kMany}}}});
  Problem p = whole;
  p.outputs = {F32({64, 50})};
  p.attrs = CopyAttrs{{Dims{0, 0}}, true, 0};
  ExpectUnsupported("cuda.copy.pieces", p, "do not cover the output");
  ExpectUnsupported("cuda.copy.convert", p, "has no epilogue");
  p.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
  ExpectUnsupported("cuda.copy.fill", p, "moves elements as they are");
  p.epilogue = {};
  ExpectUnsupported("cuda.copy.transpose", p, "one piece that covers the output");
  p = whole;
  p.inputs = {F32({64, 24}), F32({64, 24})};
  p.core_inputs = 2;
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 24}}, false, 0};
  ExpectUnsupported("cuda.copy.transpose", p, "one piece that covers the output");
  p = whole;
  p.inputs.push_back(F32({64, 0}));
  p.core_inputs = 2;
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 48}}, false, 0};
  ExpectUnsupported("cuda.copy.transpose", p, "one piece that covers the output");
  p = whole;
  p.inputs = {F32({64, 48})};
  ExpectUnsupported("cuda.copy.transpose", p, "contiguous along the same axis");
  p.inputs = {View{DType::kF32, {64, 48}, {2, 128}, 0}};
  ExpectUnsupported("cuda.copy.transpose", p, "needs an axis of stride 1");
  p = whole;
  p.outputs = {View{DType::kF32, {64, 48}, {96, 2}, 0}};
  ExpectUnsupported("cuda.copy.transpose", p, "needs an axis of stride 1");
  Problem converts = whole;
  converts.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
  ExpectUnsupported("cuda.copy.pieces", converts, "moves elements as they are");
  ExpectUnsupported("cuda.copy.transpose", converts, "moves elements as they are");
  ExpectParametersRefused(
      "cuda.copy.convert", converts,
      {{"threads in multiples of 32", {{"threads", 33}}},
       {"power of two up to 4, here is 3", {{"vector", 3}}},
       {"elements at once", {{"vector", 4}, {"threads", 32}, {"blocks", kMany}}}});
  for (const Dims& shape : {Dims{4, 48}, Dims{64, 4}}) {
    p.inputs = {View{DType::kF32, shape, {1, shape[0]}, 0}};
    p.outputs = {F32(shape)};
    ExpectUnsupported("cuda.copy.transpose", p, "fewer than 8 elements");
  }
}

TEST(CudaRefusals, OfRows) {
  const Problem softmax =
      ProblemOf(Family::kNormalize, NormalizeAttrs{NormalizeKind::kSoftmax, {1}, 0}, 1,
                {F32({64, 96})}, {F32({64, 96})});
  ExpectParametersRefused(
      "cuda.normalize.rows", softmax,
      {{"in multiples of 32 up to 1024, here are 3", {{"lanes", 1}, {"rows_per_block", 3}}},
       {"in multiples of 32 up to 1024, here are 2048", {{"lanes", 64}, {"rows_per_block", 32}}},
       {"lanes as a power of two", {{"lanes", 96}, {"rows_per_block", 1}}},
       {"elements at once", {{"blocks", kMany}}}});
  ExpectParametersRefused("cuda.normalize.columns", softmax,
                          {{"elements at once", {{"blocks", kMany}}}});
  // 96 groups of 64 positions, in runs of 10 channels.
  const View pixels{DType::kF32, {96, 10, 64}, {10, 1, 960}, 0};
  Problem grouped =
      ProblemOf(Family::kNormalize, NormalizeAttrs{NormalizeKind::kLayerNorm, {1, 2}, 0}, 1,
                {pixels}, {pixels});
  const auto threads = [](int64_t groups, int64_t lanes, int64_t lines) {
    return Edits{{"groups", groups}, {"lanes", lanes}, {"lines", lines}};
  };
  ExpectParametersRefused(
      "cuda.normalize.interleaved", grouped,
      {{"in multiples of 32 up to 1024, here are 33", threads(1, 1, 33)},
       {"in multiples of 32 up to 1024, here are 2048", threads(8, 8, 32)},
       {"at least 32 threads for a group, here are 16", threads(2, 4, 4)},
       {"no whole clusters of 2", {{"cluster", 2}, {"blocks", 5}}},
       {"vector as a power of two, here is 5", {{"vector", 5}}},
       {"groups of whole vectors, here are 640 elements and vectors of 256", {{"vector", 256}}},
       {"elements at once", {{"cluster", 1}, {"blocks", kMany}}}});
  ExpectUnsupported("cuda.normalize.interleaved", softmax, "each is one run of memory");
  grouped.inputs[0] = grouped.outputs[0] = {DType::kF32, {3, 129, 64}, {129, 1, 387}, 0};
  ExpectUnsupported("cuda.normalize.interleaved", grouped, "at most 128 elements, here are 129");
  grouped.inputs[0] = grouped.outputs[0] = {DType::kF32, {0, 10, 64}, {10, 1, 960}, 0};
  ExpectUnsupported("cuda.normalize.interleaved", grouped, "nothing to normalise");
  const Problem sum = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {1}, false}, 1,
                                {F32({64, 96})}, {F32({64, 1})});
  const Edits one = {{"lanes", 32}, {"results_per_block", 1}, {"cluster", 2}, {"blocks", 4}};
  EXPECT_EQ(Refused("cuda.reduce.rows", sum, one), "");
  ExpectParametersRefused(
      "cuda.reduce.rows", sum,
      {{"in multiples of 32 up to 1024, here are 3", {{"lanes", 1}, {"results_per_block", 3}}},
       {"in multiples of 32 up to 1024, here are 2048", {{"lanes", 64}, {"results_per_block", 32}}},
       {"one result at a time",
        {{"lanes", 32}, {"results_per_block", 2}, {"cluster", 2}, {"blocks", 4}}},
       {"lanes as a power of two", {{"lanes", 96}, {"results_per_block", 1}}},
       {"no whole clusters",
        {{"lanes", 32}, {"results_per_block", 1}, {"cluster", 2}, {"blocks", 5}}},
       {"elements at once", {{"blocks", kMany}}}});
  const Problem columns = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {0}, false}, 1,
                                    {F32({64, 100})}, {F32({1, 100})});
  ExpectParametersRefused(
      "cuda.reduce.columns", columns,
      {{"no whole clusters", {{"cluster", 2}, {"blocks", 5}}},
       {"elements at once", {{"cluster", 1}, {"blocks", kMany}}},
       {"vector as a power of two", {{"vector", 3}}},
       {"neighbours as a power of two", {{"neighbours", 12}}},
       {"100 results are no whole vectors of 8", {{"vector", 8}, {"neighbours", 4}}},
       {"takes up to 24 lanes with vectors of 4 and 32 neighbours, here are 25",
        {{"vector", 4}, {"neighbours", 32}, {"lanes", 25}}},
       {"takes up to 256 lanes with vectors of 4 and 4 neighbours, here are 512",
        {{"vector", 4}, {"neighbours", 4}, {"lanes", 512}}},
       {"12 lanes of 4 neighbours are no whole warps", {{"neighbours", 4}, {"lanes", 12}}}});
}

TEST(CudaRefusals, OfRecurrentLayers) {
  RecurrentAttrs a;
  a.cell = CellKind::kRnn;
  a.activations = {0};
  a.alpha = a.beta = {0};
  const auto layer = [&](int64_t batch, int64_t hidden) {
    return ProblemOf(
        Family::kRecurrent, a, 3,
        {F32({5, 1, batch, hidden}), F32({1, hidden, hidden}), F32({1, batch, hidden})},
        {F32({5, 1, batch, hidden}), F32({1, batch, hidden})});
  };
  const char* key = "cuda.recurrent.cluster";
  ExpectParametersRefused(key, layer(2, 6),
                          {{"a cluster of a power of two", {{"cluster", 3}}},
                           {"a cluster of a power of two", {{"cluster", 8}}},
                           {"in parts of up to 8 rows, here are 3", {{"clusters", 3}}},
                           {"threads in multiples of 32", {{"threads", 33}}}});
  ExpectParametersRefused(key, layer(32, 6),
                          {{"in parts of up to 8 rows, here are 1", {{"clusters", 1}}}});
  ExpectParametersRefused(key, layer(1, 512),
                          {{"bytes of shared memory", {{"cluster", 1}, {"storage", 2}}}});
}

Problem Depthwise(const Dims& x, const Dims& w, const Dims& y, ConvAttrs attrs) {
  const auto channels_last = [](const Dims& s) {
    return View{DType::kF32, s, {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]}, 0};
  };
  return ProblemOf(Family::kConv, attrs, 2, {channels_last(x), F32(w)}, {channels_last(y)});
}

TEST(CudaRefusals, OfDepthwiseTiles) {
  const char* key = "cuda.conv.depthwise_tile";
  const ConvAttrs plain = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 8, false};
  const Problem valid = Depthwise({1, 8, 9, 9}, {8, 1, 3, 3}, {1, 8, 9, 9}, plain);
  ExpectParametersRefused(
      key, valid,
      {{"tile_c as a power of two", {{"tile_c", 24}}},
       {"a piece of a power of two up to 4", {{"tile_c", 16}, {"piece", 3}}},
       {"a piece of a power of two up to 4", {{"tile_c", 16}, {"piece", 8}}},
       {"a piece of a power of two up to 2", {{"tile_c", 2}, {"piece", 4}}},
       {"pad in multiples of 8, here is 4", {{"pad", 4}}},
       {"9 pixels of a thread are more than the tile's 8", {{"pixels", 9}, {"tile_w", 8}}},
       {"needs 2048 threads",
        {{"piece", 2}, {"pixels", 1}, {"tile_c", 32}, {"tile_w", 16}, {"tile_h", 8}}},
       {"bytes of shared memory",
        {{"piece", 4}, {"pixels", 16}, {"tile_c", 64}, {"tile_w", 64}, {"tile_h", 16}}}});
  ConvAttrs a = {{1}, {1}, {1}, {1}, 8, false};
  ExpectUnsupported(
      key, ProblemOf(Family::kConv, a, 2, {F32({1, 8, 9}), F32({8, 1, 3})}, {F32({1, 8, 9})}),
      "takes two spatial axes");
  Problem p = valid;
  std::get<ConvAttrs>(p.attrs).transposed = true;
  ExpectUnsupported(key, p, "transposed");
  ConvAttrs high = plain;
  high.dilations = {128, 1};
  high.pads_begin = {128, 1};
  high.pads_end = {128, 1};
  ExpectUnsupported(key, Depthwise({1, 8, 9, 9}, {8, 1, 3, 3}, {1, 8, 9, 9}, high),
                    "the window is too high");
  high = plain;
  high.strides = {257, 1};
  ExpectUnsupported(key, Depthwise({1, 8, 9, 9}, {8, 1, 3, 3}, {1, 8, 1, 9}, high),
                    "the window is too high");
  EXPECT_NE(
      FindKernel(key)
          ->refuse(Depthwise({int64_t{1} << 32, 1, 1, 1}, {1, 1, 1, 1}, {int64_t{1} << 32, 1, 1, 1},
                             {{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1}),
                   {{"piece", 1},
                    {"pixels", 1},
                    {"tile_c", 1},
                    {"tile_w", 1},
                    {"tile_h", 1},
                    {"pad", 0}},
                   Device())
          .find("more blocks"),
      std::string::npos);
}

TEST(CudaRefusals, OfDepthwiseConvolutions) {
  const char* key = "cuda.conv.depthwise";
  const ConvAttrs plain = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 8, false};
  const Problem valid = Depthwise({1, 8, 9, 9}, {8, 1, 3, 3}, {1, 8, 9, 9}, plain);
  ExpectParametersRefused(key, valid,
                          {{"a piece of a power of two up to 4", {{"piece", 3}}},
                           {"a piece of a power of two up to 4", {{"piece", 8}}},
                           {"threads in multiples of 32", {{"threads", 33}}},
                           {"elements at once", {{"blocks", kMany}}}});
  Problem p = valid;
  std::get<ConvAttrs>(p.attrs).transposed = true;
  ExpectUnsupported(key, p, "transposed");
  ConvAttrs grouped = plain;
  grouped.group = 4;
  ExpectUnsupported(key, Depthwise({1, 8, 9, 9}, {8, 2, 3, 3}, {1, 8, 9, 9}, grouped),
                    "one input and one output");
  ExpectUnsupported(key, Depthwise({1, 4, 9, 9}, {8, 1, 3, 3}, {1, 8, 9, 9}, grouped),
                    "one input and one output");
  ExpectUnsupported(key, Depthwise({1, 8, 9, 9}, {4, 2, 3, 3}, {1, 4, 9, 9}, grouped),
                    "one input and one output");
  p = valid;
  for (View* v : {&p.inputs[0], &p.inputs[1], &p.outputs[0]}) v->dtype = DType::kF64;
  ExpectUnsupported(key, p, "f32, f16 and bf16 only");
  p = valid;
  p.inputs[0] = F32({1, 8, 9, 9});
  ExpectUnsupported(key, p, "the input's channels");
  p = valid;
  p.outputs[0] = F32({1, 8, 9, 9});
  ExpectUnsupported(key, p, "the output's channels");
  ConvAttrs single = plain;
  single.group = 1;
  p = ProblemOf(Family::kConv, single, 2, {F32({1, 1, 9, 9}), F32({1, 1, 3, 3})},
                {F32({1, 1, 9, 9})});
  ExpectUnsupported(key, p, "positions are innermost");
  ExpectUnsupported(key, Depthwise({0, 8, 9, 9}, {8, 1, 3, 3}, {0, 8, 9, 9}, plain),
                    "the output is empty");
  p = valid;
  p.outputs[0].strides = {648, 1, 8, 72};
  ExpectUnsupported(key, p, "axes are permuted");
  ConvAttrs attrs = plain;
  attrs.dilations = {1, 8};
  ExpectUnsupported(key, Depthwise({1, 8, 9, 32}, {8, 1, 3, 3}, {1, 8, 9, 18}, attrs),
                    "too long for registers");
  attrs = plain;
  attrs.strides = {1, 5};
  ExpectUnsupported(key, Depthwise({1, 8, 9, 32}, {8, 1, 3, 3}, {1, 8, 9, 7}, attrs),
                    "too long for registers");
}

TEST(CudaRefusals, OfConvolutionsInTiles) {
  for (const char* key : {"cuda.conv.implicit_gemm", "cuda.conv.tensor"}) {
    ConvAttrs a = {{17}, {1}, {0}, {0}, 1, true};
    Problem p =
        ProblemOf(Family::kConv, a, 2, {F32({1, 4, 3}), F32({4, 4, 17})}, {F32({1, 4, 51})});
    p.math = MathMode::kTf32;
    ExpectUnsupported(key, p, "is above 16");
    a.strides = {2};
    a.dilations = {2};
    p = ProblemOf(Family::kConv, a, 2, {F32({1, 4, 3}), F32({4, 4, 3})}, {F32({1, 4, 9})});
    p.math = MathMode::kTf32;
    ExpectUnsupported(key, p, "have a common divisor");
  }
  ConvAttrs a = {{1}, {1}, {0}, {0}, 1, false};
  const Problem p =
      ProblemOf(Family::kConv, a, 2, {F32({1, 4, 9}), F32({4, 4, 3})}, {F32({1, 4, 7})});
  ExpectUnsupported("cuda.conv.tensor", p, "the math mode is fp32");
}

TEST(CudaRefusals, OfFewRows) {
  const char* key = "cuda.gemm.gemv";
  ExpectUnsupported(key, Gemm(4, 8, 8, DType::kF64), "f32, f16 and bf16 only");
  ExpectUnsupported(key, Gemm(9, 8, 8), "here are 9");
  ExpectUnsupported(key, Gemm(0, 8, 8), "here are 0");
  const int64_t columns = (int64_t{1} << 30) + 1, batch = (int64_t{1} << 20) + 1;
  ExpectUnsupported(key, Gemm(F32({1, 8}), Repeated({8, columns}), F32({1, columns})),
                    "too many columns");
  ExpectUnsupported(key, Gemm(Repeated({batch, 1, 8}), Repeated({batch, 8, 2}), F32({batch, 1, 2})),
                    "too many columns");
  ExpectParametersRefused(
      key, Gemm(8, 64, 64),
      {{"a piece of a power of two up to 4", {{"piece", 3}}},
       {"a piece of a power of two up to 4", {{"piece", 8}}},
       {"static shared memory", {{"along_n", 1}, {"piece", 4}, {"warps", 32}}},
       {"reads ahead only along k", {{"along_n", 1}, {"piece", 1}, {"ahead", 1}}}});
  const Problem many =
      Gemm(Repeated({int64_t{1} << 20, 1, 8}), Repeated({int64_t{1} << 20, 8, 1 << 20}),
           F32({int64_t{1} << 20, 1, 1 << 20}));
  EXPECT_NE(FindKernel(key)
                ->refuse(many, {{"along_n", 0}, {"piece", 1}, {"warps", 1}}, Device())
                .find("more blocks"),
            std::string::npos);
}

TEST(CudaRefusals, OfTiles) {
  const Edits base = {{"tile_m", 64},  {"tile_n", 64},  {"tile_k", 16},
                      {"thread_m", 4}, {"thread_n", 4}, {"split", 1},
                      {"stages", 2},   {"cluster", 1},  {"vector", 4}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  const char* key = "cuda.gemm.tiled";
  const Problem p = Gemm(256, 256, 256);
  EXPECT_EQ(Refused(key, p, base), "");
  ExpectParametersRefused(
      key, p,
      {{"parts do not divide the tile", with({{"thread_m", 5}})},
       {"parts do not divide the tile", with({{"thread_n", 12}})},
       {"3 groups do not divide k", with({{"split", 3}})},
       {"no multiple of four", with({{"tile_n", 60}, {"thread_n", 6}})},
       {"no multiple of four", with({{"tile_k", 8}, {"split", 4}})},
       {"3 results per store", with({{"vector", 3}})},
       {"takes 2048 threads", with({{"thread_m", 2}, {"tile_m", 256}})},
       {"takes 240 threads", with({{"tile_m", 60}})},
       {"fewer than a line", with({{"thread_m", 16}, {"thread_n", 16}, {"tile_m", 128}})},
       {"the tile: it needs",
        with(
            {{"tile_m", 256}, {"tile_n", 256}, {"tile_k", 64}, {"thread_m", 16}, {"stages", 8}})}});
  const int64_t rows = int64_t{1} << 34;
  const Problem many = Gemm(Repeated({rows, 8}), Repeated({8, 1024}), F32({rows, 1024}));
  EXPECT_NE(FindKernel(key)->refuse(many, Parameters(base), Device()).find("more blocks"),
            std::string::npos);
  Edits clustered = base;
  clustered[7].value = 16;
  const Problem some = Gemm(Repeated({rows / 4, 8}), Repeated({8, 256}), F32({rows / 4, 256}));
  EXPECT_NE(FindKernel(key)->refuse(some, Parameters(clustered), Device()).find("more blocks"),
            std::string::npos);
}

TEST(CudaRefusals, OfTheLibrarysProduct) {
  const KernelInfo& kernel = *FindKernel("cublaslt.matmul");
  EXPECT_EQ(kernel.supports(Gemm(64, 64, 64), Device()), "");
  EXPECT_NE(kernel.supports(Gemm(64, 64, 64), *FindDevice("cpu:baseline")), "");
}

TEST(CudaRefusals, OfTensorCores) {
  const char* key = "cuda.gemm.tensor";
  using enum MathMode;
  ExpectUnsupported(key, Gemm(64, 64, 64, DType::kF64, kTf32), "f32, f16 and bf16 only");
  ExpectUnsupported(key, Gemm(64, 64, 64), "the math mode is fp32");
  ExpectUnsupported(key, Gemm(64, 64, 64, DType::kBF16, kFp16), "would narrow bf16");
  ExpectUnsupported(key, Gemm(64, 64, 64, DType::kF16, kBf16), "would narrow f16");
  const Edits base = {{"tile_m", 64}, {"tile_n", 64}, {"tile_k", 32},
                      {"warp_m", 32}, {"warp_n", 32}, {"split", 1},
                      {"stages", 2},  {"cluster", 1}, {"vector", 4}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  const Problem p = Gemm(256, 256, 256, DType::kF16, kFp16);
  EXPECT_EQ(Refused(key, p, base), "");
  ExpectParametersRefused(key, p,
                          {{"no whole number of fragments", with({{"tile_m", 80}, {"warp_m", 20}})},
                           {"no whole number of fragments", with({{"tile_n", 72}, {"warp_n", 36}})},
                           {"no whole number of fragments", with({{"tile_k", 24}})},
                           {"packs f32 alone, B is f16", with({{"packed_b", 1}})}});
  EXPECT_EQ(Refused(key, Gemm(64, 64, 64, DType::kF32, kFp16), with({{"packed_b", 1}})), "");
  EXPECT_EQ(Refused(key, Gemm(64, 64, 64, DType::kF32, kBf16), with({{"packed_b", 1}})), "");
  ExpectParametersRefused(
      key, Gemm(64, 64, 64, DType::kF32, kTf32),
      {{"for the math modes fp16 and bf16, here is tf32", with({{"packed_b", 1}})}});
  ExpectParametersRefused(
      key, Gemm(8, 65536, 16385, DType::kF32, kFp16),
      {{"at most 1073741824 values, B would be 1074266112", with({{"packed_b", 1}})}});
}

TEST(CudaRefusals, OfTheHopperProduct) {
  const char* key = "cuda.gemm.hopper";
  using enum MathMode;
  const Problem p = Gemm(256, 128, 256, DType::kF16, kFp16);
  const Edits base = HopperProductTile();
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  EXPECT_EQ(Refused(key, p, base), "");
  ExpectParametersRefused(
      key, p,
      {{"takes 128 bytes along k, not 64", with({{"tile_k", 32}})},
       {"40 columns", with({{"tile_n", 40}})},
       {"taking turns needs two", with({{"ping_pong", 1}, {"consumers", 1}})},
       {"no whole parts of 64", with({{"tile_m", 64}})},
       {"48 rows are no whole parts of 64",
        with({{"swap", 1}, {"consumers", 1}, {"tile_m", 32}, {"tile_n", 48}})},
       {"sums of a thread", with({{"tile_m", 256}, {"tile_n", 256}})},
       {"a cluster of no whole rows", with({{"cluster", 2}, {"cluster_m", 4}})},
       {"a cluster in both directions", with({{"cluster", 4}, {"cluster_m", 2}})},
       {"no whole clusters", with({{"cluster", 2}, {"blocks", 5}})},
       {"vector as a power of two", with({{"vector", 3}})},
       {"operand 1 is fetched in parts of 64, not 32", with({{"tile_n", 32}})},
       {"3 blocks share no 64 x 64 tile",
        with({{"tile_n", 64}, {"cluster", 3}, {"cluster_m", 3}, {"blocks", 6}})},
       {"15 blocks share no 128 rows", with({{"cluster", 15}, {"blocks", 15}})},
       {"32 blocks share no 128 rows", with({{"cluster", 32}, {"blocks", 32}})},
       {"1 blocks share no 512 rows", with({{"tile_m", 512}, {"tile_n", 64}})},
       {"the tile: it needs", with({{"stages", 12}})},
       {"has 2 of them and shares no operands", with({{"split", 2}})},
       {"has 2 of them and shares no operands",
        with({{"split", 2}, {"cluster", 2}, {"cluster_m", 2}})},
       {"take turns sum all of k", with({{"split", 2}, {"cluster", 2}, {"ping_pong", 1}})},
       {"8 blocks share 2 steps of k", with({{"split", 8}, {"cluster", 8}, {"blocks", 8}})},
       {"no whole clusters", with({{"split", 2}, {"cluster", 2}, {"blocks", 3}})},
       {"blocks that share operands read nothing ahead", with({{"cluster", 2}, {"ahead", 1}})}});
  EXPECT_EQ(Refused(key, p, with({{"split", 2}, {"cluster", 2}})), "");
  EXPECT_EQ(Refused(key, p, with({{"split", 2}, {"cluster", 2}, {"ahead", 1}})), "");
  ExpectUnsupported(key, Gemm(64, 64, 64, DType::kF64, kTf32), "f16 in fp16, f32 in tf32");
  ExpectUnsupported(key, Gemm(64, 64, 64, DType::kF32, kFp16), "f16 in fp16, f32 in tf32");
  for (const Dims& s : {Dims{0, 64, 64}, Dims{64, 0, 64}, Dims{64, 64, 0}}) {
    ExpectUnsupported(key, Gemm(s[0], s[1], s[2], DType::kF16, kFp16), "the product is empty");
  }
  const auto f16 = [](const Dims& s) { return DenseView(DType::kF16, s); };
  ExpectUnsupported(key, Gemm(f16({0, 64, 64}), f16({0, 64, 64}), f16({0, 64, 64}), kFp16),
                    "the product is empty");
}

TEST(CudaRefusals, OfTheHopperProductsOperands) {
  const char* key = "cuda.gemm.hopper";
  using enum MathMode;
  const auto f16 = [](const Dims& s) { return DenseView(DType::kF16, s); };
  const auto with_a = [&](const View& a) { return Gemm(a, f16({64, 64}), f16({64, 64}), kFp16); };
  ExpectUnsupported(key, with_a({DType::kF16, {64, 64}, {256, 2}, 0}), "contiguous along neither");
  ExpectUnsupported(key, with_a({DType::kF16, {64, 64}, {65, 1}, 0}), "a stride of 65");
  ExpectUnsupported(key, with_a({DType::kF16, {64, 64}, {64, 1}, 4}), "begins at element 4");
  ExpectUnsupported(key,
                    Gemm({DType::kF32, {64, 64}, {1, 64}, 0}, F32({64, 64}), F32({64, 64}), kTf32),
                    "is f32 and not contiguous along k");
  const View batches = {DType::kF16, {4, 4, 64, 64}, {64 * 64 * 9, 64 * 64, 64, 1}, 0};
  ExpectUnsupported(key, Gemm(batches, f16({4, 4, 64, 64}), f16({4, 4, 64, 64}), kFp16),
                    "a batch that no single stride walks");
  const View odd = {DType::kF16, {4, 64, 64}, {64 * 64 + 1, 64, 1}, 0};
  ExpectUnsupported(key, Gemm(odd, f16({4, 64, 64}), f16({4, 64, 64}), kFp16),
                    "a batch that no single stride walks");
  const int64_t rows = int64_t{1} << 31;
  const View tall = {DType::kF16, {rows, 64}, {64, 1}, 0};
  ExpectUnsupported(key, Gemm(tall, f16({64, 64}), f16({rows, 64}), kFp16), "is too long");
}

// Half-precision convolution of x [n, c, h, w] with weights [o, c, kernel, kernel], channels last,
// the weights with their output channels innermost.
Problem HalfConv(const Dims& x, int64_t outputs, int64_t kernel, int64_t stride, int64_t pad) {
  const auto last = [](const Dims& s) {
    return View{DType::kF16, s, {s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]}, 0};
  };
  ConvAttrs a;
  a.strides = {stride, stride};
  a.dilations = {1, 1};
  a.pads_begin = a.pads_end = {pad, pad};
  a.group = 1;
  const auto extent = [&](int64_t in) { return (in + 2 * pad - kernel) / stride + 1; };
  const View w = {DType::kF16,
                  {outputs, x[1], kernel, kernel},
                  {1, outputs, kernel * x[1] * outputs, x[1] * outputs},
                  0};
  Problem p = ProblemOf(Family::kConv, a, 2, {last(x), w},
                        {last({x[0], outputs, extent(x[2]), extent(x[3])})});
  p.math = MathMode::kFp16;
  return p;
}

TEST(CudaRefusals, OfTheHopperConvolution) {
  const char* key = "cuda.conv.hopper";
  const Problem p = HalfConv({2, 64, 16, 16}, 128, 3, 2, 1);  // 8 x 8 positions, 9 steps
  const Edits base = {{"tile_m", 64}, {"tile_n", 64},   {"tile_k", 64}, {"tile_w", 8},
                      {"tile_h", 8},  {"tile_b", 1},    {"flat", 0},    {"stages", 5},
                      {"split", 1},   {"consumers", 1}, {"swap", 0},    {"ping_pong", 0},
                      {"vector", 8},  {"blocks", 4}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  EXPECT_EQ(Refused(key, p, base), "");
  EXPECT_EQ(Refused(key, p, with({{"split", 4}, {"blocks", 16}})), "");
  EXPECT_EQ(Refused(key, p, with({{"tile_m", 56}, {"tile_h", 7}, {"swap", 1}})), "");
  EXPECT_EQ(Refused(key, p, with({{"held_b", 18}})), "");
  Problem bytes = p;
  bytes.inputs[0].dtype = bytes.inputs[1].dtype = DType::kF8E4M3FN;
  bytes.inputs[1].strides = {9 * 64, 1, 3 * 64, 64};
  bytes.math = MathMode::kFp8;
  EXPECT_EQ(Refused(key, bytes, with({{"promote", 1}})), "");
  ExpectParametersRefused(
      key, bytes, {{"sum all of k on the tensor cores", with({{"held_b", 18}, {"promote", 1}})}});
  ExpectParametersRefused(
      key, p,
      {{"blocks hold all 18 tiles of weights or none", with({{"held_b", 9}})},
       {"sum all of k on the tensor cores", with({{"held_b", 18}, {"split", 2}})},
       {"the tile: it needs", with({{"held_b", 18}, {"stages", 12}})},
       {"takes 32, 64 or 128 bytes along k, not 80", with({{"tile_k", 40}})},
       {"56 columns are none", with({{"tile_n", 56}})},
       {"taking turns needs two", with({{"ping_pong", 1}})},
       {"100 rows are no whole parts of 64", with({{"tile_m", 100}})},
       {"48 rows are no whole parts of 64", with({{"swap", 1}, {"tile_n", 48}})},
       {"192 sums of a thread", with({{"tile_m", 128}, {"tile_n", 192}})},
       {"positions are not one axis", with({{"flat", 1}, {"tile_h", 1}})},
       {"128 positions are more than the tile's 64", with({{"tile_b", 2}})},
       {"spans more than 256", with({{"tile_m", 256}, {"tile_w", 129}, {"tile_h", 1}})},
       {"spans more than 256", with({{"tile_m", 256}, {"tile_w", 1}, {"tile_h", 129}})},
       {"in parts of 64, not 96", with({{"tile_n", 96}})},
       {"take turns sum all of k",
        with({{"split", 2}, {"tile_n", 128}, {"consumers", 2}, {"ping_pong", 1}})},
       {"blocks that are no whole clusters", with({{"split", 3}})},
       {"vector as a power of two", with({{"vector", 3}})},
       {"the tile: it needs", with({{"stages", 16}})}});
  Problem along_k = p;
  along_k.inputs[1].strides = {9 * 64, 1, 3 * 64, 64};
  ExpectParametersRefused(
      key, along_k,
      {{"a box of 512 weights is above 256",
        with({{"tile_m", 8}, {"tile_n", 512}, {"tile_h", 1}, {"swap", 1}})},
       {"no whole swizzle patterns", with({{"tile_n", 16}, {"tile_k", 16}, {"held_b", 288}})}});
  const Problem flat = HalfConv({2, 64, 8, 8}, 128, 1, 1, 0);
  EXPECT_EQ(Refused(key, flat, with({{"flat", 1}, {"tile_w", 64}, {"tile_h", 1}})), "");
  ExpectParametersRefused(key, flat,
                          {{"runs along one axis", with({{"flat", 1}})},
                           {"2 blocks share 1 steps", with({{"split", 2}})}});
}

TEST(CudaRefusals, OfTheHopperConvolutionsOperands) {
  const char* key = "cuda.conv.hopper";
  const Problem good = HalfConv({2, 64, 16, 16}, 128, 3, 2, 1);
  EXPECT_EQ(Unsupported(key, good), "");
  const auto changed = [&](const std::function<void(Problem&)>& change) {
    Problem p = good;
    change(p);
    return p;
  };
  const auto attrs = [](Problem& p) -> ConvAttrs& { return std::get<ConvAttrs>(p.attrs); };
  ExpectUnsupported(key, changed([](Problem& p) { p.math = MathMode::kBf16; }),
                    "f16 in fp16, f32 in tf32");
  ExpectUnsupported(key, HalfConv({2, 64, 160, 160}, 128, 1, 9, 0), "strides above 8");
  ExpectUnsupported(key, HalfConv({0, 64, 16, 16}, 128, 3, 2, 1), "the product is empty");
  ExpectUnsupported(key, changed([](Problem& p) { p.inputs[0].offset = 4; }),
                    "the input begins at element 4, no multiple of 8");
  ExpectUnsupported(key, changed([](Problem& p) { p.inputs[0].strides[3] = 68; }),
                    "the input has a stride of 68 elements");
  ExpectUnsupported(key, changed([](Problem& p) { p.inputs[0].strides[1] = 2; }),
                    "the input's channels are not contiguous");
  ExpectUnsupported(
      key, changed([](Problem& p) { p.inputs[1] = DenseView(DType::kF16, p.inputs[1].shape); }),
      "the weights' channels are not contiguous");
  ExpectUnsupported(key, changed([](Problem& p) { p.inputs[1].offset = 1; }),
                    "the weights' view begins at element 1");
  ExpectUnsupported(
      key, changed([](Problem& p) { p.outputs[0] = DenseView(DType::kF16, p.outputs[0].shape); }),
      "the output's positions are innermost");
  ExpectUnsupported(key, changed([](Problem& p) {
                      for (View* v : {&p.inputs[0], &p.inputs[1], &p.outputs[0]}) {
                        v->dtype = DType::kF32;
                      }
                      p.math = MathMode::kTf32;
                    }),
                    "f32 weights are not contiguous along k");
  ExpectUnsupported(key, changed([&](Problem& p) {
                      attrs(p).group = 2;
                      p.inputs[1].shape[1] = 32;
                    }),
                    "grouped");
  ExpectUnsupported(key, HalfConv({1, 8, 1, int64_t{1} << 28}, 8, 1, 2, 0),
                    "an operand is too long");
  const int64_t far = int64_t{1} << 28;
  ExpectUnsupported(key, changed([&](Problem& p) {
                      attrs(p).pads_begin[1] = attrs(p).pads_end[1] = far;
                      attrs(p).strides[1] = 8;
                      p.outputs[0].shape[3] = (16 + 2 * far - 3) / 8 + 1;
                      p.outputs[0].strides[2] = p.outputs[0].shape[3] * 128;
                      p.outputs[0].strides[0] = p.outputs[0].strides[2] * 8;
                    }),
                    "the window reaches too far");
  ExpectUnsupported(key, changed([&](Problem& p) {
                      attrs(p).pads_end[1] = far;
                      p.outputs[0].shape[3] = (16 + far + 1 - 3) / 2 + 1;
                      p.outputs[0].strides[2] = p.outputs[0].shape[3] * 128;
                      p.outputs[0].strides[0] = p.outputs[0].strides[2] * 8;
                    }),
                    "the window reaches too far");
  Problem dilated = HalfConv({2, 64, 16, 16}, 128, 1, 2, 0);
  attrs(dilated).dilations = {1, far};
  ExpectUnsupported(key, dilated, "the window reaches too far");
  ExpectUnsupported(key, HalfConv({2, 0, 16, 16}, 128, 3, 2, 1), "the product is empty");
  ExpectUnsupported(key, HalfConv({1, 8, 4096, 65536}, 8, 1, 1, 0), "too many elements");
  ConvAttrs a;
  a.strides = a.dilations = {1, 1, 1};
  a.pads_begin = a.pads_end = {0, 0, 0};
  a.group = 1;
  const auto f16 = [](const Dims& s) { return DenseView(DType::kF16, s); };
  Problem p = ProblemOf(Family::kConv, a, 2, {f16({1, 8, 4, 4, 4}), f16({8, 8, 1, 1, 1})},
                        {f16({1, 8, 4, 4, 4})});
  p.math = MathMode::kFp16;
  ExpectUnsupported(key, p, "one or two spatial axes");
  a.strides = a.dilations = {1};
  a.pads_begin = a.pads_end = {0};
  a.transposed = true;
  p = ProblemOf(Family::kConv, a, 2, {f16({1, 8, 4}), f16({8, 8, 1})}, {f16({1, 8, 4})});
  p.math = MathMode::kFp16;
  ExpectUnsupported(key, p, "transposed");
}

// One axis: a tile is a line, whose box has no second spatial axis.
TEST(CudaRefusals, OfTheHopperConvolutionAlongOneAxis) {
  ConvAttrs a;
  a.strides = a.dilations = {1};
  a.pads_begin = a.pads_end = {1};
  a.group = 1;
  const auto last = [](int64_t c) { return View{DType::kF16, {2, c, 100}, {c * 100, 1, c}, 0}; };
  Problem p = ProblemOf(Family::kConv, a, 2,
                        {last(64), {DType::kF16, {64, 64, 3}, {1, 64, 64 * 64}, 0}}, {last(64)});
  p.math = MathMode::kFp16;
  ExpectParametersRefused("cuda.conv.hopper", p,
                          {{"there is no second spatial axis", {{"tile_h", 2}, {"tile_w", 1}}}});
}

}  // namespace
}  // namespace aicf
