/// Copies seen as pieces: which window of the written buffer shows which view of the source.
#pragma once

#include <string>
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
/// True when the step reads a buffer's bits as another dtype (BitCast). Source and copy then hold
/// different values, so that neither can be read in place of the other.
bool ReadsOtherBits(const ir::StepEditor& editor, const ir::LoweredStep& step);
/// REQUIRES: IsPureCopy(step).
std::vector<CopyPiece> PiecesOf(const ir::LoweredStep& step);

/// An elementwise step that stores a view's elements in another order or dtype. REQUIRES: equal
/// shapes.
abi::Problem CopyProblemOf(const abi::View& from, const abi::View& to);

/// The copy with neighbouring pieces joined into one, where they are neighbours both in one source
/// and in the copy. Any other step is returned as it is.
ir::LoweredStep MergedPieces(ir::LoweredStep copy);

/// Why the reader cannot be edited to read the values of buffer `read` elsewhere. What is left of a
/// copy may be several steps at one position of the editor, and an edit reaches only the first of
/// them. Empty if there is one step at position `reader`.
std::string CheckWholeReader(const ir::StepEditor& editor, int reader, ir::BufferId read);

/// What came of letting the readers of a copy's buffer read its sources.
struct ReadThroughs {
  std::vector<Alternative> refused;  ///< a reader that still reads the copy, and why
  bool all() const { return refused.empty(); }
};
/// Replaces every reader of the copy's buffer that can read the copy's source through a translated
/// view. REQUIRES: step `c` is a pure copy and the only writer of a temporary.
ReadThroughs ReadThroughCopy(ir::StepEditor& editor, const PassContext& context, int c);

/// Lets readers of the copy read its source instead, and removes the copy if all of them can. Does
/// nothing unless step `c` is a pure copy and alone makes a temporary that is read. The decision
/// names `pass`. Errors: a wish for something that was refused.
Status ForwardCopy(ir::StepEditor& editor, PassContext& context, int c, std::string_view pass);
/// Lets the producers of the copy's pieces write into the copy's buffer themselves. Pieces for
/// which that is not possible stay a copy. A step that is gone or no copy is left alone. The
/// decision names `pass`.
/// Errors: a wish for something that was refused.
Status EliminateCopy(ir::StepEditor& editor, PassContext& context, int c, std::string_view pass);

/// A "copy" decision about the step, without choice and reason.
Decision CopyDecision(const PassContext& context, const ir::LoweredStep& copy,
                      std::string_view pass);
/// Records that a copy stays because a wish says so; false: no wish does.
bool KeepByWish(PassContext& context, const Decision& decision);
/// Records a finished decision. Where the copy is removed, keeping it is recorded as an
/// alternative.
/// Errors: a wish for something that was refused.
Status RecordCopyDecision(PassContext& context, Decision decision);

}  // namespace aicf
