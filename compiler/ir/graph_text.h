/// Pieces of the text form of ir::Graph (grammar: compiler/ir/text.h) for whoever prints or
/// compares parts of a graph.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace aicf::ir {

/// "{strides=[1, 1]}", empty without attributes. Equal attributes give equal text.
std::string ToText(const AttrMap& attrs);

}  // namespace aicf::ir
