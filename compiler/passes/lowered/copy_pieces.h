/// Copies seen as pieces: which window of the written buffer shows which view of the source.
#pragma once

#include <vector>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/pass.h"

namespace aicf {

struct CopyPiece {
  ir::BufferId from = 0, to = 0;
  abi::View source;  ///< of `from`
  abi::View window;  ///< of `to`, of the same shape
};

/// True for a copy without fill, and for an elementwise step that stores its operand unchanged.
bool IsPureCopy(const ir::LoweredStep& step);
/// True when it reads a buffer's bits as another dtype (BitCast): source and copy are then no two
/// views of the same values.
bool ReadsOtherBits(const ir::StepEditor& editor, const ir::LoweredStep& step);
/// REQUIRES: IsPureCopy(step).
std::vector<CopyPiece> PiecesOf(const ir::LoweredStep& step);

/// A "copy" decision about the step, without choice and reason.
Decision CopyDecision(const PassContext& context, const ir::LoweredStep& copy,
                      std::string_view pass);
/// Records that a copy stays because a wish says so; false: no wish does.
bool KeepByWish(PassContext& context, const Decision& decision);
/// Records a finished decision; a copy that is gone gets it as the alternative. Errors: a wish for
/// something that was refused.
Status RecordCopyDecision(PassContext& context, Decision decision);

}  // namespace aicf
