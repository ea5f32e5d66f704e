/// The error about a value that has to be known while compiling, and is not.
#pragma once

#include <string_view>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf::ir {

/// kUnsupported: `what` ("sizes") is this value, which is no constant. Where it follows from inputs
/// that --bind may make constants, numbers and lists of them, the sentence says how; other inputs
/// are data, which no use of the model knows before. REQUIRES: `graph` is not a body, so that its
/// inputs are the model's.
Status NotConstant(const Graph& graph, ValueId value, std::string_view what);

}  // namespace aicf::ir
