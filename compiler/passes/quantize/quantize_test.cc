// Ranges, codes and weights against their definitions; samples that do not fit; what a calibration
// records and decides.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/ir/text.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/quantize/calibrate.h"
#include "compiler/passes/quantize/equalize.h"
#include "compiler/passes/quantize/never_negative.h"
#include "compiler/passes/quantize/observer.h"
#include "compiler/passes/quantize/output_error.h"
#include "compiler/passes/quantize/products.h"
#include "compiler/passes/quantize/step_runner.h"
#include "compiler/passes/storage/narrow_tensor.h"

namespace aicf::quantize {
namespace {

ir::Lowered Parsed(const std::string& text) {
  Result<ir::Lowered> lowered = ir::ParseLowered(text);
  EXPECT_TRUE(lowered.ok()) << lowered.status().ToString();
  return lowered.ok() ? *std::move(lowered) : ir::Lowered();
}

ir::Tensor F32(const Dims& shape, const std::vector<float>& values) {
  return ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(values));
}

TEST(Observer, MinMaxIsTheLargestMagnitude) {
  Observer observer;
  observer.Add(std::vector<float>{0.5f, -3, 0, 1});
  observer.Add(std::vector<float>{2, 0});
  EXPECT_EQ(observer.low(), -3);
  EXPECT_EQ(observer.high(), 2);
  EXPECT_EQ(observer.count(), 6);
  EXPECT_EQ(observer.Limit(RangeMethod::kMinMax, 128), 3);
}

// 20,000 elements spread evenly over [0, 1), and two far away: one of 10,000 may lie beyond.
TEST(Observer, PercentileLeavesOutOneInTenThousand) {
  std::vector<float> even(20000);
  for (size_t i = 0; i < even.size(); ++i) even[i] = static_cast<float>(i) / 20000;
  Observer observer;
  observer.Add(even);
  observer.Add(std::vector<float>{1000, -900});
  EXPECT_EQ(observer.Limit(RangeMethod::kMinMax, 128), 1000);
  const double limit = observer.Limit(RangeMethod::kPercentile, 128);
  EXPECT_GE(limit, 0.9999);
  EXPECT_LE(limit, 1 + 1024.0 / 2048) << "a bin is as wide as the farthest element makes it";
  observer.Add(std::vector<float>{-800});
  EXPECT_GE(observer.Limit(RangeMethod::kPercentile, 128), 800) << "three are more than that";
}

// Of magnitudes that are all equally frequent, every code is needed; of a normal distribution with
// an outlier far away, codes for the emptiness in between say nothing.
TEST(Observer, EntropyKeepsWhatIsFrequent) {
  std::vector<float> even(4096);
  for (size_t i = 0; i < even.size(); ++i) even[i] = static_cast<float>(i + 1) / 4096;
  Observer uniform;
  uniform.Add(even);
  EXPECT_GE(uniform.Limit(RangeMethod::kEntropy, 128), 0.98);

  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> bell(100000);
  for (float& v : bell) v = normal(random);
  Observer outlier;
  outlier.Add(bell);
  outlier.Add(std::vector<float>{200});
  const double limit = outlier.Limit(RangeMethod::kEntropy, 128);
  EXPECT_GE(limit, 3);
  EXPECT_LE(limit, 50);
}

// The order in which ranges grow does not matter: bins of two widths are never mixed.
TEST(Observer, WhatComesFirstDoesNotMatter) {
  std::mt19937 random(2);
  std::lognormal_distribution<float> spread(0, 3);
  std::vector<float> values(5000);
  for (float& v : values) v = spread(random);
  Observer one, other;
  one.Add(values);
  std::sort(values.begin(), values.end());
  for (const float v : values) other.Add(std::span(&v, 1));
  for (const RangeMethod m :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy}) {
    EXPECT_EQ(one.Limit(m, 128), other.Limit(m, 128)) << RangeMethodName(m);
  }
}

TEST(Observer, NothingButZerosAndWhatIsNoNumber) {
  Observer zeros;
  zeros.Add(std::vector<float>{0, -0.0f, 0});
  EXPECT_EQ(zeros.Limit(RangeMethod::kEntropy, 256), 0);
  EXPECT_TRUE(zeros.finite());
  Observer bad;
  bad.Add(std::vector<float>{1, std::nanf(""), 2});
  EXPECT_FALSE(bad.finite());
  EXPECT_EQ(bad.Limit(RangeMethod::kMinMax, 128), 2);
  EXPECT_EQ(bad.count(), 2);
}

