// State: what lives across replays, in a block of its own. A state's value from before the replay
// is a buffer in that block; each of its later values is a buffer in place of the one before. All
// of them are the same bytes, so what must be shown is that nobody reads a value after a later one
// has overwritten what he reads. Views are compared element by element where order alone does not
// show it; a kernel that writes rows which its data choose says so by a view of all rows that it
// may reach.
#include <algorithm>
#include <map>
#include <set>

#include "base/checked.h"
#include "base/scanner.h"
#include "kernels/abi/packing.h"
#include "schema/verify.h"
#include "schema/verify_cover.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

// Limit of the pairs of accesses to states that are looked at; a model has a few thousand.
constexpr uint64_t kMaxStatePairs = uint64_t{1} << 26;

struct StateAccess {
  uint32_t step;
  uint32_t buffer;
  uint32_t version;  // updates before this value, in the order of the replay
  size_t operand;    // of the step's inputs or outputs
  abi::View view;
};

struct Accesses {
  std::vector<StateAccess> reads, writes;
};

class StateVerifier {
 public:
  explicit StateVerifier(const VerifyContext& c) : c_(c), p_(c.program) {}

  Status Run() {
    AICF_RETURN_IF_ERROR(CheckBlock());
    if (!HasState()) return OkStatus();
    AICF_RETURN_IF_ERROR(CheckVersions());
    for (size_t i = 0; i < p_.entry_points.size(); ++i) {
      const EntryPoint& e = p_.entry_points[i];
      loops_ = &c_.loops[i];
      AICF_RETURN_IF_ERROR(InEntryPoint(e, Entry(e)));
    }
    return OkStatus();
  }

