/// The unpacked data of operands that a CPU plan stores in a kernel's own layout.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "compiler/ir/tensor.h"
#include "runtime/step_by_step.h"
#include "schema/artifact.h"

namespace aicf::tools {

struct UnpackedOperands {
  std::vector<UnpackedInput> inputs;  ///< point into `data`
  std::vector<ir::Tensor> data;
};

/// Looks for every packed operand among the constants of the artifact's lowered program. What is
/// taken is proven: the kernel's own packing of it gives the plan's bytes.
/// REQUIRES: an artifact read with its optional sections.
/// Errors: kUnsupported when there is none, naming the step; kBadArtifact for a lowered section
/// that does not parse.
Result<UnpackedOperands> FindUnpacked(
    const std::shared_ptr<const schema::Artifact>& artifact);

}  // namespace aicf::tools
