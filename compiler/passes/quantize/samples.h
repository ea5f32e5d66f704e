/// Samples of a program's inputs, from files, brought into the shapes that the program takes.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// What a user hands over as one sample.
struct CalibrationSample {
  std::string name;      ///< the file or folder, for messages
  NamedTensors tensors;  ///< by input; an empty name stands for a program's only input
};

namespace quantize {

struct FittedSample {
  std::string name;
  std::vector<ir::Tensor> inputs;  ///< in the order of lowered.inputs
};

/// The sample for this program; several where the first axis of its tensors is a multiple of the
/// program's. States and metas that it does not give are zeros. Errors: kInvalidArgument naming
/// the file, what was expected and what was found: an input that is missing or of another dtype or
/// shape, a float that is not finite.
Result<std::vector<FittedSample>> FitSample(const ir::Lowered& lowered,
                                            const CalibrationSample& sample);

}  // namespace quantize
}  // namespace aicf
