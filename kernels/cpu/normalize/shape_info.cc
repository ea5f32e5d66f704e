#include "kernels/cpu/normalize/hosts.h"

namespace aicf::cpu {

int64_t GroupElements(const abi::Problem& problem) {
  int64_t elements = 1;
  for (int64_t axis : problem.as<abi::NormalizeAttrs>().axes) {
    elements *= problem.outputs[0].shape[static_cast<int>(axis)];
  }
  return elements;
}

bool GroupInOutput(const abi::Problem& problem) {
  const abi::View& out = problem.outputs[0];
  if (!problem.epilogue.empty() || out.dtype != DType::kF32) return false;
  const Dims& axes = problem.as<abi::NormalizeAttrs>().axes;
  int64_t expected = 1;
  for (int i = axes.rank() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(axes[i]);
    if (out.shape[axis] == 1) continue;
    if (out.strides[axis] != expected) return false;
    expected *= out.shape[axis];
  }
  return true;
}

}  // namespace aicf::cpu
