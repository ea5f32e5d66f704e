/// Whether the source nodes that a policy and --disable-fusion name are there: a slip of the pen
/// must not look like success.
///
/// `programs`: straight after lowering, one for each entry point; a name has to be in one of them.
/// Cost: one pass over the names of all source nodes for each name that is looked for.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/edit/policy.h"
#include "compiler/ir/lowered.h"

namespace aicf {

/// Errors: kInvalidArgument for a name that is no source node of any step.
Status CheckUnfusedNodes(const std::set<std::string, std::less<>>& no_fusion,
                         const std::vector<const ir::Lowered*>& programs);

/// A pattern of the policy that matches no source node is a warning, because a file of clauses may
/// be about several models. Errors: if `strict`, kUnsupported instead.
Status CheckPolicyNodes(const Policy& policy, bool strict,
                        const std::vector<const ir::Lowered*>& programs);

}  // namespace aicf
