/// A small artifact that a target compiles once, for inputs that refer to an artifact.
#pragma once

#include <memory>

#include "compiler/compiler.h"
#include "tests/fuzz/budgets.h"

namespace aicf::fuzz {

struct Sample {
  std::shared_ptr<const schema::Artifact> artifact;
  std::vector<std::byte> bytes;  ///< of the file
  CompileOptions options;
  DecisionLog decisions;
};

/// An artifact for a CPU with a convolution, a product, ops that are fused into them and ops that
/// are not.
const Sample& TheSample();

}  // namespace aicf::fuzz