CalibratedValue Between(double low, double high) {
  CalibratedValue value;
  value.low = low;
  value.high = high;
  value.limits.fill(std::max(-low, high));
  return value;
}

TEST(Code, FollowsFromTheRange) {
  const auto code = [](double low, double high, const CodeRules& rules) {
    return CodeOf(Between(low, high), RangeMethod::kMinMax, rules);
  };
  const ValueCode two_sided = code(-2, 1, {DType::kI8, false, false});
  EXPECT_EQ(two_sided.dtype, DType::kI8);
  EXPECT_FLOAT_EQ(two_sided.scale, 2.0f / 127);
  const ValueCode positive = code(0, 2, {DType::kI8, true, false});
  EXPECT_EQ(positive.dtype, DType::kU8);
  EXPECT_FLOAT_EQ(positive.scale, 2.0f / 255);
  const ValueCode shifted = code(-0.5, 4.6, {DType::kI8, false, true});
  EXPECT_EQ(shifted.dtype, DType::kU8);
  EXPECT_FLOAT_EQ(shifted.scale, 5.1f / 255);
  EXPECT_EQ(shifted.zero, 25);
  EXPECT_EQ(code(-4, 4.6, {DType::kI8, false, true}).dtype, DType::kI8) << "nothing to gain";
  EXPECT_EQ(code(-0.5, 4.6, {DType::kI8, false, false}).dtype, DType::kI8) << "padding";
  const ValueCode zeros = code(0, 0, {DType::kI8, false, true});
  EXPECT_EQ(zeros.scale, 1) << "a scale of zero would divide by it";
  const CodeRules float8 = {DType::kF8E4M3FN, false, true};
  EXPECT_EQ(code(-2, 1, float8).scale, 1) << "its own exponents reach far enough";
  EXPECT_EQ(code(-448, 0.25, float8).scale, 1);
  EXPECT_FLOAT_EQ(code(-0.2, 0.1, float8).scale, 0.2f / 448);
  EXPECT_FLOAT_EQ(code(-2, 1000, float8).scale, 1000.0f / 448);
  // So small that its reciprocal is infinite.
  EXPECT_EQ(code(0, 1e-44, {DType::kI8, true, false}).scale, 1);
}

TEST(Code, RoundsAndSaturates) {
  const std::vector<float> from = {0, 0.26f, -0.26f, 1000, -1000, 0.25f};
  std::vector<float> to(from.size());
  RoundToCodes({DType::kI8, 0.5f, 0}, from, to);
  EXPECT_EQ(to, (std::vector<float>{0, 0.5f, -0.5f, 63.5f, -64, 0}))
      << "a tie goes to the even one";
  RoundToCodes({DType::kU8, 0.5f, 10}, from, to);
  EXPECT_EQ(to, (std::vector<float>{0, 0.5f, -0.5f, 122.5f, -5, 0}));
  RoundToCodes({DType::kF8E4M3FN, 1, 0}, std::vector<float>{17, 1000, -0.3f}, to);
  EXPECT_EQ(std::vector<float>(to.begin(), to.begin() + 3),
            (std::vector<float>{16, 448, -0.3125f}));
}

TEST(Equalize, DepthwiseChannelsGetOneRange) {
  const std::vector<uint8_t> exponents = ChannelExponents({8, 2, 0, 1e-9}, {});
  EXPECT_EQ(exponents, (std::vector<uint8_t>{0, 8, 0, kMostExponent}));
  EXPECT_EQ(ChannelFactor(8), 0.25f);
  // With weights half of the difference is theirs.
  EXPECT_EQ(ChannelExponents({8, 2}, {1, 1}), (std::vector<uint8_t>{0, 4}));
  EXPECT_EQ(ChannelExponents({0, 0}, {1, 1}), (std::vector<uint8_t>{0, 0}));
  std::vector<double> largest(2, 0);
  AddLargest({3, 2}, std::vector<float>{1, -2, 1, 5, 6, -7, 0, 9, 0, 0, 0, 1}, largest);
  EXPECT_EQ(largest, (std::vector<double>{9, 7}));
}

