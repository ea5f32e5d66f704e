/// A program whose steps are one problem's kernels. A measurer loads it with the runtime's own
/// loader, so that kernels are verified first and then timed with the argument blocks, packed
/// weights, launches and workspaces that they will be run with.
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

/// Step k runs kernels[k] on the problem. All steps read the same buffers: operand i is input i of
/// the entry point, or a constant for a kernel that packs it. Each step writes outputs of its own,
/// which no step reads. Errors: kResource when the operands are too large.
Result<schema::Contents> MakeBenchProgram(const abi::Problem& problem,
                                          std::span<const BenchKernel> kernels,
                                          const abi::DeviceSpec& device);

}  // namespace aicf::tune
