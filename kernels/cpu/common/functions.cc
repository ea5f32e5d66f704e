#include "kernels/cpu/functions.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cpu/common/epilogue.h"

namespace aicf::cpu {
namespace {

constexpr std::align_val_t kWorkspaceAlignment{64};

struct FreeWorkspace {
  void operator()(void* p) const { ::operator delete(p, kWorkspaceAlignment); }
};

/// A device with every instruction set, for calls of host functions outside of a plan.
abi::DeviceSpec AnyCpu() {
  abi::DeviceSpec device;
  device.isa = abi::CpuIsa::kAvx512;
  return device;
}

}  // namespace

abi::CpuKernelFn FindFunction(std::string_view key) {
  (void)IdentityExpr(DType::kF32);  // made here, so that kernels find it made
#define AICF_FAMILY(id, text, attrs, core, slots) \
  if (abi::CpuKernelFn f = FunctionOf<abi::Family::id>(key)) return f;
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  return nullptr;
}

void FillTensors(const abi::Problem& problem, void* const* buffers, abi::TensorArg* tensors) {
  size_t t = 0;
  for (const auto* views : {&problem.inputs, &problem.outputs}) {
    for (const abi::View& view : *views) {
      abi::TensorArg& arg = tensors[t];
      arg = abi::TensorArg{};
      arg.data = buffers[t++];
      arg.offset = view.offset;
      arg.dtype = view.dtype;
      arg.rank = static_cast<uint8_t>(view.shape.rank());
      for (int axis = 0; axis < view.shape.rank(); ++axis) {
        arg.shape[axis] = view.shape[axis];
        arg.strides[axis] = view.strides[axis];
      }
    }
  }
}

void SerialFor(void*, int64_t count, void (*fn)(void* context, int64_t i), void* context) {
  for (int64_t i = 0; i < count; ++i) fn(context, i);
}

void RunSerial(std::string_view key, const abi::Problem& problem, void* const* buffers) {
  RunParallel(key, problem, buffers, nullptr, &SerialFor, 1);
}

void RunParallel(std::string_view key, const abi::Problem& problem, void* const* buffers,
                 void* stream, abi::ParallelForFn parallel_for, int threads) {
  const abi::CpuKernelFn function = FindFunction(key);
  const abi::KernelInfo* info = abi::FindKernel(key);
  if (function == nullptr || info == nullptr) std::abort();  // the caller broke the requirement
  std::vector<abi::TensorArg> tensors(problem.inputs.size() + problem.outputs.size());
  FillTensors(problem, buffers, tensors.data());
  abi::ArgBlock args;
  args.input_count = static_cast<uint32_t>(problem.inputs.size());
  args.output_count = static_cast<uint32_t>(problem.outputs.size());
  args.tensors = tensors.data();
  args.problem = &problem;
  args.workspace_bytes = info->workspace_bytes(problem, AnyCpu());
  const std::unique_ptr<void, FreeWorkspace> workspace(
      ::operator new(args.workspace_bytes + 1, kWorkspaceAlignment));
  args.workspace = workspace.get();
  args.stream = stream;
  args.parallel_for = parallel_for;
  args.threads = threads;
  function(args);
}

}  // namespace aicf::cpu
