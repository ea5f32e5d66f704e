#include "kernels/cuda/conv/depthwise.h"

#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

int RunAlong(const abi::View& v, int axis) {
  Space space{v.shape, {Dims{axis}, {}}};
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (d != axis && v.shape[d] != 1) space.groups[1].push_back(d);
  }
  return RunOf(v, space);
}

}  // namespace

std::string RefuseDepthwise(const abi::Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& x = p.inputs[0].shape;
  const Dims& y = p.outputs[0].shape;
  if (a.transposed) return "is not for transposed convolutions";
  if (x[1] != a.group || y[1] != a.group) return "needs one input and one output channel per group";
  if (abi::ComputeDType(p.inputs[0].dtype) != DType::kF32)
    return "multiplies f32, f16 and bf16 only";
  if (p.inputs[0].strides[1] != 1 && x[1] > 1) return "the input's channels are not contiguous";
  if (p.outputs[0].strides[1] != 1 && y[1] > 1) return "the output's channels are not contiguous";
  // A single channel may lie anywhere; the kernel's first group of axes is the channels.
  if (RowsInner(p)) return "the output's positions are innermost";
  if (abi::ElementsOf(p.outputs[0]) == 0) return "the output is empty";
  // The kernel counts positions in the order of the axes.
  const Dims positions = SpacesOf(kDepthwiseKey, p).output.groups[1];
  if (!std::is_sorted(positions.begin(), positions.end())) return "the output's axes are permuted";
  const int last = x.rank() - 1;
  const int64_t span = (p.inputs[1].shape[last] - 1) * a.dilations.back() + 1;
  if (span > 16 || a.strides.back() > 4) return "the window's last axis is too long for registers";
  return {};
}

DepthwiseShape DepthwiseShapeOf(const abi::Problem& p, int sm_count) {
  const auto& a = p.as<abi::ConvAttrs>();
  const int64_t channels = p.outputs[0].shape[1];
  const int64_t last = p.outputs[0].shape.back();
  DepthwiseShape s;
  s.piece = std::min({4, RunAlong(p.inputs[0], 1), RunAlong(p.outputs[0], 1)});
  while (s.piece > 1 && channels % s.piece != 0) s.piece /= 2;
  const int64_t span = (p.inputs[1].shape.back() - 1) * a.dilations.back() + 1;
  s.pixels = 4;
  // The row of inputs in registers stays short, and threads stay many.
  auto threads = [&] { return abi::ElementsOf(p.outputs[0]) / (s.piece * s.pixels); };
  while (s.pixels > 1 && ((s.pixels - 1) * a.strides.back() + span > 12 || s.pixels > last ||
                          threads() < int64_t{512} * sm_count)) {
    s.pixels /= 2;
  }
  while (s.piece > 1 && threads() < int64_t{128} * sm_count) s.piece /= 2;
  return s;
}

}  // namespace aicf::cuda
