/// Finds out to which family a model's chat template belongs.
#pragma once

#include <string>
#include <string_view>

namespace aicf {

/// The value of LanguageModel::chat_template for a template with this text (tokenizer.chat_template
/// of a GGUF file, chat_template of tokenizer_config.json, chat_template.jinja): the name of the
/// family, or schema::kUnknownChatTemplate. Empty for an empty text. The text is never executed, so
/// a template that has the marks of a known one but does something else is taken for the known one.
std::string RecognizeChatTemplate(std::string_view text);

}  // namespace aicf
