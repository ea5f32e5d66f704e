/// A language model from a GGUF file.
#pragma once

#include "base/status.h"
#include "compiler/import/gguf/gguf.h"
#include "compiler/import/language/model.h"

namespace aicf::language {

/// Errors: kBadModel for numbers that are missing, contradict each other or the weights;
/// kUnsupported naming an architecture, or a property of one, that no builder knows.
Result<Model> ModelFromGguf(const gguf::GgufFile& file);

}  // namespace aicf::language
