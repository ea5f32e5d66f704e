/// Which inputs and outputs of a lowered program are the two ends of a state, and which inputs are
/// metas. Both are marked straight after lowering and travel in the artifact; the passes see an
/// input and an output like any other, until update-states gives them one place.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "compiler/states/state_pair.h"

namespace aicf {

/// What a "state" decision of the pass mark-states says: the pair is one state, or could be.
inline constexpr std::string_view kOneState = "one state";
inline constexpr std::string_view kInputAndOutput = "an input and an output";

/// Marks the pairs of `asked`, and with `automatic` those that only their names suggest
/// (state_names.h); without it, those are recorded as decisions against it, so that tools can
/// propose them. A suggested pair has equal dtype and shape. Errors: kInvalidArgument for a name
/// that is no input or output (naming those that are), one that is given twice, or a pair that
/// differs in dtype or shape or has no fixed extent.
Status MarkStates(const std::vector<StatePair>& asked, bool automatic, ir::Lowered& lowered,
                  PassContext& context);

/// Gives inputs the role kMeta. Errors: kInvalidArgument for a name that is no input, is given
/// twice, or is of a state.
Status MarkMetas(const std::vector<std::string>& names, ir::Lowered& lowered);

}  // namespace aicf
