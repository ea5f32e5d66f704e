// Finds the stories that the argument of --explain asks for.
#include <algorithm>

#include "base/pattern.h"
#include "tools/common/flags.h"
#include "tools/common/text.h"
#include "tools/inspect/names.h"
#include "tools/inspect/story.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kStep = "step.";
constexpr std::string_view kNode = "node.";

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

class Finder {
 public:
  Finder(const Evidence& evidence, std::vector<size_t> entries)
      : evidence_(evidence), entries_(std::move(entries)) {
    for (size_t e : entries_) nodes_.push_back(evidence.NodesOf(e));
  }

  // Adds the node's story in the first entry point that has the node.
  bool AddNode(std::string_view name, std::vector<Story>& out) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!std::ranges::binary_search(nodes_[i], name)) continue;
      out.push_back(StoryOfNode(evidence_, entries_[i], std::string(name)));
      return true;
    }
    return false;
  }

  void AddMatching(std::string_view pattern, std::vector<Story>& out) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      for (const std::string& name : nodes_[i]) {
        if (MatchesPattern(pattern, name)) out.push_back(StoryOfNode(evidence_, entries_[i], name));
      }
      if (!out.empty()) return;
    }
  }

  Status Unknown(std::string_view what) const {
    std::vector<std::string> all;
    for (const auto& names : nodes_) all.insert(all.end(), names.begin(), names.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::string near;
    for (const std::string& name : NearestNames(what, all, 3)) {
      near += StrCat(near.empty() ? "; did you mean '" : "', '", name);
    }
    if (!near.empty()) {
      near += "'?";
    } else if (!all.empty()) {
      near = StrCat(", such as '", all[0], "'");
    }
    // A node that became no step of its own is known from decisions alone.
    const std::string stripped = evidence_.stripped ? StrCat("; ", kStripped) : "";
    return Error(Code::kInvalidArgument, "--explain: no source node '", what, "' among ",
                 all.size(), near, stripped);
  }

 private:
  const Evidence& evidence_;
  std::vector<size_t> entries_;
  std::vector<std::vector<std::string>> nodes_;  // parallel to entries_, sorted
};

Result<std::vector<size_t>> EntriesNamed(const schema::Program& program, std::string_view name) {
  std::vector<size_t> entries;
  std::vector<std::string> names;
  for (size_t e = 0; e < program.entry_points.size(); ++e) {
    names.push_back(program.entry_points[e].name);
    if (name.empty() || program.entry_points[e].name == name) entries.push_back(e);
  }
  if (!entries.empty()) return entries;
  return Error(Code::kInvalidArgument, "--entry: no entry point '", name, "'; there are ",
               Join(names, ", "));
}

Result<std::vector<Story>> FindStep(const Evidence& evidence, std::string_view number,
                                    const std::vector<size_t>& entries) {
  const auto count = static_cast<int64_t>(evidence.program->steps.size());
  if (count == 0) return Status(Code::kInvalidArgument, "--explain: the program has no steps");
  AICF_ASSIGN_OR_RETURN(const int64_t step, ParseInt("--explain", number, 0, count - 1));
  Story story = StoryOfStep(evidence, static_cast<uint32_t>(step));
  if (std::ranges::find(entries, story.entry) == entries.end()) {
    const schema::EntryPoint& e = evidence.program->entry_points[entries[0]];
    return Error(Code::kInvalidArgument, "--explain: step ", step, " is of entry point '",
                 evidence.program->entry_points[story.entry].name, "'; '", e.name, "' has ",
                 e.step_count, " from ", e.first_step);
  }
  std::vector<Story> out;
  out.push_back(std::move(story));
  return out;
}

}  // namespace

Result<std::vector<Story>> FindStories(const Evidence& evidence, std::string_view what,
                                       std::string_view entry) {
  AICF_ASSIGN_OR_RETURN(const std::vector<size_t> entries, EntriesNamed(*evidence.program, entry));
  if (entries.empty()) return Status(Code::kInvalidArgument, "--explain: no entry point");
  if (IsNumber(what)) return FindStep(evidence, what, entries);
  if (what.starts_with(kStep) && IsNumber(what.substr(kStep.size()))) {
    return FindStep(evidence, what.substr(kStep.size()), entries);
  }
  const Finder finder(evidence, entries);
  std::vector<Story> out;
  if (finder.AddNode(what, out)) return out;
  if (what.starts_with(kNode) && finder.AddNode(what.substr(kNode.size()), out)) return out;
  if (IsGlob(what)) finder.AddMatching(what, out);
  if (out.empty()) return finder.Unknown(what);
  return out;
}

}  // namespace aicf::tools