// Two channels; the second one's elements are as large as `even` in every other sample, and as
// large as `odd` in the samples between them.
ChannelObserver Observed(int samples, float even, float odd) {
  ChannelObserver observer({1, 2});
  for (int i = 0; i < samples; ++i) {
    observer.Add(static_cast<size_t>(i), std::vector<float>{8, i % 2 == 0 ? even : odd});
  }
  return observer;
}

TEST(Equalize, FewElementsTellRangesWhereHalvesOfTheSamplesAgree) {
  const std::vector<double> weights = {1, 1};
  EXPECT_EQ(Observed(32, 0.5f, 1).count(), 32);
  EXPECT_EQ(Observed(32, 0.5f, 1).Largest(), (std::vector<double>{8, 1}));
  EXPECT_TRUE(Observed(32, 0.5f, 0.6f).TellsRanges({}));
  EXPECT_FALSE(Observed(32, 0.5f, 1).TellsRanges({})) << "one half is far out of the other's range";
  EXPECT_FALSE(Observed(32, 1, 0.5f).TellsRanges({}));
  // Weights take half of the difference, so that elements have more room above their range.
  EXPECT_TRUE(Observed(32, 0.5f, 1).TellsRanges(weights));
  EXPECT_FALSE(Observed(32, 0.01f, 4).TellsRanges(weights));
  EXPECT_TRUE(Observed(1023, 0.5f, 0.6f).TellsRanges({}));
  EXPECT_FALSE(Observed(1023, 0.01f, 8).TellsRanges({}));
  EXPECT_TRUE(Observed(1024, 0.01f, 8).TellsRanges({})) << "many";
  EXPECT_FALSE(Observed(1, 0.5f, 0).TellsRanges({})) << "there is no other half";
}

TEST(Equalize, SamplesThatAreLouderAsAWholeTellRanges) {
  ChannelObserver observer({1, 2});
  observer.Add(0, std::vector<float>{1, 0.125f});
  observer.Add(1, std::vector<float>{-8, 1});
  EXPECT_TRUE(observer.TellsRanges({}));
  observer.Add(3, std::vector<float>{8, 8});
  EXPECT_FALSE(observer.TellsRanges({}));
}

abi::Problem Conv(int64_t group, bool transposed) {
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.attrs = abi::ConvAttrs{{1}, {1}, {0}, {0}, group, transposed};
  p.core_inputs = 2;
  return p;
}

TEST(Weights, HaveAScaleForEveryOutputChannel) {
  abi::Problem p = Conv(1, false);
  p.inputs = {abi::DenseView(DType::kF32, {1, 2, 3}), abi::DenseView(DType::kF32, {2, 2, 1})};
  p.outputs = {abi::DenseView(DType::kF32, {1, 2, 3})};
  const ir::Tensor w = F32({2, 2, 1}, {1, -0.375f, 0, 0});
  const QuantizedWeights q = QuantizeWeights(p, w, DType::kI8, {});
  EXPECT_TRUE(q.per_channel);
  ASSERT_EQ(q.scales.size(), 2u);
  EXPECT_FLOAT_EQ(q.scales[0], 1.0f / 127);
  EXPECT_EQ(q.scales[1], 1) << "a channel of zeros";
  EXPECT_EQ(q.codes.IntAt(0), 127);
  EXPECT_EQ(q.codes.IntAt(1), -48) << "47.625";
  EXPECT_EQ(q.sums, (std::vector<int32_t>{79, 0}));
  EXPECT_EQ(LargestByInput(p, w), (std::vector<double>{1, 0.375}));
  // Factors come first: the second input channel is worth twice as much.
  const QuantizedWeights f = QuantizeWeights(p, w, DType::kI8, {1, 2});
  EXPECT_EQ(f.codes.IntAt(1), -95) << "95.25";
}

TEST(Weights, OfTransposedAndGroupedConvolutions) {
  // Two groups of one input channel and two outputs each.
  abi::Problem p = Conv(2, true);
  p.inputs = {abi::DenseView(DType::kF32, {1, 2, 3}), abi::DenseView(DType::kF32, {2, 2, 1})};
  p.outputs = {abi::DenseView(DType::kF32, {1, 4, 3})};
  const QuantizedWeights q =
      QuantizeWeights(p, F32({2, 2, 1}, {1.27f, 2.54f, 5.08f, 10.16f}), DType::kI8, {});
  ASSERT_EQ(q.scales.size(), 4u);
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_FLOAT_EQ(q.scales[c], 0.01f * std::exp2(static_cast<float>(c)));
  }
}

