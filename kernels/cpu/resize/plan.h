/// Which axis a resampling runs along. Shared by the host functions and the kernel.
#pragma once

#include <string>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/resize/loops.h"

namespace aicf::cpu {

/// Longest input row that is blended into a buffer before it is resampled.
inline constexpr int64_t kResizeRow = 8192;

/// The output's innermost axis of more than one element; -1 for a single element.
int ResizeColumnAxis(const abi::View& out);

/// True when the axis keeps its extent at scale 1.
bool ResizeKeepsAxis(const abi::Problem& problem, int axis);

/// True when elements are copied as they are: nearest, no epilogue, same dtype.
bool ResizeCopies(const abi::Problem& problem);

/// Taps of all axes, one after the other, in the workspace.
uint64_t ResizeTapCount(const abi::Problem& problem);

}  // namespace aicf::cpu
