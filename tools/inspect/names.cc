#include "tools/inspect/names.h"

#include <algorithm>

#include "base/edit_distance.h"
#include "base/status.h"

namespace aicf::tools {

bool IsGlob(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

namespace {

constexpr size_t kMaxCompared = 300;  // bytes of a name; longer ones differ by their length anyway

std::string Lower(std::string_view text) {
  std::string out(text.substr(0, kMaxCompared));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string>& names,
                                      size_t count) {
  const std::string wanted = Lower(word);
  std::vector<std::pair<size_t, const std::string*>> found;
  for (const std::string& name : names) {
    const std::string own = Lower(name);
    const bool holds = !wanted.empty() && own.find(wanted) != std::string::npos;
    const size_t apart = holds ? 0 : EditDistance(wanted, own);
    if (!holds && apart * 2 > std::max(wanted.size(), own.size())) continue;
    found.emplace_back(apart, &name);
  }
  std::ranges::stable_sort(found, {}, [](const auto& f) { return f.first; });
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(count, found.size()); ++i) out.push_back(*found[i].second);
  return out;
}

}  // namespace aicf::tools
