#include "runtime/text/white.h"

#include <utf8proc.h>

#include "base/utf8.h"

namespace aicf::text {
namespace {

bool IsWhite(int32_t point) {
  if (point < 0) return false;
  const auto category = utf8proc_category(point);
  return (point >= 9 && point <= 13) || point == 0x85 ||
         (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
}

}  // namespace

int32_t PointAt(std::string_view text) {
  int32_t point = -1;
  const size_t length = text.empty() ? 0 : Utf8Length(text);
  if (length != 0) {
    utf8proc_iterate(reinterpret_cast<const uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(length), &point);
  }
  return point;
}

std::string_view LastCharacter(std::string_view text) {
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    const std::string_view last = text.substr(text.size() - length);
    if (Utf8Length(last) == length) return last;
  }
  return {};
}

size_t WhiteAtEnd(std::string_view text) {
  size_t bytes = 0;
  for (;;) {
    const std::string_view last = LastCharacter(text.substr(0, text.size() - bytes));
    if (!IsWhite(PointAt(last))) return bytes;
    bytes += last.size();
  }
}

size_t WhiteAtStart(std::string_view text) {
  size_t bytes = 0;
  while (IsWhite(PointAt(text.substr(bytes)))) bytes += Utf8Length(text.substr(bytes));
  return bytes;
}

}  // namespace aicf::text
