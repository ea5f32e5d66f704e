/// How unevenly a GPU may place the blocks of a kernel that it launches early.
#pragma once

#include "kernels/abi/device.h"
#include "kernels/abi/variant.h"

namespace aicf {

/// The most blocks of the launch that one multiprocessor of `device` has room for, over those that
/// it has when all blocks are spread evenly; at least 1. Blocks that start while another kernel
/// still runs go where there is room, so that some multiprocessors may get that many times their
/// share while others stay empty. Room is counted by threads, shared memory and the number of
/// blocks; registers are not known before the kernel is compiled. Cost: constant.
double Gathering(const abi::LaunchConfig& launch, const abi::DeviceSpec& device);

}  // namespace aicf
