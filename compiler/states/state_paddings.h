/// Padded inputs and outputs of an entry point, some of whose inputs and outputs are states or
/// metas.
#pragma once

#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// The paddings that touch neither a state nor a meta, with the positions that inputs and outputs
/// have once those are listed apart. A state that shrank with a padded input would go on with rows
/// that hold nothing, so such a padding is left out; the decision says so.
std::vector<schema::Padding> PaddingsBesideStates(const std::vector<schema::Padding>& paddings,
                                                  const ir::Lowered& lowered, PassContext& context);

}  // namespace aicf
