/// Which math mode a step's products really have, and why no other.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/passes/pass.h"
#include "compiler/select/candidates.h"
#include "kernels/abi/kernel.h"

namespace aicf {

/// The mode in which the kernel forms the problem's products: kFp32 where the kernel would do the
/// same if the problem asked for fp32, whatever mode the problem allows; else the problem's mode.
abi::MathMode UsedMath(const abi::KernelInfo& kernel, const abi::Problem& problem,
                       const abi::DeviceSpec& device);

/// Errors: a wish for a mode that the step cannot have, with the sentence that RecordPrecision
/// records of it.
Status CheckPrecisionWish(const ir::LoweredStep& step, const Decision& decision, const Wish& wish,
                          Candidates& candidates);

/// Records the "precision" decision of a step whose kernel is chosen: the mode, and for every other
/// one the cost of its best kernel or the sentence that refuses it. `decision` says what it is
/// about.
void RecordPrecision(const ir::LoweredStep& step, Decision decision, const abi::KernelInfo& chosen,
                     Reason kernel_reason, Candidates& candidates, PassContext& context);

}  // namespace aicf
