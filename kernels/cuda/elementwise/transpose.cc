#include "kernels/cuda/elementwise/hosts.h"

namespace aicf::cuda {

int64_t ElementwiseTransposeHost::Tiles(const abi::Problem& p) {
  const Dims& shape = p.outputs[0].shape;
  const int64_t from = shape[ContiguousAxis(p.inputs[0])];
  const int64_t to = shape[ContiguousAxis(p.outputs[0])];
  return CeilDiv(from, kTileFrom) * CeilDiv(to, kTileTo) *
         (abi::ElementsOf(p.outputs[0]) / std::max<int64_t>(1, from * to));
}

std::string ElementwiseTransposeHost::Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
  if (p.inputs.empty()) return "has no operand to turn";
  const int from = ContiguousAxis(p.inputs[0]), to = ContiguousAxis(p.outputs[0]);
  if (from < 0 || to < 0 || p.inputs[0].strides[to] == 0) {
    return "needs an axis of stride 1 in the first operand and in the output";
  }
  if (from == to) return "the first operand and the output are contiguous along the same axis";
  if (p.outputs[0].shape[from] < 8 || p.outputs[0].shape[to] < 8) {
    return "an exchanged axis has fewer than 8 elements";
  }
  return {};
}

std::string ElementwiseTransposeHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                             const abi::DeviceSpec&) {
  const std::string refusal = RefuseOddPower(c, "vector");
  if (!refusal.empty()) return refusal;
  const int64_t extent = p.outputs[0].shape[ContiguousAxis(p.outputs[0])];
  if (extent % c["vector"] != 0) {
    return StrCat("takes whole vectors of ", c["vector"], " results, here are ", extent);
  }
  return RefuseStride(c["blocks"], 1);
}

}  // namespace aicf::cuda
