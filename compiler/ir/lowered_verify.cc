#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>

#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/ir/coverage.h"
#include "compiler/ir/lowered.h"
#include "compiler/ir/lowered_carried.h"
#include "compiler/ir/lowered_loops.h"
#include "compiler/ir/lowered_states.h"
#include "schema/verify_cover.h"

namespace aicf::ir {
namespace {

class LoweredVerifier {
 public:
  explicit LoweredVerifier(const Lowered& lowered) : l_(lowered), state_(lowered.buffers.size()) {}

  Status Run() {
    AICF_RETURN_IF_ERROR(CheckBuffers());
    AICF_RETURN_IF_ERROR(CheckSignature(l_.inputs, {schema::Role::kInput, schema::Role::kMeta}));
    AICF_RETURN_IF_ERROR(CheckSignature(l_.outputs, {schema::Role::kOutput}));
    AICF_RETURN_IF_ERROR(CheckExtents());
    AICF_RETURN_IF_ERROR(CheckStates(l_));
    for (const LoweredState& s : l_.states) presents_.insert(s.present);
    for (size_t s = 0; s < l_.steps.size(); ++s) {
      const Status status = CheckStep(s);
      if (!status.ok()) return Error(status.code(), "step ", s, ": ", status.message());
    }
    AICF_RETURN_IF_ERROR(CheckOrder());
    AICF_RETURN_IF_ERROR(CheckLoops());
    for (BufferId b : l_.outputs) {
      if (!Complete(b))
        return Error(Code::kInternal, "output '", l_.buffers[b].name, "' is not written in full");
    }
    for (BufferId b : presents_) {
      if (!Complete(b))
        return Error(Code::kInternal, "state '", l_.buffers[b].name, "' is not written in full");
    }
    return OkStatus();
  }

 private:
  static constexpr int32_t kNone = -1;

  // The writes of a buffer form a linked list, from the last one on.
  struct Write {
    const abi::View* view;
    size_t step;
    int32_t previous;
  };
  struct State {
    int32_t last_write = kNone;
    int complete = -1;  // unknown
  };

  int64_t CountOf(BufferId b) const { return *ElementCount(l_.buffers[b].shape); }

  Status CheckBuffers() {
    for (const LoweredBuffer& b : l_.buffers) {
      const std::optional<int64_t> count = ElementCount(b.shape);
      if (!IsValid(b.dtype) || !count)
        return Error(Code::kInternal, "buffer '", b.name, "' has an illegal type");
      const bool constant = b.role == schema::Role::kConstant;
      if (constant != b.constant.has_data()) {
        return Error(Code::kInternal, "buffer '", b.name, "' is ",
                     constant ? "a constant without data" : "not constant but has data");
      }
      int64_t bytes = 0;
      if (!CheckedMul<int64_t>(*count, DTypeBytes(b.dtype), &bytes)) {
        return Error(Code::kResource, "value ", Quote(b.name), " has ", *count,
                     " elements, more bytes than can be counted");
      }
      if (constant && (b.constant.dtype() != b.dtype ||
                       b.constant.bytes().size() != static_cast<uint64_t>(bytes))) {
        return Error(Code::kInternal, "constant '", b.name, "' holds ", b.constant.bytes().size(),
                     " bytes, expected ", bytes);
      }
    }
    return OkStatus();
  }

