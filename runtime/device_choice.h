/// Which processor runs a program.
#pragma once

#include <string_view>

#include "aicf/aicf.h"
#include "base/status.h"

namespace aicf {

/// Ordinal of the GPU that SessionOptions::device names for this program; -1: the CPU.
/// Errors: kInvalidArgument for a name that is no device, kDevice where it names a GPU and the
/// artifact is for a CPU.
Result<int> ChooseDevice(const Program& program, std::string_view device);

}  // namespace aicf
