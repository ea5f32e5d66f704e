#include "schema/loop_tree.h"

namespace aicf::schema {

// `open`: the innermost loop that the ones so far leave open where this one begins.
Status LoopTree::Add(const EntryPoint& entry, const Loop& loop, int* open) {
  const auto bad = [&](std::string_view why) {
    return Error(Code::kBadArtifact, "loop ", nodes_.size(), ": ", loop.step_count, " steps from ",
                 loop.first_step, " ", why);
  };
  Node node{loop.first_step, int64_t{loop.first_step} + loop.step_count, kNone, 1};
  const int64_t end = int64_t{entry.first_step} + entry.step_count;
  if (loop.step_count == 0 || node.begin < entry.first_step || node.end > end) {
    return bad(StrCat("leave the entry point's ", entry.step_count, " from ", entry.first_step));
  }
  if (!nodes_.empty() && node.begin < nodes_.back().begin) return bad("come after a later loop");
  while (*open != kNone && this->end(*open) <= node.begin) *open = ParentOf(*open);
  if (*open != kNone) {
    const Node& around = nodes_[static_cast<size_t>(*open)];
    if (node.end > around.end) return bad(StrCat("overlap the end of loop ", *open));
    if (node.begin == around.begin && node.end == around.end) {
      return bad(StrCat("are those of loop ", *open));
    }
    node.parent = *open;
    node.depth = around.depth + 1;
    if (node.depth > kMaxLoopDepth) return bad(StrCat("are inside ", kMaxLoopDepth, " loops"));
  }
  *open = static_cast<int>(nodes_.size());
  nodes_.push_back(node);
  return OkStatus();
}

Result<LoopTree> LoopTree::Build(const EntryPoint& entry) {
  LoopTree tree;
  tree.first_step_ = entry.first_step;
  int open = kNone;
  for (const Loop& loop : entry.loops) AICF_RETURN_IF_ERROR(tree.Add(entry, loop, &open));
  if (tree.nodes_.empty()) return tree;
  tree.innermost_.assign(entry.step_count, kNone);
  // One sweep: a loop takes over at its first step and gives back to its parent at its end.
  size_t next = 0;
  int current = kNone;
  for (int64_t step = entry.first_step; step < int64_t{entry.first_step} + entry.step_count;
       ++step) {
    while (current != kNone && tree.end(current) <= step) current = tree.ParentOf(current);
    while (next < tree.size() && tree.nodes_[next].begin == step) {
      current = static_cast<int>(next++);
    }
    tree.innermost_[static_cast<size_t>(step - entry.first_step)] = current;
  }
  return tree;
}

Result<LoopTree> LoopTree::Build(const Program& program) {
  EntryPoint all;
  all.step_count = static_cast<uint32_t>(program.steps.size());
  for (const EntryPoint& e : program.entry_points) {
    all.loops.insert(all.loops.end(), e.loops.begin(), e.loops.end());
  }
  return Build(all);
}

int LoopTree::InnermostOf(int64_t step) const {
  const int64_t at = step - first_step_;
  if (at < 0 || at >= static_cast<int64_t>(innermost_.size())) return kNone;
  return innermost_[static_cast<size_t>(at)];
}

std::pair<int64_t, int64_t> LoopTree::LiveRange(int64_t first, int64_t last) const {
  std::pair<int64_t, int64_t> live{first, last};
  // From each end outwards: through the loops that do not contain the other end, of which the
  // outermost decides.
  for (int l = InnermostOf(last); l != kNone && !ContainsStep(l, first); l = ParentOf(l)) {
    live.second = end(l) - 1;
  }
  for (int l = InnermostOf(first); l != kNone && !ContainsStep(l, last); l = ParentOf(l)) {
    live.first = begin(l);
  }
  return live;
}

}  // namespace aicf::schema
