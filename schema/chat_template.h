/// The families of chat templates that there are, and their names in an artifact
/// (LanguageModel::chat_template). What each does: chat_templates.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aicf::schema {

enum class ChatTemplate : uint8_t {
#define AICF_CHAT_TEMPLATE(id, name, ...) id,
#include "schema/chat_templates.def"
#undef AICF_CHAT_TEMPLATE
  kCount,
};

/// Stands in LanguageModel::chat_template for a template of no family that was known.
inline constexpr std::string_view kUnknownChatTemplate = "unknown";

std::string_view ChatTemplateName(ChatTemplate family);
std::optional<ChatTemplate> FindChatTemplate(std::string_view name);

}  // namespace aicf::schema
