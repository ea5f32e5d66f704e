// Random problems of the excite family: any number of channels, hidden units and positions, biases
// and activations as models have them, every layout.
#include <cmath>

#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;

const std::vector<DType> kData = {DType::kF32, DType::kF16, DType::kBF16};

uint16_t Bounded(ExprBuilder& b, uint16_t v, double low, double high) {
  v = b.Binary(ExprOp::kMax, v, b.Const(low, DType::kF32));
  return b.Binary(ExprOp::kMin, v, b.Const(high, DType::kF32));
}

// A random activation of a hidden unit: ReLU, SiLU, hard swish, or none.
uint16_t Activated(Random& random, ExprBuilder& b, uint16_t v) {
  switch (random.Int(0, 3)) {
    case 0:
      return b.Binary(ExprOp::kMax, v, b.Const(0, DType::kF32));
    case 1:
      return b.Binary(ExprOp::kMul, v, b.Unary(ExprOp::kSigmoid, v));
    case 2: {
      const uint16_t shifted = b.Binary(ExprOp::kAdd, v, b.Const(3, DType::kF32));
      const uint16_t share =
          b.Binary(ExprOp::kMul, Bounded(b, shifted, 0, 6), b.Const(1.0 / 6, DType::kF32));
      return b.Binary(ExprOp::kMul, v, share);
    }
    default:
      return v;
  }
}

// A random activation of a gate: sigmoid or hard sigmoid.
uint16_t Opened(Random& random, ExprBuilder& b, uint16_t v) {
  if (random.OneIn(2)) return b.Unary(ExprOp::kSigmoid, v);
  const uint16_t scaled = b.Binary(ExprOp::kMul, v, b.Const(0.2, DType::kF32));
  return Bounded(b, b.Binary(ExprOp::kAdd, scaled, b.Const(0.5, DType::kF32)), 0, 1);
}

}  // namespace

// The expression that follows a product: an activation, mostly with a bias; sometimes it is empty.
abi::Expr CaseMaker::Middle(bool opens, const Dims& domain) {
  if (random_.OneIn(6)) return {};
  ExprBuilder b;
  uint16_t v = b.Input(0, DType::kF32);
  const int64_t operands = random_.Int(0, 2);
  for (int k = 1; k <= operands; ++k) {
    p_.inputs.push_back(In(random_.Pick(kData), domain));
    v = b.Binary(ExprOp::kAdd, v, b.Input(k, DType::kF32));
  }
  if (random_.OneIn(8)) {
    const uint16_t place = b.Cast(b.Index(static_cast<int>(random_.Int(0, 1))), DType::kF32);
    v = b.Binary(ExprOp::kAdd, v, b.Binary(ExprOp::kMul, place, b.Const(0x1p-7, DType::kF32)));
  }
  return b.Finish({opens ? Opened(random_, b, v) : Activated(random_, b, v)});
}

// The epilogue gate * x, often with something added, and sometimes with the gate as a second
// result.
void CaseMaker::ScaleByGate(DType dtype, const Dims& shape) {
  ExprBuilder b;
  const uint16_t gate = b.Input(0, DType::kF32);
  uint16_t v = b.Binary(ExprOp::kMul, b.Input(1, DType::kF32), gate);
  if (random_.OneIn(2)) {
    p_.inputs.push_back(In(random_.Pick(kData), shape));
    v = b.Binary(ExprOp::kAdd, v, b.Input(2, DType::kF32));
    if (random_.OneIn(2)) v = b.Binary(ExprOp::kMax, v, b.Const(0, DType::kF32));
  }
  const DType stored = random_.OneIn(3) ? DType::kF32 : dtype;
  p_.outputs = {random_.OneIn(2) ? ChannelsLast(stored, shape, false) : Out(stored, shape)};
  std::vector<uint16_t> results = {v};
  if (random_.OneIn(5)) {
    p_.outputs.push_back(Out(DType::kF32, shape));
    results.push_back(gate);
  }
  p_.epilogue = b.Finish(results);
}

template <>
void CaseMaker::Fresh<abi::Family::kExcite>() {
  const int64_t images = random_.Int(1, 3);
  const bool few = random_.OneIn(3), none = random_.OneIn(80);
  const int64_t channels = none ? 0 : few ? random_.Int(1, 9) : 8 * random_.Int(1, 16);
  const int64_t hidden = random_.OneIn(4) ? 1 : random_.Int(2, 24);
  Dims shape = {random_.OneIn(60) ? 0 : images, channels};
  int64_t room =
      std::max<int64_t>(1, options_.max_elements / std::max<int64_t>(1, images * channels));
  for (int64_t d = random_.Int(0, 3); d > 0; --d) {
    const bool empty = random_.OneIn(80), one = random_.OneIn(6);
    shape.push_back(empty ? 0 : one ? 1 : random_.Int(1, std::min<int64_t>(room, 40)));
    room = std::max<int64_t>(1, room / std::max<int64_t>(1, shape.back()));
  }
  const DType dtype = random_.Pick(kData);
  const auto weights = [&](const Dims& of) {
    const DType stored = random_.OneIn(4) ? random_.Pick(kData) : dtype;
    return random_.OneIn(2) ? abi::DenseView(stored, of) : In(stored, of);
  };
  p_.inputs = {weights({hidden, channels}), weights({channels, hidden})};
  abi::ExciteAttrs a;
  p_.prologue = Middle(false, {shape[0], hidden});
  a.hidden_operands = static_cast<int64_t>(p_.inputs.size()) - 2;
  p_.score = Middle(true, {shape[0], channels});
  p_.attrs = a;
  p_.core_inputs = static_cast<int>(p_.inputs.size());
  p_.inputs.push_back(FeatureView(dtype, shape));
  ScaleByGate(dtype, shape);
  Fill();
  // The rows of weights have a length of about one, so that products are about as large as the
  // means.
  const auto parts = [](int64_t length) {
    return static_cast<int64_t>(8 * std::sqrt(static_cast<double>(length))) + 1;
  };
  FillSteps(0, -8, 8, parts(channels));
  FillSteps(1, -8, 8, parts(hidden));
  // Four standard deviations of the rounding of the three sums, of values up to 8, scaled by
  // elements up to 4.
  double positions = 1;
  for (int d = 2; d < shape.rank(); ++d) positions *= static_cast<double>(shape[d]);
  const double sums = static_cast<double>(channels + hidden) + positions;
  case_.tolerance = {2, 0x1p-24 * 4 * 8 * 4 * std::sqrt(sums + 16)};
}

}  // namespace aicf::conformance