 private:
  // Checks that names are unique, that no two states share a byte, and that the block has no bytes
  // beyond the last one used.
  Status CheckBlock() {
    std::set<std::string_view> names;
    std::vector<uint32_t> states;
    uint64_t used = 0;
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      if (!IsState(p_.buffers[b])) continue;
      if (p_.buffers[b].name.empty() || !names.insert(p_.buffers[b].name).second) {
        return Error(Code::kBadArtifact, Describe(p_, b), ": empty or repeated state name");
      }
      if (p_.buffers[b].bytes == 0) continue;
      states.push_back(b);
      used = std::max(used, c_.placements[b].end);
    }
    std::ranges::sort(states, {}, [&](uint32_t b) { return c_.placements[b].begin; });
    for (size_t i = 1; i < states.size(); ++i) {
      if (c_.placements[states[i]].begin >= c_.placements[states[i - 1]].end) continue;
      return Error(Code::kBadArtifact, "states ", Describe(p_, states[i - 1]), " and ",
                   Describe(p_, states[i]), " overlap");
    }
    uint64_t rounded = 0;
    if (CheckedAlignUp(used, kBufferAlignment, &rounded) && p_.state_bytes <= rounded) {
      return OkStatus();
    }
    return Error(Code::kBadArtifact, "state block of ", p_.state_bytes, " bytes, only ", used,
                 " are used");
  }

  // VerifyStorage has proven that only buffers of this role lie in the block.
  bool HasState() const {
    return std::ranges::any_of(p_.buffers, [](const Buffer& b) { return b.role == Role::kState; });
  }

  // Counts the updates that led to each buffer, and checks that all values of a state have its
  // dtype and shape.
  Status CheckVersions() {
    versions_.assign(p_.buffers.size(), 0);
    std::vector<uint32_t> chain;
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      if (p_.buffers[b].role != Role::kState) continue;
      chain.clear();
      uint32_t at = b;
      for (; p_.buffers[at].storage == Storage::kAlias && versions_[at] == 0;
           at = p_.buffers[at].alias_of) {
        chain.push_back(at);
      }
      uint32_t version = versions_[at];
      for (; !chain.empty(); chain.pop_back()) versions_[chain.back()] = ++version;
      const Buffer& state = p_.buffers[c_.placements[b].root];
      if (p_.buffers[b].dtype == state.dtype && p_.buffers[b].shape == state.shape) continue;
      return Error(Code::kBadArtifact, Describe(p_, b), ": ", DTypeName(p_.buffers[b].dtype), " ",
                   ToString(p_.buffers[b].shape), " in place of state ", Quote(state.name), " of ",
                   DTypeName(state.dtype), " ", ToString(state.shape));
    }
    return OkStatus();
  }

  bool InState(uint32_t b) const { return c_.placements[b].space == Storage::kState; }

  std::map<uint32_t, Accesses> Collect(const EntryPoint& e) const {
    std::map<uint32_t, Accesses> states;
    const auto access = [&](uint32_t s, uint32_t b, size_t k,
                            const abi::View& view) -> StateAccess {
      return {s, b, versions_[b], k, view};
    };
    for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
      const Step& step = p_.steps[s];
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        const uint32_t b = step.inputs[k];
        if (!InState(b)) continue;
        states[c_.placements[b].root].reads.push_back(access(s, b, k, step.problem.inputs[k]));
      }
      for (const Guard& g : step.guards) {
        if (!InState(g.buffer)) continue;
        const Buffer& b = p_.buffers[g.buffer];
        states[c_.placements[g.buffer].root].reads.push_back(
            access(s, g.buffer, step.inputs.size(), abi::DenseView(b.dtype, b.shape)));
      }
      for (size_t k = 0; k < step.outputs.size(); ++k) {
        const uint32_t b = step.outputs[k];
        if (!InState(b)) continue;
        states[c_.placements[b].root].writes.push_back(access(s, b, k, step.problem.outputs[k]));
      }
    }
    return states;
  }

  Status Entry(const EntryPoint& e) {
    for (const auto& [state, all] : Collect(e)) {
      pairs_ += all.writes.size() * (all.reads.size() + all.writes.size());
      if (pairs_ > kMaxStatePairs) {
        return Error(Code::kResource, "state ", Describe(p_, state), " has too many accesses");
      }
      AICF_RETURN_IF_ERROR(CheckOneLine(all));
      AICF_RETURN_IF_ERROR(CheckAhead(all));
      for (const StateAccess& w : all.writes) {
        for (const StateAccess& r : all.reads) AICF_RETURN_IF_ERROR(CheckRead(r, w));
        for (const StateAccess& other : all.writes) AICF_RETURN_IF_ERROR(CheckWrites(other, w));
      }
    }
    return OkStatus();
  }

  // Checks that a value has at most one update: two would each overwrite what the other one keeps.
  Status CheckOneLine(const Accesses& all) const {
    std::map<uint32_t, uint32_t> buffer_of;
    for (const std::vector<StateAccess>* list : {&all.reads, &all.writes}) {
      for (const StateAccess& a : *list) {
        const auto [known, fresh] = buffer_of.emplace(a.version, a.buffer);
        if (fresh || known->second == a.buffer) continue;
        return Error(Code::kBadArtifact, Describe(p_, known->second), " and ",
                     Describe(p_, a.buffer), " are both update ", a.version, " of one state");
      }
    }
    return OkStatus();
  }

  // Checks that what a kernel reads before it waits for the kernel before it is written by no other
  // step of the replay. CheckRead shows that no earlier trip of its own writes it.
  Status CheckAhead(const Accesses& all) const {
    for (const StateAccess& r : all.reads) {
      const Step& step = p_.steps[r.step];
      if (!abi::ReadsAhead(*c_.kernels[r.step], step.problem, step.parameters, r.operand)) continue;
      for (const StateAccess& w : all.writes) {
        if (w.step == r.step) continue;
        return Error(Code::kBadArtifact, DescribeStep(p_, r.step), " reads ",
                     Describe(p_, r.buffer), " before it waits, and ", DescribeStep(p_, w.step),
                     " writes that state");
      }
    }
    return OkStatus();
  }

  // Whether `a` is over when `b` begins. In a loop around both it is not: a later trip of `a` comes
  // after `b`.
  bool OnceBefore(const StateAccess& a, const StateAccess& b) const {
    return a.step < b.step && !(InLoop(a.step) && SameLoop(a.step, b.step));
  }
  bool InLoop(uint32_t step) const { return loops_->InnermostOf(step) != LoopTree::kNone; }
  bool SameLoop(uint32_t a, uint32_t b) const {
    int loop = loops_->InnermostOf(a);
    for (; loop != LoopTree::kNone; loop = loops_->ParentOf(loop)) {
      if (loops_->ContainsStep(loop, b)) return true;
    }
    return false;
  }

  bool InPlace(const StateAccess& r, const StateAccess& w) const {
    const Step& step = p_.steps[w.step];
    return r.step == w.step && r.operand < step.inputs.size() && !InLoop(w.step) &&
           MayOverwrite(*c_.kernels[w.step], step.problem, r.operand, w.operand);
  }

  bool Apart(const StateAccess& a, const StateAccess& b) {
    return prover_.Disjoint(ElementsOf(p_.buffers[a.buffer]), a.view, b.view);
  }

  Status CheckRead(const StateAccess& r, const StateAccess& w) {
    if (r.version < w.version) {
      if (OnceBefore(r, w) || InPlace(r, w) || Apart(r, w)) return OkStatus();
      return Error(Code::kBadArtifact, DescribeStep(p_, r.step), " reads the old value of ",
                   Describe(p_, r.buffer), ", which ", DescribeStep(p_, w.step),
                   " has overwritten with ", Describe(p_, w.buffer));
    }
    if (w.step < r.step || Apart(r, w)) return OkStatus();
    return Error(Code::kBadArtifact, DescribeStep(p_, r.step), " reads ", Describe(p_, r.buffer),
                 " too early: ", DescribeStep(p_, w.step), " writes ", Describe(p_, w.buffer));
  }

  Status CheckWrites(const StateAccess& a, const StateAccess& b) {
    if (a.version > b.version) return OkStatus();  // the pair is met the other way round, too
    if (a.version == b.version) {
      if (a.step == b.step || Apart(a, b)) return OkStatus();  // one step's: see VerifyOrder
    } else if (OnceBefore(a, b) || Apart(a, b)) {
      return OkStatus();
    }
    return Error(Code::kBadArtifact, DescribeStep(p_, a.step), " and ", DescribeStep(p_, b.step),
                 " both write elements of ", Describe(p_, a.buffer), " and ",
                 Describe(p_, b.buffer), ", and the later value must be written last");
  }

  const VerifyContext& c_;
  const Program& p_;
  std::vector<uint32_t> versions_;  // by buffer
  CoverProver prover_;
  const LoopTree* loops_ = nullptr;
  uint64_t pairs_ = 0;
};

Status CheckMetas(const VerifyContext& c, const EntryPoint& e) {
  const Program& p = c.program;
  for (size_t i = 0; i < e.metas.size(); ++i) {
    const Buffer& b = p.buffers[e.metas[i]];
    if (b.storage != Storage::kArena) {
      return Error(Code::kBadArtifact, Describe(p, e.metas[i]),
                   ": a meta in place of another buffer");
    }
    if (i == 0) continue;
    uint64_t expected = 0;
    (void)CheckedAlignUp(c.placements[e.metas[i - 1]].end, kBufferAlignment, &expected);
    if (b.offset == expected) continue;
    return Error(Code::kBadArtifact, Describe(p, e.metas[i]), ": a meta at ", b.offset,
                 ", expected ", expected, ", right after the one before");
  }
  return OkStatus();
}

}  // namespace

Status VerifyState(const VerifyContext& context) { return StateVerifier(context).Run(); }

Status VerifyMetas(const VerifyContext& context) {
  for (const EntryPoint& e : context.program.entry_points) {
    AICF_RETURN_IF_ERROR(InEntryPoint(e, CheckMetas(context, e)));
  }
  return OkStatus();
}

}  // namespace aicf::schema
