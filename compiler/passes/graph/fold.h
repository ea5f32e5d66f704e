/// Folding of one node, shared by inference (which needs values of shapes) and the pass.
#pragma once

#include <string_view>

#include "compiler/passes/evaluate.h"

namespace aicf {

/// Makes the node's outputs constants where that is possible, and records the decision, or why a
/// node with constant inputs stays. True: the node is no longer needed. REQUIRES: the node is
/// inferred.
Result<bool> TryFold(ir::Graph& graph, const ir::Node& node, Folder& folder, PassContext& context,
                     std::string_view pass);

}  // namespace aicf
