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

/// The problem as it is once its f32 operands and results are stored as `storage`; unchanged where
/// that is f32.
abi::Problem AsStored(abi::Problem problem, DType storage);

/// Empty, or "cost: ..." where a convolution stores whole pixels (channels innermost) before the
/// change and another order after it, and the changed convolution is predicted to take longer than
/// the present one followed by a copy into that order. Kernels for tensor cores store whole pixels
/// alone.
std::string SlowerThanPixels(const abi::Problem& before, const abi::Problem& after,
                             const PassContext& context);

/// The refusal where no kernel can be asked: "capability: no kernel of attention but the reference
/// runs on cpu:baseline".
std::string OnlyReferenceRuns(abi::Family family, const abi::DeviceSpec& device);

/// The shortest time that a kernel other than a reference is predicted to take for the problem. The
/// launch is not counted on devices with programmatic launches, where it takes place while the step
/// before runs. nullopt where no kernel takes the problem; `refusal`, which is left alone
/// otherwise, then names a kernel that has no legal parameters for it, or else says why the last
/// one refused it, or that there is none.
std::optional<double> PredictedUs(const abi::Problem& problem, const abi::DeviceSpec& device,
                                  std::string* refusal);

/// The same with costs that measurements have corrected (PassContext::corrected_cost), for problems
/// that different kernels take or that have different dtypes.
std::optional<double> CorrectedUs(const abi::Problem& problem, const PassContext& context,
                                  std::string* refusal);

/// Predicted times of two forms of one step, without their launches where PredictedUs leaves them
/// out.
struct FormCosts {
  double before_us, after_us;
};

/// Predicts both forms for one kernel, the fastest one for the second form, so that the difference
/// shows what the form itself costs and not how well two kernels are predicted. nullopt where no
/// kernel of the device takes both forms, or where another kernel is faster at the first form by
/// corrected predictions (PassContext::corrected_cost); `refusal` then says which. For a device
/// without a name the result is nullopt and `refusal` is empty.
std::optional<FormCosts> FormsByOneKernel(const abi::Problem& before, const abi::Problem& after,
                                          const PassContext& context, std::string* refusal);

}  // namespace aicf
