// Steps that may run at the same time touch different bytes. Everything else in VerifyProgram looks
// at the steps in the order of the program. If any two accesses to one byte, one of which writes
// it, are ordered by the streams as they are in the program (StepOrder), every run that the streams
// allow gives the results of the program's order.
//
// Most steps are ordered with all others (StepOrder::Alone). No step before such a step runs beside
// a step after it, so only the stretches between such steps are looked at.
//
// A stretch of a model has a few accesses, which are compared in pairs. Where they are many, or
// where two of them clash, the stretch is looked at byte by byte, which also names the first fault.
//
// For that, each byte of arena and state block has a list of the accesses that a later one has to
// be compared with; neighbouring bytes with equal lists are one segment.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>

#include "base/scanner.h"
#include "schema/step_order.h"
#include "schema/verify_cover.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

// Limit of the pairs of accesses that are compared; a model has a few for each operand.
constexpr uint64_t kMaxPairs = uint64_t{1} << 26;
constexpr uint32_t kNoBuffer = std::numeric_limits<uint32_t>::max();

struct TimedAccess {
  uint32_t step;
  bool write;
  uint32_t buffer;        // kNoBuffer: none
  const abi::View* view;  // nullptr: all of it
  bool gapless = false;   // touches every byte of its range; asked where bytes are looked at
};

// Bytes of the arena or the state block that a step accesses.
struct Region {
  Storage space;
  uint64_t begin, end;
  TimedAccess access;
};

struct Segment {
  uint64_t end;
  std::vector<TimedAccess> accesses;
};
using Segments = std::map<uint64_t, Segment>;  // by first byte; without gaps where touched

// Whether the view touches every element between its first and its last one, whatever the order of
// its axes: walked from the smallest stride on, no axis leaves a gap between what the ones before
// it touch.
bool IsGapless(const abi::View& v) {
  const NamedElements named(v);
  int64_t reach = 1;  // at most the elements between the ends, which were computed already
  for (const NamedElements::Axis& a : named.axes()) {
    if (a.stride > reach) return false;
    reach += (a.extent - 1) * a.stride;
  }
  return true;
}

class RaceVerifier {
 public:
  explicit RaceVerifier(const VerifyContext& c) : c_(c), p_(c.program) {}

  Status Run() {
    for (const EntryPoint& e : p_.entry_points) {
      const StepOrder order(p_, e);
      if (order.serial()) continue;
      order_ = &order;
      AICF_RETURN_IF_ERROR(InEntryPoint(e, Entry(e)));
    }
    return OkStatus();
  }

 private:
  Status Entry(const EntryPoint& e) {
    const uint32_t end = e.first_step + e.step_count;
    for (uint32_t s = e.first_step; s < end; ++s) {
      stretch_.clear();
      // A stretch ends at a step that is Alone: all before it comes before all after it.
      for (; s < end && !order_->Alone(s); ++s) AddStep(s);
      AICF_RETURN_IF_ERROR(CheckStretch());
    }
    return OkStatus();
  }