TEST(Weights, ElementsOfSeveralChannelsHaveOneScale) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF32, {1, 2}),
              {DType::kF32, {2, 2}, {1, 1}, 0}};  // B[k, n] = w[k + n]
  p.outputs = {abi::DenseView(DType::kF32, {1, 2})};
  EXPECT_FALSE(HasOwnChannels(p));
  const QuantizedWeights q = QuantizeWeights(p, F32({3}, {1, 2, 4}), DType::kI8, {});
  EXPECT_FALSE(q.per_channel);
  EXPECT_EQ(q.scales[0], q.scales[1]);
  EXPECT_EQ(q.codes.IntAt(2), 127);
}

// x -> product -> ReLU -> product, and the sum of both as an output.
constexpr char kChain[] = R"(
lowered "g"
%0 = input "x" f32 2x3
%1 = constant "w" f32 3x2 [1, 2, 3, -4, 5, 6]
%2 = constant "v" f32 2x2 [1, 0.5, -0.25, 3]
%3 = temp "h" f32 2x2
%4 = temp "r" f32 2x2
%5 = output "y" f32 2x2
inputs %0
outputs %5
step ["first"] (%0, %1) -> (%3) :
  gemm math=fp32 core=2
  in(f32 2x3 [3, 1]+0, f32 3x2 [2, 1]+0)
  out(f32 2x2 [2, 1]+0)
  pro id
  epi id
step ["relu"] (%3) -> (%4) :
  elementwise math=fp32 core=1
  in(f32 2x2 [2, 1]+0)
  out(f32 2x2 [2, 1]+0)
  pro id
  epi (%0 = in 0 : f32; %1 = const 0 : f32; %2 = max %0 %1 : f32) -> %2
step ["second"] (%4, %2) -> (%5) :
  gemm math=fp32 core=2
  in(f32 2x2 [2, 1]+0, f32 2x2 [2, 1]+0)
  out(f32 2x2 [2, 1]+0)
  pro id
  epi id
)";

TEST(NeverNegative, IsWhatTheLastOperatorsSay) {
  const std::vector<bool> known = NeverNegative(Parsed(kChain));
  EXPECT_FALSE(known[0]);
  EXPECT_FALSE(known[3]);
  EXPECT_TRUE(known[4]);
  EXPECT_FALSE(known[5]);
}

TEST(Products, SayWhatCannotBeQuantised) {
  std::string text = kChain;
  EXPECT_EQ(Products(Parsed(text)).steps, (std::vector<int>{0, 2}));
  text.replace(text.find("[1, 0.5, -0.25, 3]"), 18, "[1, 0.5, -0.25, inf]");
  const Products infinite(Parsed(text));
  EXPECT_EQ(infinite.steps, (std::vector<int>{0}));
  EXPECT_NE(infinite.refusals[2].find("range: not all of its weights"), std::string::npos);
  text.replace(text.find("(%4, %2) -> (%5)"), 16, "(%4, %3) -> (%5)");
  EXPECT_NE(Products(Parsed(text)).refusals[2].find("weights: both"), std::string::npos);
}

CalibrationSample Sample(const std::string& name, const std::string& input, ir::Tensor tensor) {
  CalibrationSample sample{name, {}};
  sample.tensors.emplace(input, std::move(tensor));
  return sample;
}

TEST(FitSample, CutsAndNamesWhatDoesNotFit) {
  const ir::Lowered lowered = Parsed(kChain);
  const std::vector<float> twelve(12, 1);
  const auto cut = FitSample(lowered, Sample("a.npy", "", F32({4, 3}, twelve)));
  ASSERT_TRUE(cut.ok()) << cut.status().ToString();
  EXPECT_EQ(cut->size(), 2u);
  EXPECT_EQ((*cut)[1].inputs[0].shape(), (Dims{2, 3}));
  const auto expect = [&](const CalibrationSample& sample, std::string_view what) {
    const auto fitted = FitSample(lowered, sample);
    ASSERT_FALSE(fitted.ok()) << what;
    EXPECT_EQ(fitted.status().code(), aicf::Code::kInvalidArgument);
    EXPECT_NE(fitted.status().message().find(what), std::string::npos)
        << fitted.status().ToString();
    EXPECT_NE(fitted.status().message().find(sample.name), std::string::npos);
  };
  expect(Sample("b.npy", "", F32({3, 4}, twelve)), "expected f32 2x3, found f32 3x4");
  expect(Sample("c.npy", "z", F32({2, 3}, {1, 2, 3, 4, 5, 6})), "'x' is missing");
  expect(Sample("d.npy", "x",
                ir::Tensor::FromValues<double>(DType::kF64, {2, 3}, std::vector<double>(6))),
         "found f64");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect(Sample("e.npy", "x", F32({2, 3}, {1, 2, 3, 4, nan, 6})), "'x': element 4 is nan");
  CalibrationSample more = Sample("f.npy", "x", F32({2, 3}, {1, 2, 3, 4, 5, 6}));
  more.tensors.emplace("w", F32({1}, {0}));
  expect(more, "has no input 'w'");
}

