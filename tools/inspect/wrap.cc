#include "tools/inspect/wrap.h"

#include "tools/common/text.h"

namespace aicf::tools {

std::string Wrap(std::string_view first, std::string_view indent, std::string_view text,
                 size_t width) {
  std::string out;
  std::string line(first);
  bool fresh = true;  // no word in the line yet
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty()) continue;
    if (!fresh && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      out += line + "\n";
      line = indent;
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  out += line;
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace aicf::tools
