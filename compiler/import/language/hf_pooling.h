/// How a Hugging Face folder's model makes one vector of a text, by the files of
/// sentence-transformers.
#pragma once

#include "base/status.h"
#include "compiler/import/language/hf_texts.h"
#include "compiler/import/language/model.h"

namespace aicf::language {

/// Fills Model::unit_length. A folder without modules.json: the mean, of its own length.
/// Errors: kBadModel; kUnsupported naming a module or a way of pooling that is not known.
Status ReadPooling(const HfTexts& texts, Model& model);

}  // namespace aicf::language
