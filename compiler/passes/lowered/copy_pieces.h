/// Copies seen as pieces: which window of the written buffer shows which view of the source.
#pragma once

#include <vector>

#include "compiler/ir/lowered_edit.h"

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

}  // namespace aicf
