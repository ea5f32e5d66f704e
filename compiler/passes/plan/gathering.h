/// How unevenly a GPU may place the blocks of a kernel that it launches early.
#pragma once

#include <cstdint>

#include "kernels/abi/device.h"
#include "kernels/abi/variant.h"

namespace aicf {

/// Blocks of the whole grid.
int64_t BlocksOf(const abi::LaunchConfig& launch);

/// As few multiprocessors of `device` as hold all blocks of `launch` at the same time, by threads,
/// shared memory and number of blocks. Registers are not known before the kernel is compiled: each
/// thread is given twice its share, 64 on a GPU with room for 2048 threads.
int64_t MultiprocessorsFor(const abi::LaunchConfig& launch, const abi::DeviceSpec& device);

/// The most blocks of `launch` that one multiprocessor of `device` may get when it is launched
/// while `before` still runs, over those that it has when all blocks are spread evenly; at least 1.
/// Blocks that start early go where there is room: spread over the multiprocessors that `before`
/// leaves empty or, where it leaves none, as many on one as it has room for, on those that are free
/// first. The others stay empty meanwhile. Room is counted by threads, shared memory and the number
/// of blocks; registers are not known before the kernel is compiled. Cost: constant.
double Gathering(const abi::LaunchConfig& launch, const abi::LaunchConfig& before,
                 const abi::DeviceSpec& device);

}  // namespace aicf
