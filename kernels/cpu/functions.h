/// From a kernel key to the C++ function that runs it. Kept apart from KernelInfo so that a runtime
/// without CPU kernels (CUDA only) links the contract alone.
#pragma once

#include <string_view>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Made from the family's rows (kernels/cpu/common/functions.cc.in); nullptr for an unknown key.
template <abi::Family F>
abi::CpuKernelFn FunctionOf(std::string_view key);

/// The reference kernel of a family that has no other CPU kernel, and therefore no list.inc:
/// specialised in kernels/cpu/<family>/ref.cc.
template <abi::Family F>
void Reference(const abi::ArgBlock& args);

/// Every "cpu.*" key has a function (a test enumerates them); nullptr for any other key.
abi::CpuKernelFn FindFunction(std::string_view key);

/// Fills the tensor arguments of a call from a problem and the buffers' addresses.
/// `tensors` has room for inputs + outputs; `buffers` lists addresses in the same order.
void FillTensors(const abi::Problem& problem, void* const* buffers, abi::TensorArg* tensors);

/// A parallel_for that runs everything on the calling thread.
void SerialFor(void* stream, int64_t count, void (*fn)(void* context, int64_t i), void* context);

/// One call on the calling thread: fills the block and runs `key`. For tests, folding and
/// references. Allocates the workspace. REQUIRES: key names a cpu kernel that supports the problem.
void RunSerial(std::string_view key, const abi::Problem& problem, void* const* buffers);
/// The same on `threads` threads of parallel_for, which is handed `stream`.
void RunParallel(std::string_view key, const abi::Problem& problem, void* const* buffers,
                 void* stream, abi::ParallelForFn parallel_for, int threads);

}  // namespace aicf::cpu
