#include "compiler/import/tokenizer/chat_markers.h"

#include <algorithm>
#include <vector>

#include "schema/chat_template.h"

namespace aicf {
namespace {

struct ChatMarkers {
  schema::ChatTemplate family;
  std::vector<std::string_view> present, absent;
};

const std::vector<ChatMarkers>& AllChatMarkers() {
#define AICF_UNWRAPPED(...) __VA_ARGS__
  static const std::vector<ChatMarkers> markers = {
#define AICF_CHAT_MARKERS(id, present, absent) \
  {schema::ChatTemplate::id, AICF_UNWRAPPED present, AICF_UNWRAPPED absent},
#include "compiler/import/tokenizer/chat_markers.def"
#undef AICF_CHAT_MARKERS
  };
#undef AICF_UNWRAPPED
  return markers;
}

// Makes line feeds of the two characters "\n" in literals: files have either.
std::string WithLineFeeds(std::string_view text) {
  std::string out;
  for (size_t at; (at = text.find("\\n")) != text.npos; text.remove_prefix(at + 2)) {
    out.append(text.substr(0, at)).push_back('\n');
  }
  return out.append(text);
}

}  // namespace

std::string RecognizeChatTemplate(std::string_view given) {
  if (given.empty()) return "";
  const std::string text = WithLineFeeds(given);
  const auto in_text = [&](std::string_view marker) { return text.find(marker) != text.npos; };
  for (const ChatMarkers& markers : AllChatMarkers()) {
    if (std::ranges::all_of(markers.present, in_text) &&
        std::ranges::none_of(markers.absent, in_text)) {
      return std::string(schema::ChatTemplateName(markers.family));
    }
  }
  return std::string(schema::kUnknownChatTemplate);
}

}  // namespace aicf
