#include "compiler/passes/quantize/weights.h"

#include <algorithm>
#include <cmath>

#include "base/float8.h"
#include "compiler/ir/views.h"
#include "compiler/passes/quantize/code.h"

namespace aicf::quantize {
namespace {

using abi::Family;

// The output channel and the channel of operand 0 that an element of the weights connects; -1: the
// product does not read the element.
struct Roles {
  int64_t output = -1, input = -1;
  friend bool operator==(const Roles&, const Roles&) = default;
};

Roles RolesAt(const abi::Problem& p, const Dims& at) {
  if (p.family == Family::kGemm) return {at.back(), at[at.rank() - 2]};
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& w = p.inputs[1].shape;
  if (!a.transposed) return {at[0], at[0] / (w[0] / a.group) * w[1] + at[1]};
  return {at[0] / (w[0] / a.group) * w[1] + at[1], at[0]};
}

// The view of the weights with every matrix only once, where batches repeat it.
abi::View WithoutBatches(const abi::Problem& p) {
  abi::View view = p.inputs[1];
  for (int d = 0; p.family == Family::kGemm && d < view.shape.rank() - 2; ++d) {
    if (view.strides[d] == 0) view.shape[d] = std::min<int64_t>(view.shape[d], 1);
  }
  return view;
}

// f(offset in the buffer, roles) for every element that the product reads.
template <class F>
void ForEachWeight(const abi::Problem& p, const F& f) {
  const abi::View view = WithoutBatches(p);
  if (abi::ElementsOf(view) == 0) return;
  Dims at = Dims::Filled(view.shape.rank(), 0);
  for (;;) {
    int64_t offset = view.offset;
    for (int d = 0; d < at.rank(); ++d) offset += at[d] * view.strides[d];
    f(offset, RolesAt(p, at));
    int d = at.rank() - 1;
    for (; d >= 0 && ++at[d] == view.shape[d]; --d) at[d] = 0;
    if (d < 0) return;
  }
}

// By element of the constant.
struct AllRoles {
  std::vector<Roles> of;
  bool shared = false;  ///< some element belongs to several output channels
};

AllRoles RolesOf(const abi::Problem& p, int64_t count) {
  AllRoles all{std::vector<Roles>(static_cast<size_t>(count)), false};
  ForEachWeight(p, [&](int64_t offset, const Roles& roles) {
    Roles& known = all.of[static_cast<size_t>(offset)];
    all.shared = all.shared || (known.output >= 0 && known.output != roles.output);
    known = roles;
  });
  return all;
}

double Factored(const ir::Tensor& weights, size_t i, const Roles& roles,
                const std::vector<float>& factors) {
  const auto value = static_cast<float>(weights.FloatAt(static_cast<int64_t>(i)));
  const float factor = factors.empty() ? 1 : factors[static_cast<size_t>(roles.input)];
  return static_cast<double>(value * factor);
}

std::vector<float> ScalesOf(const abi::Problem& p, const ir::Tensor& weights, const AllRoles& all,
                            DType to, const std::vector<float>& factors) {
  std::vector<double> largest(static_cast<size_t>(OutputChannels(p)), 0);
  for (size_t i = 0; i < all.of.size(); ++i) {
    if (all.of[i].output < 0) continue;
    double& most = largest[static_cast<size_t>(all.of[i].output)];
    most = std::max(most, std::fabs(Factored(weights, i, all.of[i], factors)));
  }
  if (all.shared) std::ranges::fill(largest, *std::ranges::max_element(largest));
  std::vector<float> scales;
  for (const double most : largest) scales.push_back(ScaleFor(most, LargestCode(to)));
  return scales;
}

// The code's bits.
uint8_t CodeBits(double value, float scale, DType to) {
  const double scaled = value / static_cast<double>(scale);
  const double most = LargestCode(to);
  const double kept = std::clamp(scaled, -most, most);
  if (to == DType::kF8E4M3FN) return F32ToFloat8(static_cast<float>(kept), to);
  return static_cast<uint8_t>(static_cast<int8_t>(std::nearbyint(kept)));
}

}  // namespace

int64_t OutputChannels(const abi::Problem& p) { return p.outputs[0].shape[ChannelAxis(p)]; }

bool HasOneMatrix(const abi::Problem& p) {
  const abi::View& b = p.inputs[1];
  for (int d = 0; p.family == Family::kGemm && d < b.shape.rank() - 2; ++d) {
    if (b.strides[d] != 0 && b.shape[d] != 1) return false;
  }
  return true;
}

int ChannelAxis(const abi::Problem& p) {
  return p.family == Family::kGemm ? p.outputs[0].shape.rank() - 1 : 1;
}

bool HasOwnChannels(const abi::Problem& p) { return ir::IsInjective(WithoutBatches(p)); }

std::vector<double> LargestByInput(const abi::Problem& p, const ir::Tensor& weights) {
  const Dims& x = p.inputs[0].shape;
  std::vector<double> largest(static_cast<size_t>(p.family == Family::kGemm ? x.back() : x[1]), 0);
  ForEachWeight(p, [&](int64_t offset, const Roles& roles) {
    double& most = largest[static_cast<size_t>(roles.input)];
    most = std::max(most, std::fabs(weights.FloatAt(offset)));
  });
  return largest;
}

QuantizedWeights QuantizeWeights(const abi::Problem& p, const ir::Tensor& weights, DType to,
                                 const std::vector<float>& factors) {
  const AllRoles all = RolesOf(p, weights.count());
  QuantizedWeights out;
  out.per_channel = !all.shared;
  out.scales = ScalesOf(p, weights, all, to, factors);
  std::vector<std::byte> codes(all.of.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (all.of[i].output < 0) continue;
    const float scale = out.scales[static_cast<size_t>(all.of[i].output)];
    codes[i] = std::byte{CodeBits(Factored(weights, i, all.of[i], factors), scale, to)};
  }
  out.codes = ir::Tensor::Own(to, weights.shape(), std::move(codes));
  if (to != DType::kI8) return out;
  out.sums.assign(out.scales.size(), 0);
  ForEachWeight(p, [&](int64_t offset, const Roles& roles) {
    out.sums[static_cast<size_t>(roles.output)] += out.codes.at<int8_t>(offset);
  });
  return out;
}

ir::Tensor RoundedWeights(const abi::Problem& p, const QuantizedWeights& weights) {
  const AllRoles all = RolesOf(p, weights.codes.count());
  std::vector<float> values(all.of.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (all.of[i].output < 0) continue;
    const auto code = static_cast<float>(weights.codes.FloatAt(static_cast<int64_t>(i)));
    values[i] = code * weights.scales[static_cast<size_t>(all.of[i].output)];
  }
  return ir::Tensor::FromValues<float>(DType::kF32, weights.codes.shape(), values);
}

}  // namespace aicf::quantize
