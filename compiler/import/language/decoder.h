/// The graph of a model that continues a text, for any number of requests and rows. Its inputs,
/// outputs and states are those of docs/language_models.md.
#pragma once

#include "base/status.h"
#include "compiler/import/language/model.h"
#include "compiler/import/language/options.h"
#include "compiler/ir/graph.h"

namespace aicf::language {

/// REQUIRES: CheckWeights accepted the model; no option is 0 or empty. Errors: kResource.
Result<ir::Graph> BuildDecoder(const Model& model, const LanguageOptions& options);

/// The names of a state before and after a run: "keys.3" and "keys.3.next".
std::string StateName(std::string_view what, int64_t layer);
std::string NextName(std::string_view state);

}  // namespace aicf::language
