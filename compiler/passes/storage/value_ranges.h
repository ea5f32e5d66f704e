/// How large the values of a program become on samples.
#pragma once

#include <vector>

#include "base/status.h"
#include "compiler/passes/pass.h"

namespace aicf::storage {

/// By buffer: the largest finite magnitude of f32 elements over the samples that fit the program's
/// inputs, 0 for constants; empty where no sample fits. States begin as zeros.
/// Cost: one execution of the program on the reference kernels per sample.
Result<std::vector<double>> LargestValues(const ir::Lowered& lowered,
                                          const std::vector<NamedTensors>& samples);

}  // namespace aicf::storage
