// Every rule that a CPU kernel has about its problem, broken once.
#include <gtest/gtest.h>

#include "kernels/abi/kernel.h"
#include "kernels/abi/validate_faults.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

std::string Refused(std::string_view key, const Problem& p) {
  static const DeviceSpec device = *FindDevice("cpu:baseline");
  EXPECT_EQ(ValidateProblem(p).message(), "") << key;
  return FindKernel(key)->supports(p, device);
}

// The kernel takes the problem as it is, and with no edit of it.
void ExpectProblemsRefused(std::string_view key, const Problem& valid,
                           const std::vector<Fault>& faults) {
  EXPECT_EQ(Refused(key, valid), "") << key;
  for (const Fault& fault : faults) {
    Problem p = valid;
    fault.edit(p);
    const std::string found = Refused(key, p);
    EXPECT_NE(found.find(fault.sentence), std::string::npos)
        << key << ", expected: " << fault.sentence << "\nfound: " << found;
  }
}

// All operands of another dtype.
std::function<void(Problem&)> Of(DType dtype) {
  return [dtype](Problem& p) {
    for (View& v : p.inputs) v.dtype = dtype;
    for (View& v : p.outputs) v.dtype = dtype;
  };
}

Expr Copied() { return *ParseExpr("(%0 = in 0 : f32) -> %0"); }

TEST(CpuRefusals, OfOtherInstructionSets) {
  Problem p = ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 1, {F32({4})}, {F32({4})});
  p.epilogue = Copied();
  EXPECT_EQ(Refused("cpu.elementwise.baseline", p), "");
  EXPECT_NE(Refused("cpu.elementwise.avx2", p).find("needs AVX2"), std::string::npos);
  EXPECT_NE(Refused("cpu.elementwise.avx512", p).find("needs AVX-512"), std::string::npos);
}

TEST(CpuRefusals, OfCopies) {
  const Problem copy =
      ProblemOf(abi::Family::kCopy, abi::CopyAttrs{{Dims{0}}, true, 0}, 1, {F32({4})}, {F32({9})});
  ExpectProblemsRefused("cpu.copy.baseline", copy,
                        {{"moves elements as they are", [](Problem& p) {
                            p.epilogue = *abi::ParseExpr("(%0 = in 0 : f32) -> %0");
                          }}});
}

TEST(CpuRefusals, OfGathers) {
  using A = GatherAttrs;
  const Problem rows = ProblemOf(Family::kGather, A{0, GatherKind::kTake, 0}, 2,
                                 {F32({5, 3}), I64({4})}, {F32({4, 3})});
  ExpectProblemsRefused("cpu.gather.rows", rows,
                        {{"applies no epilogue", [](Problem& p) { p.epilogue = Copied(); }},
                         {"does not convert", Output(0, DenseView(DType::kF16, {4, 3}))},
                         {"the table's rows", Input(0, {DType::kF32, {5, 3}, {6, 2}, 0})},
                         {"the output's rows", Output(0, {DType::kF32, {4, 3}, {6, 2}, 0})}});
  const Problem elements = ProblemOf(Family::kGather, A{0, GatherKind::kElements, 0}, 2,
                                     {F32({5, 3}), I64({4, 3})}, {F32({4, 3})});
  EXPECT_EQ(Refused("cpu.gather.rows", elements), "moves no single elements");
  EXPECT_EQ(Refused("cpu.gather.elements_baseline", rows), "moves single elements");
  ExpectProblemsRefused("cpu.gather.elements_baseline", elements,
                        {{"i32 or i64", Input(1, DenseView(DType::kI8, {4, 3}))},
                         {"does not convert", Output(0, DenseView(DType::kF16, {4, 3}))}});
}

TEST(CpuRefusals, OfScatters) {
  using A = ScatterAttrs;
  const Problem elements =
      ProblemOf(Family::kScatter, A{ScatterKind::kElements, ScatterReduction::kAdd, 0}, 3,
                {F32({5, 3}), I64({4, 3}), F32({4, 3})}, {F32({5, 3})});
  const Problem rows =
      ProblemOf(Family::kScatter, A{ScatterKind::kPoints, ScatterReduction::kNone, 0}, 3,
                {F32({5, 3}), I64({4, 1}), F32({4, 3})}, {F32({5, 3})});
  const View loose = {DType::kF32, {5, 3}, {6, 2}, 0};
  ExpectProblemsRefused("cpu.scatter.elements", elements,
                        {{"i32 or i64", Input(1, DenseView(DType::kI8, {4, 3}))},
                         {"needs the output dense", Input(0, loose)},
                         {"needs the output dense", Output(0, loose)},
                         {"does not combine f16", [](Problem& p) {
                            p.inputs[0].dtype = p.inputs[2].dtype = p.outputs[0].dtype =
                                DType::kF16;
                          }}});
  ExpectProblemsRefused(
      "cpu.scatter.rows", rows,
      {{"needs the output dense", Input(0, loose)}, {"needs the output dense", Output(0, loose)}});
  EXPECT_NE(Refused("cpu.scatter.rows", elements).find("this kind of target"), std::string::npos);
  EXPECT_NE(Refused("cpu.scatter.elements", rows).find("this kind of target"), std::string::npos);
}

