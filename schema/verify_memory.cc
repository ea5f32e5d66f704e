// Bytes live at once. Buffers and workspaces are rectangles, steps x bytes; a sweep over the steps
// keeps those of the current step ordered by address, where only neighbours can overlap.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <memory_resource>
#include <numeric>

#include "base/checked.h"
#include "base/scanner.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

constexpr uint32_t kWorkspace = std::numeric_limits<uint32_t>::max();

// Bytes [begin, end) of the arena at steps [first, last].
struct Range {
  int64_t first, last;
  uint64_t begin, end;
  uint32_t buffer;  // kWorkspace: of step `first`
};

struct Life {
  uint32_t epoch = 0;
  int64_t first = 0, last = 0;
};

class MemoryVerifier {
 public:
  explicit MemoryVerifier(const VerifyContext& c)
      : c_(c), p_(c.program), lives_(p_.buffers.size()) {}

  Status Run() {
    for (size_t i = 0; i < p_.entry_points.size(); ++i) {
      const EntryPoint& e = p_.entry_points[i];
      loops_ = &c_.loops[i];
      AICF_RETURN_IF_ERROR(InEntryPoint(e, Entry(e)));
    }
    return CheckArena();
  }

 private:
  std::string Name(const Range& r) const {
    const std::string what =
        r.buffer == kWorkspace ? StrCat("the workspace of step ", r.first) : Describe(p_, r.buffer);
    return StrCat(what, " [", r.begin, ", ", r.end, ")");
  }

  Status Overlap(const Range& a, const Range& b, int64_t step) const {
    return Error(Code::kBadArtifact, Name(a), " and ", Name(b),
                 " overlap while both are live at step ", step);
  }

  Range RangeOf(uint32_t b, int64_t first, int64_t last) const {
    return {first, last, c_.placements[b].begin, c_.placements[b].end, b};
  }

  void Touch(uint32_t b, int64_t step) {
    if (c_.placements[b].space != Storage::kArena || p_.buffers[b].bytes == 0) return;
    Life& life = lives_[b];
    if (life.epoch != epoch_) {
      life = {epoch_, step, step};
      touched_.push_back(b);
    }
    life.last = std::max(life.last, step);
  }

  // Every range that is live during the entry point.
  void CollectRanges(const EntryPoint& e) {
    const int64_t before = static_cast<int64_t>(e.first_step) - 1;
    const int64_t after = static_cast<int64_t>(e.first_step) + e.step_count;
    ++epoch_;
    touched_.clear();
    ranges_.clear();
    for (const std::vector<uint32_t>* list : {&e.inputs, &e.metas}) {
      for (uint32_t b : *list) {
        Touch(b, before);
        Touch(b, after);
      }
    }
    for (int64_t i = e.first_step; i < after; ++i) {
      const Step& s = p_.steps[i];
      for (uint32_t b : s.inputs) Touch(b, i);
      for (const Guard& g : s.guards) Touch(g.buffer, i);
      for (uint32_t b : s.outputs) Touch(b, i);
      if (s.workspace_bytes != 0) {
        ranges_.push_back(
            {i, i, s.workspace_offset, s.workspace_offset + s.workspace_bytes, kWorkspace});
      }
    }
    for (uint32_t b : e.outputs) Touch(b, after);
    for (uint32_t b : touched_) {
      const auto [first, last] = loops_->LiveRange(lives_[b].first, lives_[b].last);
      ranges_.push_back(RangeOf(b, first, last));
    }
  }

  // The ranges by their first or last steps, which go from the one before the entry point to the
  // one after it. Stable, so that which of two faults is reported follows from the program.
  void OrderBy(int64_t Range::*step, const EntryPoint& e, std::vector<uint32_t>& order) {
    const int64_t before = static_cast<int64_t>(e.first_step) - 1;
    places_.assign(size_t{e.step_count} + 3, 0);
    for (const Range& r : ranges_) ++places_[static_cast<size_t>(r.*step - before) + 1];
    std::partial_sum(places_.begin(), places_.end(), places_.begin());
    order.resize(ranges_.size());
    for (uint32_t i = 0; i < ranges_.size(); ++i) {
      order[places_[static_cast<size_t>(ranges_[i].*step - before)]++] = i;
    }
  }

