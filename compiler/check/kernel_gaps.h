/// Steps that no kernel of the target takes.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.h"

namespace aicf {

struct KernelGap {
  std::string_view family;
  std::vector<std::string> nodes;  ///< that the step comes from
  std::string problem;             ///< every kernel's reason
};

/// In the order of the steps.
std::vector<KernelGap> FindKernelGaps(const ir::Lowered& lowered, const CompileOptions& options,
                                      PassContext& context);

}  // namespace aicf
