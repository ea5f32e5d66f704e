#include <algorithm>

#include "kernels/cpu/common/host.h"

namespace aicf::cpu {
std::string MissingIsa(const abi::DeviceSpec& device, abi::CpuIsa isa) {
  if (device.isa >= isa) return {};
  return StrCat("needs ", isa == abi::CpuIsa::kAvx512 ? "AVX-512" : "AVX2",
                ", which the device does not have");
}

bool SameElements(const abi::Problem& problem, int input) {
  if (input < 0 || input >= static_cast<int>(problem.inputs.size()) || problem.outputs.empty()) {
    return false;
  }
  const auto output = static_cast<size_t>(abi::OutputInPlaceOf(problem, input));
  const abi::View& in = problem.inputs[static_cast<size_t>(input)];
  const abi::View& out = problem.outputs[output];
  if (DTypeBytes(in.dtype) != DTypeBytes(out.dtype)) return false;
  if (in.shape != out.shape || in.offset != out.offset) return false;
  for (int axis = 0; axis < in.shape.rank(); ++axis) {
    if (in.shape[axis] > 1 && in.strides[axis] != out.strides[axis]) return false;
  }
  return true;
}

}  // namespace aicf::cpu
