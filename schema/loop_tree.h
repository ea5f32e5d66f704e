/// The loops of an entry point as a tree: which contains which, and what must live how long.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.h"
#include "schema/program.h"

namespace aicf::schema {

/// Loops are known by their position in EntryPoint::loops.
class LoopTree {
 public:
  static constexpr int kNone = -1;  ///< outside all loops

  LoopTree() = default;
  /// REQUIRES: first_step + step_count of the entry point does not overflow.
  /// Errors: kBadArtifact for ranges that leave the entry point, overlap in part, are equal, out of
  /// order, or nested deeper than kMaxLoopDepth.
  static Result<LoopTree> Build(const EntryPoint& entry);

  /// All loops of a program, in the order of its entry points; before a plan is verified, too.
  /// REQUIRES: the entry points cut the steps into consecutive ranges.
  static Result<LoopTree> Build(const Program& program);

  size_t size() const { return nodes_.size(); }
  /// First step, and the one after the last.
  int64_t begin(int loop) const { return nodes_[static_cast<size_t>(loop)].begin; }
  int64_t end(int loop) const { return nodes_[static_cast<size_t>(loop)].end; }
  /// The loop directly around this one.
  int ParentOf(int loop) const { return nodes_[static_cast<size_t>(loop)].parent; }
  /// The innermost loop around a step; kNone also for a step that is not of the entry point.
  int InnermostOf(int64_t step) const;
  /// Whether whatever is in `inner` is in `outer` too.
  bool Contains(int outer, int inner) const {
    return outer == kNone ||
           (inner != kNone && begin(outer) <= begin(inner) && end(inner) <= end(outer));
  }
  bool ContainsStep(int outer, int64_t step) const {
    return outer == kNone || (begin(outer) <= step && step < end(outer));
  }

  /// First and last step during which a buffer lives, if `first` and `last` are the first and the
  /// last step that name it. Where a loop contains only one of these, the buffer lives during the
  /// whole loop, because a value that enters a loop is needed in every trip.
  std::pair<int64_t, int64_t> LiveRange(int64_t first, int64_t last) const;

 private:
  struct Node {
    int64_t begin = 0, end = 0;
    int parent = kNone;
    uint64_t depth = 1;
  };
  Status Add(const EntryPoint& entry, const Loop& loop, int* open);

  int64_t first_step_ = 0;
  std::vector<Node> nodes_;
  std::vector<int> innermost_;  ///< by step of the entry point; empty without loops
};

}  // namespace aicf::schema
