#include <cstdlib>

#include "kernels/cpu/resize/hosts.h"

namespace aicf::cpu {

int ResizeColumnAxis(const abi::View& out) {
  int column = -1;
  for (int axis = 0; axis < out.shape.rank(); ++axis) {
    if (out.shape[axis] < 2) continue;
    if (column < 0 || std::abs(out.strides[axis]) < std::abs(out.strides[column])) column = axis;
  }
  return column;
}

bool ResizeKeepsAxis(const abi::Problem& problem, int axis) {
  return problem.inputs[0].shape[axis] == problem.outputs[0].shape[axis] &&
         problem.as<abi::ResizeAttrs>().scales[static_cast<size_t>(axis)] == 1.0;
}

bool ResizeCopies(const abi::Problem& problem) {
  return problem.as<abi::ResizeAttrs>().mode == abi::ResizeMode::kNearest &&
         problem.epilogue.empty() && problem.inputs[0].dtype == problem.outputs[0].dtype;
}

uint64_t ResizeTapCount(const abi::Problem& problem) {
  uint64_t count = 0;
  for (int64_t extent : problem.outputs[0].shape) count += static_cast<uint64_t>(extent);
  return count;
}

}  // namespace aicf::cpu