TEST(CpuRefusals, OfLines) {
  const View loose = {DType::kF32, {2, 3}, {6, 2}, 0};
  const Problem scan = ProblemOf(Family::kScan, ScanAttrs{ScanKind::kSum, 1, false, false}, 1,
                                 {F32({2, 3})}, {F32({2, 3})});
  ExpectProblemsRefused("cpu.scan.baseline", scan,
                        {{"does not add i8", Of(DType::kI8)},
                         {"x and output dense", Input(0, loose)},
                         {"x and output dense", Output(0, loose)}});
  const Problem topk =
      ProblemOf(Family::kTopK, TopKAttrs{1, 2, true}, 1, {F32({2, 3})}, {F32({2, 2}), I64({2, 2})});
  ExpectProblemsRefused("cpu.topk.heap", topk, {{"sorts f32 only, not f64", [](Problem& p) {
                                                   p.inputs[0].dtype = p.outputs[0].dtype =
                                                       DType::kF64;
                                                 }}});
  const Problem softmax =
      ProblemOf(Family::kNormalize, NormalizeAttrs{NormalizeKind::kSoftmax, {1}, 0}, 1,
                {F32({2, 3})}, {F32({2, 3})});
  ExpectProblemsRefused("cpu.normalize.baseline", softmax,
                        {{"f32 values only, not f64", Of(DType::kF64)}});
  const Problem sum = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {1}, false}, 1,
                                {F32({2, 3})}, {F32({2, 1})});
  ExpectProblemsRefused("cpu.reduce.baseline", sum,
                        {{"f32 values only, not f64", Of(DType::kF64)},
                         {"does not form products",
                          Edit<ReduceAttrs>([](ReduceAttrs& a) { a.kind = ReduceKind::kProd; })}});
}

TEST(CpuRefusals, OfPools) {
  using A = PoolAttrs;
  const Problem pool =
      ProblemOf(Family::kPool, A{PoolKind::kMax, {2}, {1}, {1}, {0}, {0}, false, 2}, 1,
                {F32({1, 3, 4000})}, {F32({1, 3, 3999})});
  const View loose = {DType::kF32, {1, 3, 4000}, {24000, 8000, 2}, 0};
  ExpectProblemsRefused("cpu.pool.baseline", pool,
                        {{"p-norms", Edit<A>([](A& a) { a.kind = PoolKind::kLp; })},
                         {"f32, f16 and bf16, and maxima of 8 bits, not f64", Of(DType::kF64)},
                         {"f32, f16 and bf16, and maxima of 8 bits, not f8e5m2",
                          [](Problem& p) { p.inputs[0].dtype = DType::kF8E5M2; }},
                         {"maxima of 8 bits, not u8",
                          [](Problem& p) {
                            std::get<A>(p.attrs).kind = PoolKind::kAverage;
                            p.inputs[0].dtype = p.outputs[0].dtype = DType::kU8;
                          }},
                         {"contiguous along its channels or its last axis", Input(0, loose)},
                         {"wider than 2048", [](Problem& p) {
                            std::get<A>(p.attrs).kernel = {2049};
                            p.outputs = {F32({1, 3, 1952})};
                          }}});
}