  void AddStep(uint32_t s) {
    const Step& step = p_.steps[s];
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      AddOperand(s, /*write=*/false, step.inputs[k], step.problem.inputs[k]);
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      AddOperand(s, /*write=*/true, step.outputs[k], step.problem.outputs[k]);
    }
    if (step.workspace_bytes == 0) return;
    stretch_.push_back({Storage::kArena,
                        step.workspace_offset,
                        step.workspace_offset + step.workspace_bytes,
                        {s, true, kNoBuffer, nullptr}});
  }

  void AddOperand(uint32_t s, bool write, uint32_t buffer, const abi::View& view) {
    const Placement& place = c_.placements[buffer];
    if (place.space == Storage::kWeights || ElementsOfValid(view) == 0) return;
    const abi::Extent extent = ExtentOfValid(view);
    stretch_.push_back({place.space,
                        place.begin + static_cast<uint64_t>(extent.begin),
                        place.begin + static_cast<uint64_t>(extent.end),
                        {s, write, buffer, &view}});
  }

  Status CheckStretch() {
    constexpr size_t kFew = 32;
    if (stretch_.size() <= kFew && NoTwoClash()) return OkStatus();
    arena_.clear();
    state_.clear();
    for (Region& r : stretch_) {
      r.access.gapless = r.access.view == nullptr || IsGapless(*r.access.view);
      AICF_RETURN_IF_ERROR(
          Add(r.space == Storage::kState ? state_ : arena_, r.begin, r.end, r.access));
    }
    return OkStatus();
  }

  bool NoTwoClash() {
    for (size_t i = 1; i < stretch_.size(); ++i) {
      const Region& fresh = stretch_[i];
      for (size_t k = 0; k < i; ++k) {
        const Region& old = stretch_[k];
        if (old.begin < fresh.end && fresh.begin < old.end && old.space == fresh.space &&
            Clash(old.access, fresh.access)) {
          return false;
        }
      }
    }
    return true;
  }

  static void SplitAt(Segments& all, uint64_t at) {
    auto next = all.upper_bound(at);
    if (next == all.begin()) return;
    const auto found = std::prev(next);
    if (found->first == at || found->second.end <= at) return;
    Segment rest = found->second;
    found->second.end = at;
    all.emplace_hint(next, at, std::move(rest));
  }

  static void FillGaps(Segments& all, uint64_t begin, uint64_t end) {
    auto next = all.lower_bound(begin);
    while (begin < end) {
      const uint64_t stop = next == all.end() ? end : std::min(end, next->first);
      if (begin < stop) all.emplace_hint(next, begin, Segment{stop, {}});
      if (next == all.end() || next->first >= end) return;
      begin = next->second.end;
      ++next;
    }
  }

  Status Add(Segments& all, uint64_t begin, uint64_t end, const TimedAccess& fresh) {
    SplitAt(all, begin);
    SplitAt(all, end);
    FillGaps(all, begin, end);
    for (auto it = all.find(begin); it != all.end() && it->first < end; ++it) {
      std::vector<TimedAccess>& known = it->second.accesses;
      for (const TimedAccess& old : known) {
        if (++pairs_ > kMaxPairs) {
          return Error(Code::kResource, "too many accesses to bytes that several streams share");
        }
        AICF_RETURN_IF_ERROR(Compare(old, fresh, it->first));
      }
      std::erase_if(known, [&](const TimedAccess& old) { return Covers(fresh, old); });
      known.push_back(fresh);
    }
    return OkStatus();
  }

  // Whether two accesses to one byte are not ordered, and one of them writes.
  bool Clash(const TimedAccess& old, const TimedAccess& fresh) {
    if (old.step == fresh.step || (!old.write && !fresh.write)) return false;
    return !order_->Before(old.step, fresh.step) && !Apart(old, fresh);
  }

  Status Compare(const TimedAccess& old, const TimedAccess& fresh, uint64_t byte) {
    if (!Clash(old, fresh)) return OkStatus();
    return Error(Code::kBadArtifact, DescribeStep(p_, old.step), old.write ? " writes " : " reads ",
                 Name(old), " and ", DescribeStep(p_, fresh.step),
                 fresh.write ? " writes " : " reads ", Name(fresh), " at byte ", byte,
                 ", and neither waits for the other");
  }

  // Whether no later access has to be compared with `old` any more, because whatever comes after
  // `fresh` also comes after `old`, or cannot clash with it.
  bool Covers(const TimedAccess& fresh, const TimedAccess& old) const {
    if (!fresh.gapless) return false;
    if (fresh.write) return old.step == fresh.step || order_->Before(old.step, fresh.step);
    return !old.write && (old.step == fresh.step || order_->Before(old.step, fresh.step));
  }

  // Whether the accesses are to one buffer, or to two in place of each other, by views that share
  // no element.
  bool Apart(const TimedAccess& a, const TimedAccess& b) {
    if (a.view == nullptr || b.view == nullptr) return false;
    if (c_.placements[a.buffer].root != c_.placements[b.buffer].root) return false;
    const Buffer& one = p_.buffers[a.buffer];
    const Buffer& other = p_.buffers[b.buffer];
    if (one.bytes != other.bytes || DTypeBytes(a.view->dtype) != DTypeBytes(b.view->dtype)) {
      return false;
    }
    const int64_t elements = static_cast<int64_t>(one.bytes) / DTypeBytes(a.view->dtype);
    return prover_.Disjoint(elements, *a.view, *b.view);
  }

  std::string Name(const TimedAccess& a) const {
    return a.buffer == kNoBuffer ? "its workspace" : Describe(p_, a.buffer);
  }

  const VerifyContext& c_;
  const Program& p_;
  const StepOrder* order_ = nullptr;
  std::vector<Region> stretch_;
  Segments arena_, state_;
  CoverProver prover_;
  uint64_t pairs_ = 0;
};

}  // namespace

Status VerifyRaces(const VerifyContext& context) { return RaceVerifier(context).Run(); }

}  // namespace aicf::schema
