#include "runtime/text/chat_form.h"

namespace aicf::text {
namespace {

constexpr ChatForm kChatForms[] = {
#define AICF_CHAT_TEMPLATE(id, name, ...) {__VA_ARGS__},
#include "schema/chat_templates.def"
#undef AICF_CHAT_TEMPLATE
};

}  // namespace

const ChatForm& FormOf(schema::ChatTemplate family) {
  return kChatForms[static_cast<size_t>(family)];
}

}  // namespace aicf::text