TEST(CpuRefusals, OfResamplings) {
  ResizeAttrs a;
  a.mode = ResizeMode::kLinear;
  a.scales = {1, 2};
  const Problem resize = ProblemOf(Family::kResize, a, 1, {F32({2, 3})}, {F32({2, 6})});
  const int64_t row = int64_t{1} << 24;
  ExpectProblemsRefused("cpu.resize.baseline", resize,
                        {{"f32, f16 and bf16 only, not f64", Of(DType::kF64)},
                         {"f32, f16 and bf16 only, not f8e5m2",
                          [](Problem& p) { p.inputs[0].dtype = DType::kF8E5M2; }},
                         {"x contiguous along the output's innermost axis",
                          Input(0, {DType::kF32, {2, 3}, {6, 2}, 0})},
                         {"needs rows of at most",
                          [&](Problem& p) {
                            p.inputs = {F32({2, row})};
                            p.outputs = {F32({2, 2 * row})};
                          }},
                         {"sums at most", [](Problem& p) {
                            ResizeAttrs cubic;
                            cubic.mode = ResizeMode::kCubic;
                            cubic.scales = {2, 2, 2, 2, 2, 2};
                            p.attrs = cubic;
                            p.inputs = {F32(Dims::Filled(6, 2))};
                            p.outputs = {F32(Dims::Filled(6, 4))};
                          }}});
  const Problem sample =
      ProblemOf(Family::kSample, SampleAttrs{ResizeMode::kLinear, SamplePadding::kZeros, false}, 2,
                {F32({2, 3, 4, 5}), F32({2, 6, 7, 2})}, {F32({2, 3, 6, 7})});
  ExpectProblemsRefused(
      "cpu.sample.baseline", sample,
      {{"samples f32 only, not f64", Of(DType::kF64)},
       {"samples f32 only, not f16", Input(1, DenseView(DType::kF16, {2, 6, 7, 2}))},
       {"needs an element to read", Input(0, F32({2, 3, 0, 5}))}});
  const Problem roi = ProblemOf(Family::kRoi, RoiAttrs{RoiKind::kAlignAverage, 1, 0, true}, 3,
                                {F32({1, 2, 8, 8}), F32({3, 4}), I64({3})}, {F32({3, 2, 2, 2})});
  ExpectProblemsRefused(
      "cpu.roi.baseline", roi,
      {{"averages only", Edit<RoiAttrs>([](RoiAttrs& r) { r.kind = RoiKind::kPoolMax; })},
       {"x of f32", [](Problem& p) { p.inputs[0].dtype = p.outputs[0].dtype = DType::kF16; }},
       {"x of f32", Input(1, DenseView(DType::kF64, {3, 4}))}});
}

TEST(CpuRefusals, OfAttentionAndRecurrentLayers) {
  const Problem attention =
      ProblemOf(Family::kAttention, AttentionAttrs{}, 3,
                {F32({1, 1, 4, 8}), F32({1, 1, 5, 8}), F32({1, 1, 5, 8})}, {F32({1, 1, 4, 8})});
  ExpectProblemsRefused(
      "cpu.attention.flash_baseline", attention,
      {{"computes f32, f16 and bf16 only", Of(DType::kF64)},
       {"stores f32, f16 and bf16 only", Output(0, DenseView(DType::kF8E4M3FN, {1, 1, 4, 8}))}});
  RecurrentAttrs a;
  a.cell = CellKind::kRnn;
  a.activations = {0};
  a.alpha = a.beta = {0};
  const Problem layer =
      ProblemOf(Family::kRecurrent, a, 3, {F32({5, 1, 2, 6}), F32({1, 6, 6}), F32({1, 2, 6})},
                {F32({5, 1, 2, 6}), F32({1, 2, 6})});
  for (const char* key : {"cpu.recurrent.packed_baseline", "cpu.recurrent.panels_baseline"}) {
    ExpectProblemsRefused(
        key, layer,
        {{"computes f32 only", Of(DType::kF64)},
         {"contiguous units", Input(0, {DType::kF32, {5, 1, 2, 6}, {24, 24, 12, 2}, 0})}});
  }
}

TEST(CpuRefusals, OfProducts) {
  const Problem gemm =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2, {F32({4, 8}), F32({8, 6})}, {F32({4, 6})});
  const auto flipped = [](size_t operand) {
    return [operand](Problem& p) {
      View& v = operand < 2 ? p.inputs[operand] : p.outputs[0];
      v.offset = (v.shape[0] - 1) * v.strides[0];
      v.strides[0] = -v.strides[0];
    };
  };
  // Operands that no expression reads are not counted by the expression's own limit.
  const auto operands = [](Problem& p) { p.inputs.resize(2 + 13, F32({4, 6})); };
  for (const char* key : {"cpu.gemm.packed_baseline", "cpu.gemm.blis"}) {
    ExpectProblemsRefused(key, gemm, {{"more than 12 epilogue operands", operands}});
  }
  for (const char* key : {"cpu.gemm.packed_baseline", "cpu.gemm.panels_baseline"}) {
    ExpectProblemsRefused(key, gemm, {{"f32, f16 and bf16 only", Of(DType::kF64)}});
  }
  const auto halves = [](Problem& p) {
    std::get<GemmAttrs>(p.attrs).halves = 2;
    p.inputs[1] = F32({8, 12});
    p.epilogue = *ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2");
  };
  for (const char* key :
       {"cpu.gemm.packed_baseline", "cpu.gemm.panels_baseline", "cpu.gemm.blis"}) {
    ExpectProblemsRefused(key, gemm, {{"takes no product in two halves", halves}});
  }
  const auto scaled = [](Problem& p) {
    std::get<GemmAttrs>(p.attrs).scale_terms = 4;
    p.core_inputs = 4;
    p.inputs = {F32({4, 8}), F32({8, 6}), F32({4, 2}), F32({2, 6})};
  };
  for (const char* key :
       {"cpu.gemm.packed_baseline", "cpu.gemm.panels_baseline", "cpu.gemm.blis"}) {
    ExpectProblemsRefused(key, gemm, {{"does not take scales of blocks", scaled}});
  }
  ExpectProblemsRefused("cpu.gemm.blis", gemm,
                        {{"computes f32 only", Of(DType::kF16)},
                         {"writes f32 only", Output(0, DenseView(DType::kF16, {4, 6}))},
                         {"zero or negative stride", flipped(0)},
                         {"zero or negative stride", flipped(1)},
                         {"zero or negative stride", flipped(2)}});
}

