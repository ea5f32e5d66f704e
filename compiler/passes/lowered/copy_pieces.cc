#include "compiler/passes/lowered/copy_pieces.h"

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/drop_casts.h"
#include "compiler/passes/lowered/fuse.h"

namespace aicf {
namespace {

// The choice of a copy that stays a step.
constexpr const char* kKeptCopy = "copy";

// The axis along which a piece at `next` follows one of `shape` at `start`; -1: it does not.
int AxisBetween(const Dims& start, const Dims& shape, const Dims& next, const Dims& next_shape) {
  int axis = -1;
  for (int i = 0; i < start.rank(); ++i) {
    if (start[i] == next[i] && shape[i] == next_shape[i]) continue;
    if (axis >= 0 || next[i] != start[i] + shape[i]) return -1;
    axis = i;
  }
  return axis;
}

// Both views as one, `second` right after `first` along the axis; nothing when no strides say so.
std::optional<abi::View> Joined(const abi::View& first, const abi::View& second, int axis) {
  if (abi::ElementsOf(first) == 0 || abi::ElementsOf(second) == 0) return std::nullopt;
  abi::View out = first;
  out.shape[axis] += second.shape[axis];
  const int64_t distance = second.offset - first.offset;
  out.strides[axis] = distance / first.shape[axis];
  const Dims none = Dims::Filled(first.shape.rank(), 0);
  Dims at = none;
  at[axis] = first.shape[axis];
  if (!ir::SameElements(ir::WindowOf(out, none, first.shape), first)) return std::nullopt;
  if (!ir::SameElements(ir::WindowOf(out, at, second.shape), second)) return std::nullopt;
  return out;
}

}  // namespace

bool IsPureCopy(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  if (p.family == abi::Family::kCopy) {
    return p.epilogue.empty() && !p.as<abi::CopyAttrs>().has_fill;
  }
  return IsCast(step) && p.inputs[0].dtype == p.outputs[0].dtype;
}

std::vector<CopyPiece> PiecesOf(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  if (p.family == abi::Family::kElementwise) {
    return {{step.inputs[0], step.outputs[0], p.inputs[0], p.outputs[0]}};
  }
  std::vector<CopyPiece> pieces;
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    pieces.push_back(
        {step.inputs[k], step.outputs[0], p.inputs[k],
         ir::WindowOf(p.outputs[0], p.as<abi::CopyAttrs>().starts[k], p.inputs[k].shape)});
  }
  return pieces;
}

abi::Problem CopyProblemOf(const abi::View& from, const abi::View& to) {
  abi::Problem p;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {from};
  p.outputs = {to};
  p.core_inputs = 1;
  abi::ExprBuilder builder;
  p.epilogue = builder.Finish({builder.Input(0, abi::ComputeDType(from.dtype))});
  return p;
}

ir::LoweredStep MergedPieces(ir::LoweredStep copy) {
  if (copy.problem.family != abi::Family::kCopy) return copy;
  abi::Problem& p = copy.problem;
  auto& starts = std::get<abi::CopyAttrs>(p.attrs).starts;
  for (size_t k = 1; k < copy.inputs.size();) {
    const abi::View &last = p.inputs[k - 1], &next = p.inputs[k];
    const int axis = AxisBetween(starts[k - 1], last.shape, starts[k], next.shape);
    const auto joined =
        axis < 0 || copy.inputs[k] != copy.inputs[k - 1] ? std::nullopt : Joined(last, next, axis);
    if (!joined) {
      ++k;
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(k);
    p.inputs[k - 1] = *joined;
    p.inputs.erase(p.inputs.begin() + at);
    starts.erase(starts.begin() + at);
    copy.inputs.erase(copy.inputs.begin() + at);
  }
  p.core_inputs = static_cast<int>(p.inputs.size());
  return copy;
}

std::string CheckWholeReader(const ir::StepEditor& editor, int reader, ir::BufferId read) {
  if (!editor.IsMany(reader)) return "";
  return StrCat("single-use: what is left of ", NamesOf(editor.step(reader)), " reads '",
                editor.buffer(read).name, "' too");
}

Decision CopyDecision(const PassContext& context, const ir::LoweredStep& copy,
                      std::string_view pass) {
  return context.About(DecisionKind::kCopy, SubjectOf(copy), pass);
}

bool KeepByWish(PassContext& context, const Decision& decision) {
  const Wish* wish =
      context.wishes == nullptr ? nullptr : context.wishes->FindAny(IdentityOf(decision));
  if (wish == nullptr || wish->decision.choice != kKeptCopy) return false;
  Decision d = decision;
  d.choice = kKeptCopy;
  d.Because(Reason::kPolicy);
  d.alternatives.push_back({"removed", StrCat("policy: ", wish->origin, " keeps it"), -1});
  context.Record(std::move(d));
  return true;
}

Status RecordCopyDecision(PassContext& context, Decision decision) {
  if (decision.choice != kKeptCopy) decision.alternatives.push_back({kKeptCopy, "", -1});
  AICF_RETURN_IF_ERROR(CheckRefusals(context.wishes, decision, Wishes::kAnyOccurrence));
  context.Record(std::move(decision));
  return OkStatus();
}

bool ReadsOtherBits(const ir::StepEditor& editor, const ir::LoweredStep& step) {
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (editor.buffer(step.inputs[k]).dtype != step.problem.inputs[k].dtype) return true;
  }
  return false;
}

}  // namespace aicf
