/// Steps that no kernel of the target takes.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "compiler/select/options.h"

namespace aicf {

struct KernelGap {
  std::string_view family;
  std::vector<std::string> nodes;  ///< that the step comes from
  std::string problem;             ///< every kernel's reason
};

/// In the order of the steps.
std::vector<KernelGap> FindKernelGaps(const ir::Lowered& lowered, const PlanOptions& options,
                                      PassContext& context);

}  // namespace aicf
