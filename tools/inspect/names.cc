#include "tools/inspect/names.h"

#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "tools/common/text.h"

namespace aicf::tools {

bool IsGlob(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

// Goes back to the last star only: linear in the product of the lengths at worst.
bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

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

std::string ShortList(const std::vector<std::string>& names, size_t shown) {
  std::string out;
  // "and 1 more" would be no shorter than the name.
  const size_t all = names.size() <= shown + 1 ? names.size() : shown;
  for (size_t i = 0; i < all; ++i) out += (i == 0 ? "" : ", ") + Escape(names[i]);
  if (all < names.size()) out += StrCat(" and ", names.size() - all, " more");
  return out;
}

}  // namespace aicf::tools
