/// The compiler's flags with which a step that differs from the reference is computed in another
/// way.
#pragma once

#include <string>
#include <string_view>

#include "schema/program.h"

namespace aicf::tools {

/// The arguments of aicf-compile that change the step: its math mode to fp32 where it has another,
/// else another kernel that may run it. Empty when there is neither.
std::string PinFlags(const schema::Program& program, uint32_t step);

/// The arguments of aicf-compile that keep the step's result in f32 where --precision has stored it
/// in 16 bits: its storage or, of a copy that is made for a product, the product's operands. A
/// model whose own values are of 16 bits has neither. Empty for a step without a node.
std::string WidenFlags(const schema::Program& program, uint32_t step);

/// Whether the step is a product whose math mode rounds the operands.
bool HasReducedMath(const schema::Step& step);

}  // namespace aicf::tools
