/// A small artifact that targets compile once, for inputs that speak of one.
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

/// A convolution, a product, what is fused into them and what is not, for a CPU.
const Sample& TheSample();

}  // namespace aicf::fuzz