  Status Entry(const EntryPoint& e) {
    CollectRanges(e);
    OrderBy(&Range::first, e, by_first_);
    OrderBy(&Range::last, e, by_last_);
    live_.clear();
    nodes_.release();
    size_t expired = 0;
    for (uint32_t i : by_first_) {
      for (; ranges_[by_last_[expired]].last < ranges_[i].first; ++expired) {
        Expire(by_last_[expired]);
      }
      AICF_RETURN_IF_ERROR(Insert(i));
    }
    return OkStatus();
  }

  // An in-place successor may have taken the place over already.
  void Expire(uint32_t index) {
    const auto it = live_.find(ranges_[index].begin);
    if (it != live_.end() && it->second == index) live_.erase(it);
  }

  Status Insert(uint32_t index) {
    const Range& r = ranges_[index];
    auto next = live_.lower_bound(r.begin);
    if (next != live_.begin()) {
      const Range& below = ranges_[std::prev(next)->second];
      if (below.end > r.begin) return Overlap(below, r, r.first);
    }
    if (next == live_.end() || ranges_[next->second].begin >= r.end) {
      live_.emplace_hint(next, r.begin, index);
      return OkStatus();
    }
    const Range& old = ranges_[next->second];
    if (!MayReplace(old, r)) return Overlap(old, r, r.first);
    next->second = index;
    return OkStatus();
  }

  // Whether `fresh`, first written at a step, may take over the bytes of `old`: both are declared
  // the same storage, this step is the last that names `old`, and it reads it in place.
  bool MayReplace(const Range& old, const Range& fresh) const {
    if (old.buffer == kWorkspace || fresh.buffer == kWorkspace) return false;
    if (c_.placements[old.buffer].root != c_.placements[fresh.buffer].root) return false;
    if (old.last != fresh.first || fresh.first >= static_cast<int64_t>(p_.steps.size()))
      return false;
    // A later trip would read what this one overwrote.
    if (!loops_->ContainsStep(loops_->InnermostOf(fresh.first), old.first)) return false;
    const Step& s = p_.steps[fresh.first];
    if (s.outputs[0] != fresh.buffer) return false;
    bool reads = false;
    for (const Guard& g : s.guards) {
      if (g.buffer == old.buffer) return false;
    }
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      if (s.inputs[i] != old.buffer) continue;
      if (!MayOverwrite(*c_.kernels[fresh.first], s.problem, i, 0)) return false;
      reads = true;
    }
    return reads;
  }

  Status CheckArena() const {
    uint64_t used = 0;
    for (const Placement& place : c_.placements) {
      if (place.space == Storage::kArena && place.begin != place.end)
        used = std::max(used, place.end);
    }
    for (const Step& s : p_.steps) {
      if (s.workspace_bytes != 0) used = std::max(used, s.workspace_offset + s.workspace_bytes);
    }
    uint64_t rounded = 0;
    if (CheckedAlignUp(used, kBufferAlignment, &rounded) && p_.arena_bytes <= rounded) {
      return OkStatus();
    }
    return Error(Code::kBadArtifact, "arena of ", p_.arena_bytes, " bytes, only ", used,
                 " are used");
  }

  const VerifyContext& c_;
  const Program& p_;
  std::vector<Life> lives_;
  std::vector<uint32_t> touched_;
  std::vector<Range> ranges_;
  std::vector<uint32_t> by_first_, by_last_;  // indices into ranges_
  std::vector<uint32_t> places_;              // of OrderBy
  // Memory for the nodes of live_: each range becomes a node at most once, and all nodes are freed
  // together. The first ones lie in first_nodes_.
  std::array<std::byte, 8192> first_nodes_;
  std::pmr::monotonic_buffer_resource nodes_{first_nodes_.data(), first_nodes_.size()};
  // begin -> index into ranges_; never overlapping
  std::pmr::map<uint64_t, uint32_t> live_{&nodes_};
  const LoopTree* loops_ = nullptr;  // of the entry point at hand
  uint32_t epoch_ = 0;
};

}  // namespace

Status VerifyMemory(const VerifyContext& context) { return MemoryVerifier(context).Run(); }

}  // namespace aicf::schema
