#include "runtime/text/valid_utf8.h"

#include <cstdint>

#include "base/utf8.h"

namespace aicf::text {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Whether `start` can be the beginning of a character: some bytes after it make it one. Trying the
// smallest and the largest continuation is enough, because only the second byte has a range of its
// own.
bool MayGoOn(std::string_view start) {
  for (const char fill : {'\x80', '\xbf'}) {
    std::string tried(start);
    while (tried.size() < 4) {
      tried += fill;
      if (Utf8Length(tried) == tried.size()) return true;
    }
  }
  // E0 and F0 refuse 80, ED and F4 refuse BF, after which any continuation will do: both were
  // tried.
  return false;
}

// The longest beginning of a character at the start of `text`, at least one byte.
size_t BrokenLength(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && length < 4 && MayGoOn(text.substr(0, length + 1))) ++length;
  return length;
}

}  // namespace

void TakeValidUtf8(std::string* bytes, std::string* out) {
  std::string_view rest = *bytes;
  while (!rest.empty()) {
    const size_t length = Utf8Length(rest);
    if (length != 0) {
      out->append(rest.substr(0, length));
      rest.remove_prefix(length);
      continue;
    }
    if (rest.size() < 4 && MayGoOn(rest)) break;
    out->append(kReplacement);
    rest.remove_prefix(BrokenLength(rest));
  }
  bytes->erase(0, bytes->size() - rest.size());
}

std::string ToValidUtf8(std::string bytes) {
  std::string out;
  TakeValidUtf8(&bytes, &out);
  if (!bytes.empty()) out.append(kReplacement);
  return out;
}

}  // namespace aicf::text
