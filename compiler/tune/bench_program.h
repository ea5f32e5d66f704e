/// A program whose steps are one problem's kernels: what a stopwatch loads with the runtime's own
/// loader, so that kernels are timed with the argument blocks, packed weights, launches and
/// workspaces that they will be run with, after the verifier has looked at them.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "compiler/codegen/images.h"
#include "compiler/costs/cost_source.h"
#include "kernels/abi/kernel.h"
#include "schema/artifact.h"

namespace aicf::tune {

struct BenchKernel {
  const KernelOption* option = nullptr;
  const CompiledImage* image = nullptr;         ///< cuda.* only; nullptr on all: nothing to run
  const LibraryAlgorithm* algorithm = nullptr;  ///< library kernels only
};

/// Step k runs kernels[k] on the problem. The inputs are the same buffers for all, input i of the
/// entry point (constants for a kernel that packs them); each step writes its own outputs and reads
/// nobody's. Errors: kResource when the operands are too large.
Result<schema::Contents> MakeBenchProgram(const abi::Problem& problem,
                                          std::span<const BenchKernel> kernels,
                                          const abi::DeviceSpec& device);

}  // namespace aicf::tune
