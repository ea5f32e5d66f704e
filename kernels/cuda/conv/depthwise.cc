#include <algorithm>

#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {
namespace {

/// Limits of the span and the stride along the last axis: the registers of a thread grow with both.
constexpr int64_t kMaxSpan = 16;
constexpr int64_t kMaxStride = 4;

int RunAlong(const abi::View& v, int axis) {
  Space space{v.shape, {Dims{axis}, {}}};
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (d != axis && v.shape[d] != 1) space.groups[1].push_back(d);
  }
  return RunOf(v, space);
}

}  // namespace

int64_t ConvDepthwiseHost::MaxPiece(const abi::Problem& p) {
  const int most = DTypeBytes(p.inputs[0].dtype) == 2 ? 8 : 4;
  int64_t piece = std::min({most, RunAlong(p.inputs[0], 1), RunAlong(p.outputs[0], 1)});
  while (piece > 1 && p.outputs[0].shape[1] % piece != 0) piece /= 2;
  return piece;
}

int64_t ConvDepthwiseHost::Span(const abi::Problem& p) {
  return (p.inputs[1].shape.back() - 1) * p.as<abi::ConvAttrs>().dilations.back() + 1;
}

std::string ConvDepthwiseHost::Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& x = p.inputs[0].shape;
  const Dims& y = p.outputs[0].shape;
  if (a.transposed) return "is not for transposed convolutions";
  if (x[1] != a.group || y[1] != a.group) return "needs one input and one output channel per group";
  if (abi::ComputeDType(p.inputs[0].dtype) != DType::kF32)
    return "multiplies f32, f16 and bf16 only";
  if (p.inputs[0].strides[1] != 1 && x[1] > 1) return "the input's channels are not contiguous";
  if (p.outputs[0].strides[1] != 1 && y[1] > 1) return "the output's channels are not contiguous";
  // A single channel passes the checks above with any stride, but the kernel also needs channels to
  // be the first group of the output's axes (SpacesOf).
  if (RowsInner(p)) return "the output's positions are innermost";
  if (abi::ElementsOf(p.outputs[0]) == 0) return "the output is empty";
  // The kernel counts positions in the order of the axes.
  const Dims positions = SpacesOf(kKey, p).output.groups[1];
  if (!std::is_sorted(positions.begin(), positions.end())) return "the output's axes are permuted";
  if (Span(p) > kMaxSpan || a.strides.back() > kMaxStride)
    return "the window's last axis is too long for registers";
  return {};
}

std::string ConvDepthwiseHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                      const abi::DeviceSpec&) {
  if (c["piece"] > MaxPiece(p) || !IsPowerOfTwo(static_cast<uint64_t>(c["piece"]))) {
    return StrCat("takes a piece of a power of two up to ", MaxPiece(p), " channels, here is ",
                  c["piece"]);
  }
  const std::string refusal = RefuseParts(c, "threads", 32);
  return refusal.empty() ? RefuseStride(c["blocks"], c["threads"]) : refusal;
}

}  // namespace aicf::cuda
