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
  std::vector<UnpackedInput> inputs;  ///< point into `data`; one for every packed operand
  std::vector<ir::Tensor> data;
};

/// By record: the constant of the artifact's lowered program that has the recorded hash, where
/// there is one, so that what packing rounded is seen; otherwise, or without a record, what the
/// step's kernel unpacks from the plan's bytes (abi::PackedLayout::recovery). REQUIRES: an artifact
/// read with its optional sections. Errors: kBadArtifact for a lowered section that does not parse,
/// or a constant with the recorded hash that does not pack into the plan's bytes.
Result<UnpackedOperands> FindUnpacked(const std::shared_ptr<const schema::Artifact>& artifact);

}  // namespace aicf::tools
