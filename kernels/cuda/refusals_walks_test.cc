// Rules of the CUDA kernels that walk over results in strides, each broken once: threads, blocks,
// vectors and how many of them a thread has under way.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

const std::vector<ParameterFault>& PointFaults() {
  static const std::vector<ParameterFault> faults = {
      {"threads in multiples of 32, here is 100", {{"threads", 100}}},
      {"elements at once", {{"blocks", kMany}}}};
  return faults;
}

TEST(CudaRefusals, OfSingleResultsPerThread) {
  const Problem sample =
      ProblemOf(Family::kSample, SampleAttrs{ResizeMode::kLinear, SamplePadding::kZeros, false}, 2,
                {F32({2, 3, 4, 5}), F32({2, 6, 7, 2})}, {F32({2, 3, 6, 7})});
  ExpectParametersRefused("cuda.sample.taps", sample, PointFaults());
  const Problem roi = ProblemOf(Family::kRoi, RoiAttrs{RoiKind::kAlignAverage, 1, 0, true}, 3,
                                {F32({1, 2, 8, 8}), F32({3, 4}), I64({3})}, {F32({3, 2, 2, 2})});
  ExpectParametersRefused("cuda.roi.bins", roi, PointFaults());
}

TEST(CudaRefusals, OfVectorsPerThread) {
  const ParameterFault odd = {"vector as a power of two, here is 3", {{"vector", 3}}};
  const Problem pool =
      ProblemOf(Family::kPool, PoolAttrs{PoolKind::kMax, {2}, {2}, {1}, {0}, {0}, false, 2}, 1,
                {F32({1, 3, 8})}, {F32({1, 3, 4})});
  ExpectParametersRefused("cuda.pool.window", pool, PointFaults());
  ExpectParametersRefused("cuda.pool.window", pool, {odd});
  ResizeAttrs doubled;
  doubled.scales = {1, 2};
  const Problem resize = ProblemOf(Family::kResize, doubled, 1, {F32({2, 3})}, {F32({2, 6})});
  ExpectParametersRefused("cuda.resize.taps", resize, PointFaults());
  ExpectParametersRefused("cuda.resize.taps", resize, {odd});
}

TEST(CudaRefusals, OfVectorsUnderWay) {
  Problem map =
      ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 1, {F32({4096})}, {F32({4096})});
  map.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
  const int64_t most = int64_t{1} << 28;  // elements of one stride of the grid
  ExpectParametersRefused(
      "cuda.elementwise.map", map,
      {{"unroll as a power of two, here is 3", {{"unroll", 3}}},
       {"elements at once",
        {{"vector", 1}, {"threads", 32}, {"blocks", most / 32}, {"unroll", 2}}}});
  const Problem fill =
      ProblemOf(Family::kCopy, CopyAttrs{{Dims{0}}, true, 0}, 1, {F32({16})}, {F32({64})});
  ExpectParametersRefused(
      "cuda.copy.fill", fill,
      {{"power of two up to 4, here is 3", {{"vector", 3}}},
       {"elements at once", {{"vector", 4}, {"threads", 32}, {"blocks", most / 32}}}});
  const Problem pieces =
      ProblemOf(Family::kCopy, CopyAttrs{{Dims{0}}, false, 0}, 1, {F32({64})}, {F32({64})});
  ExpectParametersRefused("cuda.copy.pieces", pieces,
                          {{"unroll as a power of two, here is 3", {{"unroll", 3}}}});
}

TEST(CudaRefusals, OfRowsInClusters) {
  const Problem softmax =
      ProblemOf(Family::kNormalize, NormalizeAttrs{NormalizeKind::kSoftmax, {1}, 0}, 1,
                {F32({64, 96})}, {F32({64, 96})});
  ExpectParametersRefused(
      "cuda.normalize.rows", softmax,
      {{"a cluster works on one row at a time",
        {{"lanes", 32}, {"rows_per_block", 2}, {"cluster", 2}, {"blocks", 4}}},
       {"5 blocks are no whole clusters of 2",
        {{"lanes", 32}, {"rows_per_block", 1}, {"cluster", 2}, {"blocks", 5}}}});
}

TEST(CudaRefusals, OfColumnsInVectors) {
  const Problem sum = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {0}, false}, 1,
                                {F32({64, 96})}, {F32({1, 96})});
  const Edits base = {{"lanes", 8}, {"cluster", 1}, {"blocks", 1}, {"neighbours", 32}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  EXPECT_EQ(Refused("cuda.reduce.columns", sum, with({{"vector", 4}})), "");
  ExpectParametersRefused("cuda.reduce.columns", sum,
                          {{"vector as a power of two, here is 3", with({{"vector", 3}})},
                           {"takes up to 24 lanes with vectors of 4 and 32 neighbours, here are 32",
                            with({{"vector", 4}, {"lanes", 32}})}});
  const Problem few = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {0}, false}, 1,
                                {F32({64, 98})}, {F32({1, 98})});
  ExpectParametersRefused("cuda.reduce.columns", few,
                          {{"98 results are no whole vectors of 4", with({{"vector", 4}})}});
}

