// The linker redirects every look-up of a CPU kernel's function to this file (--wrap).
#include "tests/faults/graphs/planted.h"

#include <cstring>
#include <string>

#include "kernels/abi/kernel.h"

namespace aicf::graphs {

#define AICF_FIND "_ZN4aicf3cpu12FindFunctionESt17basic_string_viewIcSt11char_traitsIcEE"

abi::CpuKernelFn RealFind(std::string_view key) asm("__real_" AICF_FIND);
abi::CpuKernelFn PlantedFind(std::string_view key) asm("__wrap_" AICF_FIND);

namespace {

std::string& Key() {
  static std::string key;
  return key;
}

abi::CpuKernelFn& RightKernel() {
  static abi::CpuKernelFn right = nullptr;
  return right;
}

// A kernel of f32 whose last element comes back too large.
void WrongKernel(const abi::ArgBlock& args) {
  RightKernel()(args);
  const abi::TensorArg& out = args.tensors[args.input_count];
  if (out.dtype != DType::kF32) return;
  int64_t at = out.offset;
  for (int axis = 0; axis < out.rank; ++axis) at += (out.shape[axis] - 1) * out.strides[axis];
  float value;
  auto* element = static_cast<std::byte*>(out.data) + at * 4;
  std::memcpy(&value, element, sizeof value);
  value += 0.01f;
  std::memcpy(element, &value, sizeof value);
}

}  // namespace

void PlantWrongKernel(std::string_view key) { Key() = key; }

abi::CpuKernelFn PlantedFind(std::string_view key) {
  const abi::CpuKernelFn found = RealFind(key);
  if (Key().empty() || key != Key()) return found;
  RightKernel() = found;
  return &WrongKernel;
}

}  // namespace aicf::graphs