// One sample for every six elements.
std::vector<FittedSample> Fitted(const ir::Lowered& lowered, const std::vector<float>& x) {
  const auto rows = static_cast<int64_t>(x.size() / 3);
  const auto fitted = FitSample(lowered, Sample("s.npy", "x", F32({rows, 3}, x)));
  EXPECT_TRUE(fitted.ok()) << fitted.status().ToString();
  return fitted.ok() ? *fitted : std::vector<FittedSample>();
}

CalibratedEntry CalibratedOn(const ir::Lowered& lowered, const std::vector<FittedSample>& samples,
                             double max_error = 1e9) {
  abi::DeviceSpec any;
  any.name = "";
  CalibrationRequest request;
  request.max_error = max_error;
  const auto record = Calibrate(lowered, "", samples, request, any);
  EXPECT_TRUE(record.ok()) << record.status().ToString();
  return record.ok() ? *record : CalibratedEntry();
}

CalibratedEntry Calibrated(const ir::Lowered& lowered, const std::vector<float>& x,
                           double max_error = 1e9) {
  return CalibratedOn(lowered, Fitted(lowered, x), max_error);
}

TEST(Calibrate, RecordsRangesAndEffects) {
  const ir::Lowered lowered = Parsed(kChain);
  const CalibratedEntry record =
      Calibrated(lowered, {1, -2, 0.5f, 0.25f, 1, -1, 0.75f, -1, 0.5f, -1, 1.75f, 0.75f});
  EXPECT_TRUE(record.CheckFits(lowered).ok());
  ASSERT_EQ(record.values.size(), 2u);
  EXPECT_EQ(record.values[0].name, "x");
  EXPECT_EQ(record.values[0].channels.size(), 3u);
  EXPECT_EQ(record.values[0].few, 0);
  ASSERT_EQ(record.products.size(), 2u);
  for (const CalibratedProduct& p : record.products) {
    EXPECT_GT(p.effect, 0) << p.name;
    EXPECT_LT(p.effect, 0.02) << p.name;
    EXPECT_FALSE(p.wide);
  }
  EXPECT_GT(record.error, 0);
  EXPECT_LT(record.error, 0.03);
}

// Quantises the program by the record, and says what was decided.
DecisionLog Quantized(ir::Lowered& lowered, const CalibratedEntry& record) {
  const Calibration calibration{DType::kI8, RangeMethod::kMinMax, 1e9, {record}};
  DecisionLog log;
  PassContext context;
  context.device.name = "";
  context.decisions = &log;
  context.calibration = &calibration;
  const Status status = QuantizeProducts(lowered, context);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return log;
}

// kChain with every value in f16. Expressions still compute in f32.
std::string HalfChain() {
  std::string text = kChain;
  for (size_t at = 0; (at = text.find("f32", at)) != std::string::npos; at += 3) {
    if (text.compare(at - 2, 2, ": ") != 0) text.replace(at, 3, "f16");
  }
  return text;
}

