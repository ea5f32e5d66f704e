/// Capability: a rewrite must not take a step away from the kernels written for it.
#pragma once

#include <optional>
#include <string>

#include "compiler/passes/pass.h"
#include "kernels/abi/kernel.h"

namespace aicf {

/// Empty, or "capability: ..." when some kernel other than the reference takes the step as it is on
/// this device and none takes it after the change. A device without a name has no kernels to lose:
/// golden tests use it to test legality alone.
std::string LosesKernel(const abi::Problem& before, const abi::Problem& after,
                        const abi::DeviceSpec& device);

/// The step as it will be where f32 is stored in the 16 bits of its math mode.
abi::Problem AsStored(abi::Problem problem, DType storage);

/// Empty, or "cost: ..." where a convolution that stores whole pixels (channels innermost) now, and
/// stores its results in another order after the change, is predicted to take longer than what it
/// is and a copy into that order. Kernels for tensor cores store whole pixels alone.
std::string SlowerThanPixels(const abi::Problem& before, const abi::Problem& after,
                             const PassContext& context);

/// The fastest that any kernel but a reference is predicted to run it, without its launch where
/// that takes place while the step before it runs; nothing where none runs it, and then the refusal
/// says why.
std::optional<double> PredictedUs(const abi::Problem& problem, const abi::DeviceSpec& device,
                                  std::string* refusal);

/// Two forms of one step, without their launches where PredictedUs leaves them out.
struct FormCosts {
  double before_us, after_us;
};

/// Both forms predicted for the one kernel that is fastest for the second, so that their difference
/// is what the form itself costs and not how well two kernels are predicted. Nothing where the
/// device has no such kernel, or where another one is faster at the first form, by corrected
/// predictions (PassContext::corrected_cost): then the refusal says which. It is empty for a device
/// without a name.
std::optional<FormCosts> FormsByOneKernel(const abi::Problem& before, const abi::Problem& after,
                                          const PassContext& context, std::string* refusal);

}  // namespace aicf
