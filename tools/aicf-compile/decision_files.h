/// Decisions and preferences that a person wrote: --policy and --decisions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/decisions/decisions.h"
#include "compiler/edit/policy.h"

namespace aicf::tools {

/// Each value is either a list of clauses ("gemm=cublaslt,node:head=fp32") or a file with one
/// clause on a line and comments after '#'. Without a value the policy stays as it is, otherwise it
/// is replaced, and has to name kernels of the target; a math mode that the target has not is a
/// warning. Errors: those of Policy::Parse and of CheckPolicyKernels; kIo.
Status ReadPolicy(const std::vector<std::string>& values, const std::string& target,
                  Policy* policy);

/// Reads a file that --export-decisions wrote, edited or not; an empty path reads nothing.
/// Errors: those of DecisionLog::Parse, naming the file; kIo.
Status ReadDecisions(const std::string& path, std::optional<DecisionLog>* decisions);

}  // namespace aicf::tools
