/// Rewrites the forms that an importer could not, because they depend on ranks or dtypes
/// (compiler/ir/legacy.h).
#pragma once

#include <vector>

#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// The nodes that replace `node`, in order, usually itself. New values have no shape yet.
/// REQUIRES: the inputs' shapes are known. Errors: kBadModel, kUnsupported.
Result<std::vector<ir::Node>> Modernize(ir::Graph& graph, ValueMaker& make, ir::Node node);

}  // namespace aicf