  Status CheckSignature(const std::vector<BufferId>& ids,
                        std::initializer_list<schema::Role> roles) {
    const std::string_view what = schema::RoleName(*roles.begin());
    const auto listed = [&](BufferId b) {
      return std::find(roles.begin(), roles.end(), l_.buffers[b].role) != roles.end();
    };
    std::vector<bool> seen(l_.buffers.size(), false);
    for (BufferId b : ids) {
      if (b >= l_.buffers.size()) return Error(Code::kInternal, what, " %", b, " does not exist");
      if (seen[b])
        return Error(Code::kInternal, what, " '", l_.buffers[b].name, "' is listed twice");
      if (!listed(b))
        return Error(Code::kInternal, what, " '", l_.buffers[b].name, "' has another role");
      seen[b] = true;
    }
    for (size_t b = 0; b < l_.buffers.size(); ++b) {
      if (listed(static_cast<BufferId>(b)) && !seen[b]) {
        return Error(Code::kInternal, "buffer '", l_.buffers[b].name, "' has role ",
                     schema::RoleName(l_.buffers[b].role), " but is not listed");
      }
    }
    return OkStatus();
  }

  Status CheckLoops() {
    for (const LoweredLoop& l : l_.loops) {
      if (l.condition >= l_.buffers.size())
        return Error(Code::kInternal, "condition %", l.condition);
      const LoweredBuffer& b = l_.buffers[l.condition];
      if (b.dtype == DType::kBool && CountOf(l.condition) == 1 &&
          b.role == schema::Role::kCarried) {
        continue;
      }
      return Error(Code::kInternal, "condition '", b.name, "' is no carried bool of one element");
    }
    const Result<schema::LoopTree> loops = LoopsOf(l_);
    if (!loops.ok()) return Error(Code::kInternal, loops.status().message());
    return CheckCarried(l_, *loops);
  }

  Status CheckExtents() {
    for (const schema::OutputExtent& x : l_.extents) {
      if (x.output >= l_.outputs.size() || x.count >= l_.outputs.size()) {
        return Error(Code::kInternal, "an extent names outputs ", x.output, " and ", x.count,
                     " of ", l_.outputs.size());
      }
      const LoweredBuffer& output = l_.buffers[l_.outputs[x.output]];
      const LoweredBuffer& count = l_.buffers[l_.outputs[x.count]];
      if (x.axis >= static_cast<uint32_t>(output.shape.rank()) || count.dtype != DType::kI64 ||
          ElementCount(count.shape) != 1) {
        return Error(Code::kInternal, "output '", output.name, "' ends along axis ", x.axis,
                     " where '", count.name, "' says");
      }
    }
    return OkStatus();
  }

  // A copy may read the bits of a buffer as another dtype of the same size: that is BitCast.
  Status CheckOperand(BufferId b, const abi::View& v, bool copies = false) {
    if (b >= l_.buffers.size()) return Error(Code::kInternal, "buffer %", b, " does not exist");
    const LoweredBuffer& buffer = l_.buffers[b];
    const bool recast = copies && DTypeBytes(v.dtype) == DTypeBytes(buffer.dtype);
    if (v.dtype != buffer.dtype && !recast) {
      return Error(Code::kInternal, "views '", buffer.name, "' (", DTypeName(buffer.dtype), ") as ",
                   DTypeName(v.dtype));
    }
    AICF_ASSIGN_OR_RETURN(const abi::Extent extent, abi::ExtentOf(v));
    if (extent.end > CountOf(b) * DTypeBytes(buffer.dtype)) {
      return Error(Code::kInternal, "reaches byte ", extent.end, " of '", buffer.name,
                   "', which has ", CountOf(b) * DTypeBytes(buffer.dtype));
    }
    return OkStatus();
  }

