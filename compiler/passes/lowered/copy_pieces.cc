#include "compiler/passes/lowered/copy_pieces.h"

#include "compiler/ir/views.h"

namespace aicf {

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

bool ReadsOtherBits(const ir::StepEditor& editor, const ir::LoweredStep& step) {
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (editor.buffer(step.inputs[k]).dtype != step.problem.inputs[k].dtype) return true;
  }
  return false;
}

}  // namespace aicf
