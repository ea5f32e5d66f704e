#include "compiler/check/gap_list.h"

#include <algorithm>

#include "compiler/check/help.h"

namespace aicf {

void GapList::Add(Section section, size_t place, std::string subject, std::string_view node,
                  std::string problem, std::string help, std::string_view op) {
  const auto [known, added] =
      index_.emplace(std::tuple(section, subject, problem), entries_.size());
  if (!added) {
    Entry& same = entries_[known->second];
    // A node's repetitions follow each other.
    std::vector<std::string>& nodes = same.gap.nodes;
    if (!node.empty() && (nodes.empty() || nodes.back() != node)) nodes.emplace_back(node);
    same.place = std::min(same.place, place);
    return;
  }
  if (help.empty()) help = HelpAgainst(op, problem);
  Gap gap{std::move(subject), {}, std::move(problem), std::move(help)};
  if (!node.empty()) gap.nodes.emplace_back(node);
  entries_.push_back({section, place, std::move(gap)});
}

void GapList::Remove(Section section, const std::string& subject, const std::string& problem) {
  const auto known = index_.find(std::tuple(section, subject, problem));
  if (known == index_.end()) return;
  entries_[known->second].removed = true;
  index_.erase(known);
}

std::vector<Gap> GapList::InOrder() && {
  std::erase_if(entries_, [](const Entry& e) { return e.removed; });
  std::ranges::stable_sort(entries_, [](const Entry& a, const Entry& b) {
    return a.section != b.section ? a.section < b.section : a.place < b.place;
  });
  std::vector<Gap> out;
  for (Entry& e : entries_) out.push_back(std::move(e.gap));
  return out;
}

}  // namespace aicf
