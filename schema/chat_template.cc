#include "schema/chat_template.h"

#include <algorithm>
#include <iterator>

namespace aicf::schema {
namespace {

constexpr std::string_view kChatNames[] = {
#define AICF_CHAT_TEMPLATE(id, name, ...) name,
#include "schema/chat_templates.def"
#undef AICF_CHAT_TEMPLATE
};

}  // namespace

std::string_view ChatTemplateName(ChatTemplate family) {
  return kChatNames[static_cast<size_t>(family)];
}

std::optional<ChatTemplate> FindChatTemplate(std::string_view name) {
  const auto found = std::ranges::find(kChatNames, name);
  if (found == std::end(kChatNames)) return std::nullopt;
  return static_cast<ChatTemplate>(found - kChatNames);
}

}  // namespace aicf::schema
