#include "compiler/passes/lowered/copy_pieces.h"

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"

namespace aicf {
namespace {

// The choice of a copy that stays a step.
constexpr const char* kKeptCopy = "copy";

}  // namespace

bool IsPureCopy(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  if (p.family == abi::Family::kCopy) return !p.as<abi::CopyAttrs>().has_fill;
  return p.family == abi::Family::kElementwise && p.inputs.size() == 1 && p.outputs.size() == 1 &&
         p.inputs[0].dtype == p.outputs[0].dtype && p.epilogue.nodes.size() == 1 &&
         p.epilogue.nodes[0].op == abi::ExprOp::kInput;
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
