/// Sentences about inputs and nodes.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace aicf {

/// "--shapes=x:?x3x?x320": what the caller has to fill in is no number.
std::string ShapesFlag(const ir::Value& input);

/// "extents 0 (\"batch\"), 2 are open". REQUIRES: one is.
std::string OpenExtents(const ir::Value& input);

/// An error about the node without the node in front, which the report has elsewhere.
std::string WithoutLabel(const ir::Node& node, std::string message);

}  // namespace aicf
