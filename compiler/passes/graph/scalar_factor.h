/// Mul and Div by a scalar constant, which exporters put on either side of a product.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace aicf {

/// The factor by which a node multiplies its first input, keeping its shape: a normal number;
/// nullopt when it does something else.
std::optional<double> FactorOf(const ir::Graph& graph, const ir::Node& node);

}  // namespace aicf
