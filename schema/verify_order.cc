// Definition before use: what each step may read and write, and that all it reads is written. A
// step may read a part of a buffer while other parts are still to come: the parts of a
// concatenation have readers of their own. What was read is not written again.
#include "base/scanner.h"
#include "schema/verify_cover.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

constexpr int32_t kNone = -1;

// What one entry point has done to a buffer so far. `epoch` tells the tracks of the current entry
// point from older ones, so that they need not all be reset for each entry point.
struct Track {
  uint32_t epoch = 0;
  int32_t last_write = kNone;   // newest of a list through Write::previous
  int64_t last_writer = kNone;  // step; of a carried buffer only
  bool listed = false;          // an input of this entry point
  bool whole = false;           // every element is written
  int64_t written = 0;          // elements of all writes together
  int home = LoopTree::kNone;   // carried: loop of the first write; else: of the innermost write
  bool read = false;
};

// A write of a buffer, or several writes that together name what one view would. `view` is the
// first one's; only `named` has the elements of all of them.
struct Write {
  const abi::View* view;
  int32_t previous;
  int32_t named = kNone;  // index into named_; kNone until it is asked for
};

class OrderVerifier {
 public:
  explicit OrderVerifier(const VerifyContext& c)
      : c_(c), p_(c.program), tracks_(p_.buffers.size()) {}

  Status Run() {
    for (size_t i = 0; i < p_.entry_points.size(); ++i) {
      const EntryPoint& e = p_.entry_points[i];
      loops_ = &c_.loops[i];
      AICF_RETURN_IF_ERROR(InEntryPoint(e, Entry(e)));
    }
    return OkStatus();
  }

 private:
  Track& At(uint32_t buffer) {
    Track& t = tracks_[buffer];
    if (t.epoch != epoch_) {
      t = Track{};
      t.epoch = epoch_;
    }
    return t;
  }

  Status Entry(const EntryPoint& e) {
    ++epoch_;
    writes_.clear();
    named_.clear();
    for (uint32_t b : e.inputs) At(b).listed = true;
    for (uint32_t b : e.metas) At(b).listed = true;
    current_ = LoopTree::kNone;
    size_t next = 0;
    for (uint32_t i = e.first_step; i < e.first_step + e.step_count; ++i) {
      AICF_RETURN_IF_ERROR(LeaveLoops(e, i));
      for (; next < e.loops.size() && e.loops[next].first_step == i; ++next) {
        AICF_RETURN_IF_ERROR(ReadWhole(e.loops[next].condition).WithContext(StrCat("loop ", next)));
        current_ = static_cast<int>(next);
      }
      Status status = RunStep(i);
      if (!status.ok()) return status.WithContext(DescribeStep(p_, i));
    }
    AICF_RETURN_IF_ERROR(LeaveLoops(e, int64_t{e.first_step} + e.step_count));
    for (uint32_t b : e.outputs) {
      AICF_RETURN_IF_ERROR(CheckReach(b, At(b)));
      if (!Whole(b, At(b))) {
        return Error(Code::kBadArtifact, "output ", Describe(p_, b), ": ", CheckWhole(b, At(b)));
      }
    }
    return OkStatus();
  }

  // Closes the loops that end before `step`.
  Status LeaveLoops(const EntryPoint& e, int64_t step) {
    for (; current_ != LoopTree::kNone && loops_->end(current_) <= step;
         current_ = loops_->ParentOf(current_)) {
      const uint32_t condition = e.loops[static_cast<size_t>(current_)].condition;
      if (At(condition).last_writer >= loops_->begin(current_)) continue;
      return Error(Code::kBadArtifact, "loop ", current_, ": no step of it writes its condition ",
                   Describe(p_, condition));
    }
    return OkStatus();
  }

  // What a loop writes may not be used outside of it, because the loop may make no trip.
  Status CheckReach(uint32_t b, const Track& t) const {
    if (loops_->Contains(t.home, current_)) return OkStatus();
    return Error(Code::kBadArtifact, Describe(p_, b), " is used outside loop ", t.home,
                 ", which writes it and may make no trip");
  }