  Status CheckStep(size_t s) {
    const LoweredStep& step = l_.steps[s];
    AICF_RETURN_IF_ERROR(abi::ValidateProblem(step.problem));
    if (step.inputs.size() != step.problem.inputs.size() ||
        step.outputs.size() != step.problem.outputs.size()) {
      return Error(Code::kInternal, "operands and views differ in number");
    }
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      AICF_RETURN_IF_ERROR(CheckOperand(step.inputs[k], step.problem.inputs[k],
                                        step.problem.family == abi::Family::kCopy));
    }
    for (const schema::Guard& g : step.guards) {
      if (g.buffer >= l_.buffers.size())
        return Error(Code::kInternal, "guard %", g.buffer, " does not exist");
      if (l_.buffers[g.buffer].dtype != DType::kBool || CountOf(g.buffer) != 1) {
        return Error(Code::kInternal, "guard '", l_.buffers[g.buffer].name,
                     "' is no bool of one element");
      }
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      const BufferId b = step.outputs[k];
      AICF_RETURN_IF_ERROR(CheckOperand(b, step.problem.outputs[k]));
      const schema::Role role = l_.buffers[b].role;
      if (role == schema::Role::kCarried) continue;  // see CheckCarried
      if (!IsMade(b)) {
        return Error(Code::kInternal, "writes '", l_.buffers[b].name, "', which is ",
                     schema::RoleName(role));
      }
      writes_.push_back({&step.problem.outputs[k], s, state_[b].last_write});
      state_[b].last_write = static_cast<int32_t>(writes_.size()) - 1;
    }
    return OkStatus();
  }

  // Whether steps write the buffer before others read it.
  bool IsMade(BufferId b) const {
    const schema::Role role = l_.buffers[b].role;
    return role == schema::Role::kTemp || role == schema::Role::kOutput ||
           (role == schema::Role::kState && presents_.contains(b));
  }

  bool Complete(BufferId b) {
    State& state = state_[b];
    if (state.complete < 0) state.complete = IsCovered(b) ? 1 : 0;
    return state.complete == 1;
  }

  bool IsCovered(BufferId b) const {
    const int64_t count = CountOf(b);
    const int32_t last = state_[b].last_write;
    // Most buffers have one writer, of the whole.
    if (last != kNone && writes_[last].previous == kNone) {
      const abi::View& view = *writes_[last].view;
      if (view.offset == 0 && abi::IsDense(view) && abi::ElementsOf(view) == count) return true;
    }
    std::vector<abi::View> views;
    for (int32_t w = last; w != kNone; w = writes_[w].previous) views.push_back(*writes_[w].view);
    std::reverse(views.begin(), views.end());
    return CoverOnce(views, count);
  }

  // What a step reads of temporaries and outputs is written by earlier steps, and by no later one.
  Status CheckOrder() {
    for (size_t s = 0; s < l_.steps.size(); ++s) {
      const LoweredStep& step = l_.steps[s];
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        AICF_RETURN_IF_ERROR(CheckRead(s, step.inputs[k], &step.problem.inputs[k]));
      }
      for (const schema::Guard& g : step.guards) {
        AICF_RETURN_IF_ERROR(CheckRead(s, g.buffer, nullptr));
      }
    }
    return OkStatus();
  }

  // Checks a read of the elements of the view, or of all elements if it is nullptr.
  Status CheckRead(size_t s, BufferId b, const abi::View* view) {
    if (!IsMade(b)) return OkStatus();
    const int32_t last = state_[b].last_write;
    const bool late = last != kNone && writes_[last].step >= s;
    if (!late && Complete(b)) return OkStatus();
    if (view != nullptr && PartIsSettled(s, b, *view)) return OkStatus();
    return Error(Code::kInternal, "step ", s, " reads '", l_.buffers[b].name,
                 "' before it is written in full");
  }

  bool PartIsSettled(size_t s, BufferId b, const abi::View& view) {
    std::vector<const abi::View*> before, after;
    for (int32_t w = state_[b].last_write; w != kNone; w = writes_[w].previous) {
      (writes_[w].step < s ? before : after).push_back(writes_[w].view);
    }
    return prover_.Covers(CountOf(b), view, before) && prover_.Apart(CountOf(b), view, after);
  }

  const Lowered& l_;
  std::vector<State> state_;
  std::vector<Write> writes_;
  std::set<BufferId> presents_;  // of states
  schema::CoverProver prover_;
};

}  // namespace

Status Verify(const Lowered& lowered) { return LoweredVerifier(lowered).Run(); }

}  // namespace aicf::ir