TEST(CudaRefusals, OfATurnedOperand) {
  const char* key = "cuda.elementwise.transpose";
  const auto turned = [](const View& in, const View& out) {
    Problem p = ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 1, {in}, {out});
    p.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
    return p;
  };
  const View across = {DType::kF32, {24, 40}, {1, 24}, 0};
  EXPECT_EQ(Refused(key, turned(across, F32({24, 40})), {}), "");
  ExpectParametersRefused(key, turned(across, F32({24, 40})),
                          {{"vector as a power of two, here is 3", {{"vector", 3}}},
                           {"whole vectors of 16 results, here are 40", {{"vector", 16}}},
                           {"elements at once", {{"blocks", kMany}}}});
  ExpectUnsupported(key, turned(F32({24, 40}), F32({24, 40})), "along the same axis");
  const View every_other = {DType::kF32, {24, 40}, {80, 2}, 0};
  const View column = {DType::kF32, {24, 40}, {1, 0}, 0};
  for (const Problem& p : {turned(every_other, F32({24, 40})), turned(column, F32({24, 40})),
                           turned(across, every_other)}) {
    ExpectUnsupported(key, p, "needs an axis of stride 1");
  }
  Problem ones = turned(across, F32({24, 40}));
  ones.inputs.clear();
  ones.core_inputs = 0;
  ones.epilogue = *ParseExpr("(%0 = const 1 : f32) -> %0");
  ExpectUnsupported(key, ones, "no operand to turn");
  const View few = {DType::kF32, {24, 7}, {1, 24}, 0};
  ExpectUnsupported(key, turned(few, F32({24, 7})), "fewer than 8 elements");
  const View wide = {DType::kF32, {7, 24}, {1, 7}, 0};
  ExpectUnsupported(key, turned(wide, F32({7, 24})), "fewer than 8 elements");
}

Problem NormOf(const View& v, NormalizeKind kind, const Dims& axes) {
  return ProblemOf(Family::kNormalize, NormalizeAttrs{kind, axes, 0}, 1, {v}, {v});
}

TEST(CudaRefusals, OfLinesOfGroups) {
  const char* key = "cuda.normalize.lines";
  using enum NormalizeKind;
  // 96 groups of 64 positions, in runs of 10 channels.
  const Problem grouped = NormOf({DType::kF32, {96, 10, 64}, {10, 1, 960}, 0}, kLayerNorm, {1, 2});
  const auto walk = [](int64_t groups, int64_t lines, int64_t vector) {
    return Edits{{"groups", groups}, {"lines", lines}, {"vector", vector}, {"cluster", 1}};
  };
  EXPECT_EQ(Refused(key, grouped, walk(4, 32, 4)), "");
  ExpectParametersRefused(key, grouped,
                          {{"vector as a power of two, here is 5", walk(1, 32, 5)},
                           {"cluster as a power of two, here is 3", {{"cluster", 3}}},
                           {"parts of a line's 96 groups, not 5", walk(5, 32, 2)},
                           {"whole vectors of 4 elements, here are 10", walk(1, 32, 4)},
                           {"in multiples of 32 up to 1024, here are 165", walk(1, 33, 2)},
                           {"in multiples of 32 up to 1024, here are 1280", walk(4, 128, 4)}});
  for (NormalizeKind kind : {kSoftmax, kLogSoftmax}) {
    ExpectUnsupported(key, NormOf(grouped.inputs[0], kind, {1, 2}), "layer and RMS norms only");
  }
  const View none = {DType::kF32, {0, 10, 64}, {10, 1, 960}, 0};
  ExpectUnsupported(key, NormOf(none, kLayerNorm, {1, 2}), "nothing to normalise");
  ExpectUnsupported(key, NormOf(F32({96, 10, 64}), kRmsNorm, {1, 2}), "each is one run of memory");
  const int64_t batches = int64_t{1} << 31;
  const View many = {DType::kF16, {batches, 4, 8, 4}, {128, 8, 1, 32}, 0};
  const Parameters whole = {{"groups", 4}, {"lines", 32}, {"vector", 8}, {"cluster", 1}};
  const Problem blocks = NormOf(many, kLayerNorm, {2, 3});
  EXPECT_NE(FindKernel(key)->refuse(blocks, whole, Device()).find("more blocks"),
            std::string::npos);
}

}  // namespace
}  // namespace aicf
