/// The unpacked data of operands that a plan stores in a kernel's own layout.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "compiler/ir/tensor.h"
#include "runtime/step_by_step.h"
#include "schema/artifact.h"

namespace aicf::tools {

struct UnpackedOperands {
  std::vector<UnpackedInput> inputs;  ///< one for every packed operand; they point into `data`
  std::vector<ir::Tensor> data;
};

/// Finds the unpacked data of every packed operand. If the operand's record has the hash of a
/// constant of the artifact's lowered program, that constant is taken, so that rounding by the
/// packing shows up as an error. Otherwise, or without a record, it is what the step's kernel
/// unpacks from the plan's bytes (abi::PackedLayout::recovery). REQUIRES: an artifact read with its
/// optional sections. Errors: kBadArtifact for a lowered section that does not parse, or a constant
/// with the recorded hash that does not pack into the plan's bytes.
Result<UnpackedOperands> FindUnpacked(const std::shared_ptr<const schema::Artifact>& artifact);

}  // namespace aicf::tools
