/// A language model from the folder of a Hugging Face model: config.json, safetensors, and where
/// they are there tokenizer.json, tokenizer_config.json, chat_template.jinja,
/// generation_config.json.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/import/language/model.h"
#include "compiler/import/named_files.h"

namespace aicf::language {

/// Errors: kBadModel, kUnsupported and kIo naming the file and what is wrong or not known in it.
Result<Model> ModelFromHfFolder(const std::string& folder, const NamedFiles& files = {});

}  // namespace aicf::language
