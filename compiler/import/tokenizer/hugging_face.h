/// What the files of a Hugging Face folder say about text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf {

/// The files' texts; empty where the folder has none. Only tokenizer.json is needed.
struct HuggingFaceFiles {
  std::string_view tokenizer = {};          ///< tokenizer.json
  std::string_view tokenizer_config = {};   ///< tokenizer_config.json
  std::string_view config = {};             ///< config.json
  std::string_view generation_config = {};  ///< generation_config.json
  std::string_view chat_template = {};      ///< chat_template.jinja
};

struct HuggingFaceText {
  schema::TokenizerData data;
  std::vector<uint32_t> end_tokens;  ///< ids that end a text, ascending (end_tokens.h)
  std::string chat_template;         ///< its text, for RecognizeChatTemplate; empty: none
};

/// Reads the tokenizer. bos, eos and pad are those of tokenizer.json, or else those that
/// tokenizer_config.json names; only tokenizer.json says whether they go around a text. Ids that
/// end a text come from generation_config.json, else config.json. Of several chat templates the one
/// named "default" is taken. Errors: those of ReadTokenizerJson; kBadModel naming the file and the
/// key for a member of the wrong type, and for ids that are no tokens.
Result<HuggingFaceText> ReadHuggingFaceText(const HuggingFaceFiles& files);

}  // namespace aicf