Problem Conv(const Dims& x, const Dims& w, const Dims& y, ConvAttrs attrs) {
  return ProblemOf(Family::kConv, attrs, 2, {F32(x), F32(w)}, {F32(y)});
}

TEST(CpuRefusals, OfConvolutions) {
  const ConvAttrs plain = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, false};
  const Problem window = Conv({1, 16, 9, 9}, {4, 16, 3, 3}, {1, 4, 9, 9}, plain);
  const Expr coordinates = *ParseExpr(
      "(%0 = in 0 : f32; %1 = index 1 : i64; %2 = cast %1 : f32; %3 = add %0 %2 : f32) -> %3");
  const char* igemm = "cpu.conv.igemm_baseline";
  const auto two_groups = [](Problem& p) {
    std::get<ConvAttrs>(p.attrs).group = 2;
    p.inputs[1] = F32({4, 8, 3, 3});
  };
  ExpectProblemsRefused(igemm, window,
                        {{"f32, f16 and bf16 only", Of(DType::kF64)},
                         {"uses coordinates",
                          [&](Problem& p) {
                            two_groups(p);
                            p.epilogue = coordinates;
                          }},
                         {"uses coordinates",
                          [&](Problem& p) {
                            p.inputs[1] = F32({16, 4, 3, 3});
                            std::get<ConvAttrs>(p.attrs).transposed = true;
                            p.epilogue = coordinates;
                          }},
                         {"phases",
                          [](Problem& p) {
                            p = Conv({1, 16, 4, 4}, {16, 4, 3, 3}, {1, 4, 30, 30},
                                     {{9, 9}, {1, 1}, {0, 0}, {0, 0}, 1, true});
                          }},
                         {"taps",
                          [](Problem& p) {
                            p = Conv({1, 16, 40, 40}, {4, 16, 33, 33}, {1, 4, 8, 8},
                                     {{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, false});
                          }},
                         {"channels", [](Problem& p) {
                            const int64_t many = int64_t{1} << 24;
                            p.inputs = {F32({1, many, 9, 9}), F32({4, many, 3, 3})};
                          }}});
  const char* winograd = "cpu.conv.winograd_baseline";
  ExpectProblemsRefused(winograd, window,
                        {{"f32, f16 and bf16 only", Of(DType::kF64)},
                         {"one group", two_groups},
                         {"one group",
                          [](Problem& p) {
                            p.inputs[1] = F32({16, 4, 3, 3});
                            std::get<ConvAttrs>(p.attrs).transposed = true;
                          }},
                         {"3 x 3 window",
                          [](Problem& p) {
                            p.inputs[1] = F32({4, 16, 3, 2});
                            p.outputs[0] = F32({1, 4, 9, 10});
                          }},
                         {"stride and dilation 1",
                          [](Problem& p) {
                            std::get<ConvAttrs>(p.attrs).strides = {1, 2};
                            p.outputs[0] = F32({1, 4, 9, 5});
                          }},
                         {"stride and dilation 1",
                          [](Problem& p) {
                            std::get<ConvAttrs>(p.attrs).dilations = {1, 2};
                            p.outputs[0] = F32({1, 4, 9, 7});
                          }},
                         {"two spatial axes",
                          [](Problem& p) {
                            p = Conv({1, 16, 1, 9, 9}, {4, 16, 1, 3, 3}, {1, 4, 1, 9, 9},
                                     {{1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}, 1, false});
                          }},
                         {"fewer than 16 channels", [](Problem& p) {
                            p.inputs = {F32({1, 8, 9, 9}), F32({4, 8, 3, 3})};
                          }}});
  ConvAttrs grouped = plain;
  grouped.group = 8;
  ExpectProblemsRefused("cpu.conv.depthwise_baseline",
                        Conv({1, 8, 9, 9}, {8, 1, 3, 3}, {1, 8, 9, 9}, grouped),
                        {{"f32, f16 and bf16 only", Of(DType::kF64)},
                         {"one filter and one channel per group", [&](Problem& p) { p = window; }},
                         {"taps", [](Problem& p) {
                            p.inputs[1] = F32({8, 1, 500, 500});
                            p.inputs[0] = F32({1, 8, 600, 600});
                            p.outputs[0] = F32({1, 8, 103, 103});
                          }}});
}

}  // namespace
}  // namespace aicf
