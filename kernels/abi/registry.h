/// How a family's variants reach the registry. Its CPU rows are in kernels/cpu/<family>/list.inc,
/// its CUDA rows are the host classes that kernels/cuda/<family>/hosts.h lists;
/// kernels/{cpu,cuda}/common/info.cc.in makes these tables from them, and kernels/abi/registry.cc
/// concatenates them in family order.
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
