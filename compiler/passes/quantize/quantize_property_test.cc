// Random products, quantised by the pass and executed: every element stays within what the scales
// of its operands allow, whatever the form of the product.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/ir/views.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/quantize/calibrate.h"
#include "compiler/passes/quantize/products.h"

namespace aicf::quantize {
namespace {

using Random = std::mt19937;

int64_t Below(Random& random, int64_t n) {
  return std::uniform_int_distribution<int64_t>(0, n - 1)(random);
}

// Channels of very different sizes, and now and then a value that is never negative, or all zeros.
ir::Tensor RandomTensor(Random& random, const Dims& shape, int channel_axis) {
  std::vector<float> values(static_cast<size_t>(*ElementCount(shape)));
  std::normal_distribution<float> normal;
  std::vector<float> sizes(static_cast<size_t>(shape[channel_axis]));
  for (float& s : sizes) s = std::exp(normal(random) * 2);
  const float shift = Below(random, 3) == 0 ? 2.0f : 0.0f, zero = Below(random, 8) == 0 ? 0 : 1;
  int64_t inner = 1;
  for (int d = channel_axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = i / static_cast<size_t>(inner) % sizes.size();
    values[i] = (normal(random) + shift) * sizes[channel] * zero;
  }
  return ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(values));
}

struct Case {
  ir::Lowered lowered;
  ir::Tensor x, w;
};

Case Make(abi::Problem p, ir::Tensor x, ir::Tensor w) {
  Case c{{}, std::move(x), std::move(w)};
  p.core_inputs = 2;
  const Dims out = p.outputs[0].shape;
  c.lowered.name = "g";
  c.lowered.buffers = {{"x", DType::kF32, c.x.shape(), schema::Role::kInput, {}},
                       {"w", DType::kF32, c.w.shape(), schema::Role::kConstant, c.w},
                       {"y", DType::kF32, out, schema::Role::kOutput, {}}};
  c.lowered.steps = {{{"product"}, std::move(p), {0, 1}, {2}}};
  c.lowered.inputs = {0};
  c.lowered.outputs = {2};
  return c;
}

Case RandomGemm(Random& random) {
  const int64_t batch = 1 + Below(random, 3), rows = 1 + Below(random, 5),
                depth = 1 + Below(random, 40), columns = 1 + Below(random, 9);
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  const bool own = Below(random, 2) == 0, transposed = Below(random, 2) == 0;
  Dims w = transposed ? Dims{columns, depth} : Dims{depth, columns};
  if (own) w.insert(0, batch);
  abi::View b = abi::DenseView(DType::kF32, w);
  if (transposed) b = ir::Permute(b, own ? Dims{0, 2, 1} : Dims{1, 0});
  p.inputs = {abi::DenseView(DType::kF32, {batch, rows, depth}),
              ir::BroadcastTo(b, {batch, depth, columns})};
  p.outputs = {abi::DenseView(DType::kF32, {batch, rows, columns})};
  return Make(std::move(p), RandomTensor(random, {batch, rows, depth}, 2),
              RandomTensor(random, w, w.rank() - 2));
}

Case RandomConv(Random& random) {
  const int64_t group = 1 + Below(random, 3), each = Below(random, 2) == 0 ? 1 : 2;
  const int64_t in = group * each, out = group * (1 + Below(random, 3));
  const int64_t taps = 1 + Below(random, 3), pad = Below(random, 2), stride = 1 + Below(random, 2);
  const int64_t extent = taps + Below(random, 6), batch = 1 + Below(random, 2);
  const bool transposed = Below(random, 4) == 0;
  abi::Problem p;
  p.family = abi::Family::kConv;
  const int64_t begin = transposed ? 0 : pad;
  p.attrs = abi::ConvAttrs{{stride}, {1}, {begin}, {begin}, group, transposed};
  const int64_t positions =
      transposed ? (extent - 1) * stride + taps : (extent + 2 * begin - taps) / stride + 1;
  const Dims w = transposed ? Dims{in, out / group, taps} : Dims{out, each, taps};
  p.inputs = {abi::DenseView(DType::kF32, {batch, in, extent}), abi::DenseView(DType::kF32, w)};
  p.outputs = {abi::DenseView(DType::kF32, {batch, out, positions})};
  return Make(std::move(p), RandomTensor(random, {batch, in, extent}, 1),
              RandomTensor(random, w, 0));
}

std::vector<double> Outputs(const ir::Lowered& lowered, const ir::Tensor& x) {
  const auto outputs = Interpret(lowered, {x});
  EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
  std::vector<double> values;
  for (int64_t i = 0; outputs.ok() && i < (*outputs)[0].count(); ++i) {
    values.push_back((*outputs)[0].FloatAt(i));
  }
  return values;
}

// The product of magnitudes and errors: what an element may be off.
std::vector<double> Product(const Case& c, const std::vector<float>& x,
                            const std::vector<float>& w) {
  ir::Lowered lowered = c.lowered;
  lowered.buffers[1].constant = ir::Tensor::FromValues<float>(DType::kF32, c.w.shape(), w);
  return Outputs(lowered, ir::Tensor::FromValues<float>(DType::kF32, c.x.shape(), x));
}

template <class F>
std::vector<float> Mapped(const ir::Tensor& t, const F& f) {
  std::vector<float> out;
  for (int64_t i = 0; i < t.count(); ++i) out.push_back(f(static_cast<size_t>(i), t.at<float>(i)));
  return out;
}

// Half a step for whole codes; a float8 has three bits behind the first, and steps near zero.
float Half(DType dtype, float value, float scale) {
  if (dtype != DType::kF8E4M3FN) return scale * 0.5001f;
  return std::max(std::fabs(value) / 15.9f, scale * std::exp2(-10.0f));
}

void ExpectBounded(const Case& c, DType precision, std::vector<FittedSample> samples) {
  ASSERT_TRUE(Verify(c.lowered).ok()) << Verify(c.lowered).ToString();
  abi::DeviceSpec any;
  any.name = "";
  CalibrationRequest request;
  request.precision = precision;
  request.max_error = 1e9;
  const auto record = Calibrate(c.lowered, "", std::move(samples), request, any);
  ASSERT_TRUE(record.ok()) << record.status().ToString();
  const Calibration calibration{precision, RangeMethod::kMinMax, 1e9, {*record}};
  DecisionLog log;
  PassContext context;
  context.device = any;
  context.decisions = &log;
  context.calibration = &calibration;
  ir::Lowered quantised = c.lowered;
  ASSERT_TRUE(QuantizeProducts(quantised, context).ok());
  ASSERT_TRUE(Verify(quantised).ok()) << Verify(quantised).ToString();
  ASSERT_EQ(quantised.steps.size(), 2u);

  const Products products(c.lowered);
  const ValueCode code =
      CodeOf(record->values[0], RangeMethod::kMinMax, products.RulesOf(0, precision));
  const abi::Problem& p = c.lowered.steps[0].problem;
  const QuantizedWeights q = QuantizeWeights(p, c.w, precision, code.factors);
  const ir::Tensor rounded = RoundedWeights(p, q);
  // Weights are off by what rounding shows, but for the factors, which values make up for.
  std::vector<float> x_error = Mapped(c.x, [&](size_t i, float v) {
    const float factor =
        code.factors.empty()
            ? 1
            : code.factors[i / static_cast<size_t>(code.channels.stride) % code.factors.size()];
    return Half(code.dtype, v, code.scale * factor);
  });
  const auto magnitude = [](size_t, float v) { return std::fabs(v); };
  const std::vector<float> x = Mapped(c.x, magnitude), w = Mapped(c.w, magnitude);
  ir::Lowered plain = c.lowered;
  // The exact weights, in the units that the rounded ones have.
  std::vector<float> unit = Mapped(c.w, [](size_t, float v) { return v; });
  std::vector<double> want = Outputs(plain, c.x), got = Outputs(quantised, c.x);
  std::vector<double> by_x = Product(c, x_error, w);
  // Rounded values times rounded weights, in floats: what the codes stand for.
  std::vector<float> value(x.size());
  const std::vector<float> exact = Mapped(c.x, [](size_t, float v) { return v; });
  RoundToCodes(code, exact, value);
  const std::vector<float> stood = Mapped(rounded, [](size_t, float v) { return v; });
  const std::vector<double> means = Product(c, value, stood);
  const std::vector<double> sizes =
      Product(c, Mapped(ir::Tensor::FromValues<float>(DType::kF32, c.x.shape(), value), magnitude),
              Mapped(rounded, magnitude));
  // Rounding only the values leaves the weights as they are.
  std::vector<float> unfactored = value;
  for (size_t i = 0; i < unfactored.size() && !code.factors.empty(); ++i) {
    unfactored[i] *=
        code.factors[i / static_cast<size_t>(code.channels.stride) % code.factors.size()];
  }
  const std::vector<double> values_alone = Product(c, unfactored, unit);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], means[i], 1e-5 * sizes[i] + 1e-30)
        << "element " << i << ": the integers are not what their codes stand for; "
        << ToString(quantised);
    ASSERT_LE(std::fabs(values_alone[i] - want[i]), by_x[i] * 1.001 + 1e-6 * (by_x[i] + sizes[i]))
        << "element " << i;
  }
}

TEST(QuantizeProperty, ProductsAreWhatTheirCodesStandFor) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Case c = i % 2 == 0 ? RandomGemm(random) : RandomConv(random);
    SCOPED_TRACE(StrCat("case ", i));
    // One sample tells too little of channels. Where another one is the same, they have factors.
    std::vector<FittedSample> samples(i % 3 == 0 ? 1 : 2, {"s", {c.x}});
    ExpectBounded(c, i % 5 == 4 ? DType::kF8E4M3FN : DType::kI8, std::move(samples));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace aicf::quantize
