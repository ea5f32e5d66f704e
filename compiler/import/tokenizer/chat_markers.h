/// Which family a model's chat template is of.
#pragma once

#include <string>
#include <string_view>

namespace aicf {

/// What LanguageModel::chat_template says of a template with this text (tokenizer.chat_template of
/// a GGUF file, chat_template of tokenizer_config.json, chat_template.jinja): the family's name, or
/// schema::kUnknownChatTemplate. Empty for an empty text. The text is never executed, so a template
/// that is like a known one in its marks and not in what it does is taken for that one.
std::string RecognizeChatTemplate(std::string_view text);

}  // namespace aicf
