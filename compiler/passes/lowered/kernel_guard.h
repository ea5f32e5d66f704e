/// Capability: a rewrite must not take a step away from the kernels written for it.
#pragma once

#include <string>

#include "kernels/abi/kernel.h"

namespace aicf {

/// Empty, or "capability: ..." when some kernel other than the reference takes the step as it is on
/// this device and none takes it after the change. A device without a name has no kernels to lose:
/// golden tests use it to test legality alone.
std::string LosesKernel(const abi::Problem& before, const abi::Problem& after,
                        const abi::DeviceSpec& device);

}  // namespace aicf
