/// How a family's variants reach the registry: each kernels/{cpu,cuda}/<family>/info.cc specialises its
/// template; kernels/abi/registry.cc concatenates them in family order. A new variant is one row there.
#pragma once

#include <span>

#include "kernels/abi/kernel.h"

namespace aicf::abi {

/// Rows in order of preference; the last is "cpu.<family>.ref".
template <Family F>
std::span<const KernelInfo> CpuKernels();

/// Rows in order of preference, library keys among them.
template <Family F>
std::span<const KernelInfo> CudaKernels();

}  // namespace aicf::abi
