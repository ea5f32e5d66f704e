/// The graph of a model that gives a text one vector, for any number of tokens: the inputs and the
/// output of docs/language_models.md.
#pragma once

#include "base/status.h"
#include "compiler/import/language/model.h"
#include "compiler/ir/graph.h"

namespace aicf::language {

/// REQUIRES: CheckWeights accepted the model, and it is an encoder. Errors: kResource.
Result<ir::Graph> BuildEncoder(const Model& model);

}  // namespace aicf::language