  Status RunStep(uint32_t index) {
    const Step& s = p_.steps[index];
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      AICF_RETURN_IF_ERROR(Read(s.inputs[k], &s.problem.inputs[k]));
    }
    for (const Guard& g : s.guards) AICF_RETURN_IF_ERROR(ReadWhole(g.buffer));
    for (size_t k = 0; k < s.outputs.size(); ++k) {
      AICF_RETURN_IF_ERROR(CheckSameStep(index, k));
      AICF_RETURN_IF_ERROR(RecordWrite(index, s.outputs[k], s.problem.outputs[k]));
    }
    return OkStatus();
  }

  Status ReadWhole(uint32_t b) { return Read(b, nullptr); }

  // A read of the view's elements, or (nullptr) of all.
  Status Read(uint32_t b, const abi::View* view) {
    Track& t = At(b);
    switch (p_.buffers[b].role) {
      case Role::kConstant:
      case Role::kState:  // never undefined; see VerifyState
        return OkStatus();
      case Role::kInput:
      case Role::kMeta:
        if (t.listed) return OkStatus();
        return Error(Code::kBadArtifact, "reads ", Describe(p_, b),
                     ", which is no input of this entry point");
      default:
        break;
    }
    t.read = true;
    AICF_RETURN_IF_ERROR(CheckReach(b, t));
    if (Whole(b, t) || PartIsWritten(b, t, view)) return OkStatus();
    return Error(Code::kBadArtifact, "reads ", Describe(p_, b), " too early: ", CheckWhole(b, t));
  }

  // A carried buffer is read whole or not at all: it changes where it is, from trip to trip.
  bool PartIsWritten(uint32_t b, const Track& t, const abi::View* view) {
    if (view == nullptr || p_.buffers[b].role == Role::kCarried) return false;
    if (t.last_write == kNone) return false;
    return prover_.Covers(ElementsOf(p_.buffers[b]), *view, PartsOf(t));
  }

  Status RecordWrite(uint32_t step, uint32_t b, const abi::View& view) {
    const Role role = p_.buffers[b].role;
    if (IsState(p_.buffers[b])) {
      return Error(Code::kBadArtifact, "writes ", Describe(p_, b),
                   ", a state's old value, instead of a buffer in its place");
    }
    if (role == Role::kState) return OkStatus();  // see VerifyState
    if (role == Role::kCarried) return RecordCarried(step, b, view);
    if (role != Role::kTemp && role != Role::kOutput) {
      return Error(Code::kBadArtifact, "writes ", Describe(p_, b), ", ", RoleWithArticle(role));
    }
    Track& t = At(b);
    // What was read had been written before, so a part that is apart from all writes has not been
    // read.
    if (t.read && (t.whole || !ApartFromWrites(b, t, view))) {
      return Error(Code::kBadArtifact, "writes ", Describe(p_, b), " after it was read");
    }
    if (!loops_->Contains(current_, t.home)) AICF_RETURN_IF_ERROR(CheckReach(b, t));
    if (loops_->Contains(t.home, current_)) t.home = current_;
    Append(t, view);
    return OkStatus();
  }

  // Until it is whole, a carried buffer is written like any other; then it may change.
  Status RecordCarried(uint32_t step, uint32_t b, const abi::View& view) {
    Track& t = At(b);
    if (t.last_write == kNone) t.home = current_;
    AICF_RETURN_IF_ERROR(CheckReach(b, t));
    t.last_writer = step;
    if (current_ == t.home && !t.whole) {
      Append(t, view);
      return OkStatus();
    }
    if (Whole(b, t)) return OkStatus();
    return Error(Code::kBadArtifact, "changes ", Describe(p_, b), " too early: ", CheckWhole(b, t));
  }

  bool ApartFromWrites(uint32_t b, const Track& t, const abi::View& view) {
    return prover_.Apart(ElementsOf(p_.buffers[b]), view, PartsOf(t));
  }

  // The elements of a write, computed once and kept: the parts of a concatenation are asked for
  // whenever a further one is read.
  NamedElements& NamedBy(Write& w) {
    if (w.named == kNone) {
      w.named = static_cast<int32_t>(named_.size());
      named_.emplace_back(*w.view);
    }
    return named_[static_cast<size_t>(w.named)];
  }

  // The elements that the writes of a buffer name; writes that were joined are one part. Valid
  // until the next write of any buffer or the next call.
  CoverProver::Parts PartsOf(const Track& t) {
    parts_.clear();
    for (int32_t w = t.last_write; w != kNone; w = writes_[w].previous) NamedBy(writes_[w]);
    for (int32_t w = t.last_write; w != kNone; w = writes_[w].previous) {
      const NamedElements& named = NamedBy(writes_[w]);
      if (!named.empty()) parts_.push_back(&named);
    }
    return parts_;
  }

  void Append(Track& t, const abi::View& view) {
    t.written += ElementsOfValid(view);  // fits: 2^40 elements, a million steps of four outputs
    if (t.last_write != kNone && JoinsLast(writes_[t.last_write], view)) return;
    writes_.push_back({&view, t.last_write});
    t.last_write = static_cast<int32_t>(writes_.size()) - 1;
  }

  // Joins a write to the last one where they lie next to each other, as the parts of a
  // concatenation mostly do: a later read then finds one part instead of many.
  bool JoinsLast(Write& last, const abi::View& view) {
    const NamedElements fresh(view);
    NamedElements& before = NamedBy(last);
    if (before.Join(fresh)) return true;
    NamedElements both = fresh;
    if (!both.Join(before)) return false;
    before = both;
    return true;
  }

  // Whether all elements are written, each once. A yes is kept until the next entry point: a buffer
  // that was read whole is not written again or, if it is carried, changes but stays whole.
  bool Whole(uint32_t b, Track& t) {
    if (t.whole) return true;
    // A buffer may be read after each of its writes. The writes are looked at only when they have
    // as many elements as the buffer, not at every read.
    if (t.written != ElementsOf(p_.buffers[b])) return false;
    // No write, nor several that were joined, names an element twice: a single one with as many
    // elements as the buffer names each of them.
    const bool single = t.last_write != kNone && writes_[t.last_write].previous == kNone;
    t.whole = single || CheckWhole(b, t).empty();
    return t.whole;
  }

  // Empty, or why the buffer is not whole. Asked for only where the number of elements fits, or for
  // the text of an error: a buffer that is read in parts is looked at many times before it is
  // whole.
  std::string CheckWhole(uint32_t b, const Track& t) {
    return prover_.CheckPartition(ElementsOf(p_.buffers[b]), PartsOf(t));
  }

  // Within one step the order of accesses is the kernel's own: a buffer that output `k` shares with
  // another operand is legal only in place or where the views are apart.
  Status CheckSameStep(uint32_t index, size_t k) {
    const Step& s = p_.steps[index];
    const uint32_t b = s.outputs[k];
    for (size_t j = 0; j < k; ++j) {
      if (s.outputs[j] == b && !Apart(b, s.problem.outputs[j], s.problem.outputs[k])) {
        return Error(Code::kBadArtifact, "outputs ", j, " and ", k, " overlap in ",
                     Describe(p_, b));
      }
    }
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      if (s.inputs[i] != b) continue;
      if (MayOverwrite(*c_.kernels[index], s.problem, i, k)) continue;
      if (!Apart(b, s.problem.inputs[i], s.problem.outputs[k])) {
        return Error(Code::kBadArtifact, "input ", i, " and output ", k, " overlap in ",
                     Describe(p_, b), ", which the kernel does not allow");
      }
    }
    return OkStatus();
  }

  bool Apart(uint32_t b, const abi::View& one, const abi::View& other) {
    return prover_.Disjoint(ElementsOf(p_.buffers[b]), one, other);
  }

  const VerifyContext& c_;
  const Program& p_;
  std::vector<Track> tracks_;
  std::vector<Write> writes_;
  std::vector<NamedElements> named_;         // of those of writes_ that were asked for
  std::vector<const NamedElements*> parts_;  // of PartsOf
  CoverProver prover_;
  const LoopTree* loops_ = nullptr;
  int current_ = LoopTree::kNone;  // the innermost loop around the step at hand
  uint32_t epoch_ = 0;
};

}  // namespace

Status VerifyOrder(const VerifyContext& context) { return OrderVerifier(context).Run(); }

}  // namespace aicf::schema
