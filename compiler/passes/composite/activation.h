/// Activations that fused ops name in an attribute.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/passes/composite/composer.h"

namespace aicf {

/// The activation of that name; x itself for "". Parameters in the order of the op's attributes
/// (Clip: minimum, maximum). Errors: kUnsupported for another name, or more parameters than it has.
ir::ValueId Activate(Composer& c, ir::ValueId x, std::string_view name,
                     const std::vector<double>& parameters);

}  // namespace aicf
