/// How the model of a Hugging Face folder makes one vector of a text, as the files of
/// sentence-transformers say it.
#pragma once

#include "base/status.h"
#include "compiler/import/language/hf_texts.h"
#include "compiler/import/language/model.h"

namespace aicf::language {

/// Sets Model::unit_length. In a folder without modules.json, the vector is the mean, with whatever
/// length that has. Errors: kBadModel; kUnsupported naming a module or a way of pooling that is not
/// known.
Status ReadPooling(const HfTexts& texts, Model& model);

}  // namespace aicf::language
