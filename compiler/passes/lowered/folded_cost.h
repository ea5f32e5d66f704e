/// What a convolution takes on a GPU with its taps folded (folded_taps.h).
#pragma once

#include <optional>
#include <string>

#include "compiler/passes/pass.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// The predicted time (CorrectedUs) of the copy that stores the input and of the convolution that
/// reads it, in us. The operands have the dtypes that are multiplied. nullopt where no kernel takes
/// a step, with `refusal` set. REQUIRES: RefuseFolding does not refuse the convolution.
std::optional<double> FoldedUs(const abi::Problem& conv, const PassContext& context,
                               std::string* refusal);

}  // namespace aicf
