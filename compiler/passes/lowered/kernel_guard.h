/// Capability: a rewrite must not take a step away from the kernels written for it.
#pragma once

#include <optional>
#include <string>

#include "kernels/abi/kernel.h"

namespace aicf {

/// Empty, or "capability: ..." when some kernel other than the reference takes the step as it is on
/// this device and none takes it after the change. A device without a name has no kernels to lose:
/// golden tests use it to test legality alone.
std::string LosesKernel(const abi::Problem& before, const abi::Problem& after,
                        const abi::DeviceSpec& device);

/// The fastest that any kernel but a reference is predicted to run it, without its launch where
/// that takes place while the step before it runs; nothing where none runs it, and then the refusal
/// says why.
std::optional<double> PredictedUs(const abi::Problem& problem, const abi::DeviceSpec& device,
                                  std::string* refusal);

}  // namespace aicf
