#include "kernels/cuda/copy/hosts.h"

namespace aicf::cuda {

std::string CopyTransposeHost::Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
  if (p.inputs.size() != 1 || p.inputs[0].shape != p.outputs[0].shape) {
    return "is for one piece that covers the output";
  }
  const int from = ContiguousAxis(p.inputs[0]);
  const int to = ContiguousAxis(p.outputs[0]);
  if (from < 0 || to < 0) {
    return "needs an axis of stride 1 in the input and in the output";
  }
  if (from == to) return "input and output are contiguous along the same axis";
  if (p.inputs[0].shape[from] < 8 || p.inputs[0].shape[to] < 8) {
    return "an exchanged axis has fewer than 8 elements";
  }
  return RefuseConversion(p);
}

}  // namespace aicf::cuda