// Values in 16 bits become codes as those in f32 do; what stays as it is stays in 16 bits.
TEST(Calibrate, TakesValuesIn16Bits) {
  ir::Lowered lowered = Parsed(HalfChain());
  ASSERT_EQ(Products(lowered).steps, (std::vector<int>{0, 2}));
  const ir::Tensor x = F32({2, 3}, {1, -2, 0.5f, 0.25f, 1, -1});
  const auto fitted = FitSample(lowered, Sample("s.npy", "x", storage::Narrowed(x, DType::kF16)));
  ASSERT_TRUE(fitted.ok()) << fitted.status().ToString();
  const CalibratedEntry record = CalibratedOn(lowered, *fitted);
  ASSERT_EQ(record.values.size(), 2u);
  EXPECT_EQ(record.values[0].high, 1);
  EXPECT_EQ(record.values[0].low, -2);
  EXPECT_GT(record.error, 0);
  EXPECT_LT(record.error, 0.03);

  const DecisionLog log = Quantized(lowered, record);
  int products = 0;
  for (const ir::LoweredStep& step : lowered.steps) {
    if (step.problem.family != abi::Family::kGemm) continue;
    ++products;
    EXPECT_EQ(DTypeBytes(step.problem.inputs[0].dtype), 1);
    EXPECT_EQ(step.problem.inputs[1].dtype, DType::kI8);
    EXPECT_EQ(step.problem.outputs[0].dtype, DType::kF16);
  }
  EXPECT_EQ(products, 2);
  for (const Decision& d : log.decisions()) {
    if (d.kind != DecisionKind::kOperands) continue;
    ASSERT_EQ(d.alternatives.size(), 1u);
    EXPECT_EQ(d.alternatives[0].choice, "f16");
  }
}

// What quantising the program by the record says of value `name`.
std::string StorageReason(ir::Lowered lowered, const CalibratedEntry& record,
                          const std::string& name) {
  const DecisionLog log = Quantized(lowered, record);
  for (const Decision& d : log.decisions()) {
    if (d.kind == DecisionKind::kStorage && d.subject.value == name) return d.sentence;
  }
  return "";
}

// Each channel of x shows two elements in a sample. The third one is small but in the second
// sample, as it may be in samples that are yet to come.
TEST(Calibrate, ChannelsOfWhichTooLittleIsKnownKeepTheirRanges) {
  const ir::Lowered lowered = Parsed(kChain);
  const std::vector<float> small = {1, -2, 0.001f, 0.25f, 1, 0.002f},
                           large = {1, 1, -2, 1, 0.5f, 1};
  std::vector<float> both = small;
  both.insert(both.end(), large.begin(), large.end());
  const CalibratedEntry record = Calibrated(lowered, both);
  EXPECT_TRUE(record.values[0].channels.empty());
  EXPECT_EQ(record.values[0].few, 4);
  EXPECT_EQ(StorageReason(lowered, record, "x"),
            "it lies between -2 and 1 on 2 samples; its channels are not brought to one range, "
            "because 4 elements of each do not tell where others lie");
  // By the small samples alone, the large one would saturate if channels had factors.
  const CalibratedEntry before = Calibrated(lowered, small);
  const ValueCode code =
      CodeOf(before.values[0], RangeMethod::kMinMax, Products(lowered).RulesOf(0, DType::kI8));
  std::vector<float> rounded(large.size());
  RoundToCodes(code, large, rounded);
  for (size_t i = 0; i < large.size(); ++i) {
    EXPECT_NEAR(rounded[i], large[i], code.scale) << "element " << i;
  }
}

TEST(Calibrate, GivesTheMostHarmfulBackUntilTheBudgetHolds) {
  const ir::Lowered lowered = Parsed(kChain);
  const std::vector<float> x = {1, -2, 0.5f, 0.25f, 1, -1};
  const CalibratedEntry all = Calibrated(lowered, x);
  const size_t worst = all.products[0].effect > all.products[1].effect ? 0 : 1;
  const CalibratedEntry some = Calibrated(lowered, x, all.error * 0.999);
  EXPECT_TRUE(some.products[worst].wide);
  EXPECT_LE(some.error, all.error * 0.999);
  EXPECT_EQ(some.products[1 - worst].wide, all.products[1 - worst].effect > all.error * 0.999);
  const CalibratedEntry none = Calibrated(lowered, x, 0);
  EXPECT_TRUE(none.products[0].wide && none.products[1].wide);
  EXPECT_EQ(none.error, 0);
}

// The whole is measured first; single effects are measured on several samples only where they
// decide.
TEST(Calibrate, EffectsAreOfOneSampleWhereNothingIsGivenBack) {
  const ir::Lowered lowered = Parsed(kChain);
  const std::vector<FittedSample> one = Fitted(lowered, {1, -2, 0.5f, 0.25f, 1, -1});
  std::vector<FittedSample> two = one;
  two.push_back(Fitted(lowered, {0.3f, 0.7f, -0.2f, 0.9f, 0.1f, 0.4f})[0]);
  abi::DeviceSpec any;
  any.name = "";
  const auto effect = [&](const std::vector<FittedSample>& samples, double max_error) {
    CalibrationRequest request;
    request.max_error = max_error;
    const auto record = Calibrate(lowered, "", samples, request, any);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    EXPECT_EQ(record->samples, 2);
    return record->products[1].effect;
  };
  const double first = effect(two, 1e9), both = effect(two, 1e-9);
  EXPECT_GT(first, 0);
  EXPECT_NE(first, both);
}

