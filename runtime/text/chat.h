/// A chat's messages to the text, and the tokens, that a model was trained on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/text/tokenizer.h"
#include "schema/chat_template.h"

namespace aicf::text {

struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// A stretch of a chat's text. Special tokens are looked for in the template's own text alone, so a
/// message that spells one out has its letters in it.
struct ChatPiece {
  std::string text;
  bool from_template = false;
};

struct ChatOptions {
  bool add_generation_prompt = true;  ///< the assistant is to answer
  std::string bos, eos;               ///< the tokenizer's, spelled out
};

/// The family that LanguageModel::chat_template names. Errors: kUnsupported where the model has no
/// template, or one of no family that is known, saying which there are.
Result<schema::ChatTemplate> ChatTemplateOf(std::string_view name);

/// The pieces of the chat's text, no two neighbours of the same kind. Families without a turn for
/// the system put its message into a question (SystemPlace). Errors: kInvalidArgument for no
/// messages, for another role, and where the system message does not come first but would have to.
Result<std::vector<ChatPiece>> ApplyChatTemplate(schema::ChatTemplate family,
                                                 std::span<const ChatMessage> messages,
                                                 const ChatOptions& options);

/// The chat's tokens, as if its text were encoded at once. It begins with bos where the template or
/// the tokenizer says so, never twice. Errors: those of ApplyChatTemplate and Tokenizer::Encode.
Result<std::vector<uint32_t>> EncodeChat(const Tokenizer& tokenizer, schema::ChatTemplate family,
                                         std::span<const ChatMessage> messages,
                                         bool add_generation_prompt = true);

}  // namespace aicf::text
