/// Activations that fused ops name in an attribute.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/passes/composite/composer.h"

namespace aicf {

/// Applies the activation of that name to x; "" gives x itself. `parameters` are in the order of
/// the op's attributes (Clip: minimum, maximum). Errors: kUnsupported for another name, or for more
/// parameters than the activation has.
ir::ValueId Activate(Composer& c, ir::ValueId x, std::string_view name,
                     const std::vector<double>& parameters);

}  // namespace aicf