TEST(Calibrate, SaysTheSameOnAnyNumberOfThreads) {
  const ir::Lowered lowered = Parsed(kChain);
  const std::vector<FittedSample> sample = Fitted(lowered, {1, -2, 0.5f, 0.25f, 1, -1});
  std::vector<float> results;
  for (const int threads : {1, 3}) {
    Result<StepRunner> runner = StepRunner::Create(lowered, threads);
    ASSERT_TRUE(runner.ok()) << runner.status().ToString();
    runner->Load(sample[0].inputs);
    ASSERT_TRUE(runner->Run(0, nullptr).ok());
    const std::vector<float> y = runner->Floats(5);
    results.insert(results.end(), y.begin(), y.end());
  }
  ASSERT_EQ(results.size(), 8u);
  EXPECT_TRUE(std::equal(results.begin(), results.begin() + 4, results.begin() + 4));
}

// Steps of float8 are in proportion to what they round, so channels keep their ranges.
TEST(Calibrate, ChannelsAreBroughtToOneRangeForWholeNumbersAlone) {
  const ir::Lowered lowered = Parsed(kChain);
  abi::DeviceSpec any;
  any.name = "";
  CalibrationRequest request;
  request.precision = DType::kF8E4M3FN;
  request.max_error = 1e9;
  const auto record =
      Calibrate(lowered, "", Fitted(lowered, {1, -2, 0.5f, 0.25f, 1, -1}), request, any);
  ASSERT_TRUE(record.ok()) << record.status().ToString();
  for (const CalibratedValue& v : record->values) EXPECT_TRUE(v.channels.empty()) << v.name;
}

TEST(Calibrate, ZerosAndAnOutlier) {
  const ir::Lowered lowered = Parsed(kChain);
  const CalibratedEntry zeros = Calibrated(lowered, std::vector<float>(6, 0));
  EXPECT_EQ(zeros.error, 0);
  EXPECT_EQ(zeros.values[0].limit(RangeMethod::kMinMax), 0);
  const CalibratedEntry outlier = Calibrated(lowered, {1, -2, 0.5f, 1e30f, 1, -1});
  EXPECT_TRUE(std::isfinite(outlier.error));
  const CalibratedEntry infinite = Calibrated(lowered, {3e38f, 3e38f, 3e38f, 1, 1, 1});
  EXPECT_EQ(infinite.values[1].infinite, "s.npy") << "the first product overflows";
}

TEST(Calibrate, ARecordOfAnotherProgramIsRefused) {
  const ir::Lowered lowered = Parsed(kChain);
  CalibratedEntry record = Calibrated(lowered, {1, -2, 0.5f, 0.25f, 1, -1});
  CalibratedEntry other = record;
  other.values[0].name = "z";
  EXPECT_EQ(other.CheckFits(lowered).code(), aicf::Code::kBadArtifact);
  other = record;
  other.products[1].step = 7;
  EXPECT_EQ(other.CheckFits(lowered).code(), aicf::Code::kBadArtifact);
  other = record;
  other.values[0].channels = {0, 255, 0};
  EXPECT_EQ(other.CheckFits(lowered).code(), aicf::Code::kBadArtifact);
}

TEST(OutputError, OfFloatsAndOfOthers) {
  OutputError error;
  error.Add({F32({2}, {3, 4})}, {F32({2}, {3, 4.5f})});
  EXPECT_NEAR(error.Relative(), 0.1, 1e-12);
  OutputError whole;
  const auto ints = [](const std::vector<int64_t>& v) {
    return ir::Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(v.size())},
                                           std::span<const int64_t>(v));
  };
  whole.Add({ints({1, 2, 3, 4})}, {ints({1, 2, 3, 5})});
  EXPECT_EQ(whole.Relative(), 0.25);
  OutputError nothing;
  nothing.Add({F32({1}, {0})}, {F32({1}, {0})});
  EXPECT_EQ(nothing.Relative(), 0);
}

}  // namespace
}  // namespace aicf::quantize
