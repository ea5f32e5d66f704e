/// The files of a Hugging Face folder that are text.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "compiler/import/language/hf_config.h"
#include "compiler/import/language/model.h"
#include "compiler/import/named_files.h"

namespace aicf::language {

/// All but config.json may be absent.
struct HfTexts {
  std::string config;
  std::optional<std::string> tokenizer, tokenizer_config, chat_template, generation_config;
  std::optional<std::string> modules, pooling;  ///< of sentence-transformers
};

/// Reads only files of exactly these names in exactly this folder, and 1_Pooling/config.json. None
/// may be a link unless it leads to the store of `files` (OpenNamedFile). Errors: kIo; kBadModel
/// above the limits, and for a link.
Result<HfTexts> ReadHfTexts(const std::string& folder, const NamedFiles& files);

/// Tokenizer, tokens that end a text, and chat template. Errors: those of ReadTokenizerJson.
Status AddTexts(const HfTexts& texts, const HfConfig& config, Model& model);

}  // namespace aicf::language
