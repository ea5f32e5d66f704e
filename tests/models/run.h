/// Compiling and running a model case.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "tests/models/cases.h"

namespace aicf::testing {

/// The cases whose operators are supported; the rest wait for theirs (control flow, recurrence).
std::vector<ModelCase> SupportedCases();

Result<std::vector<std::byte>> CompileBytes(const ModelCase& c, const std::string& target,
                                            abi::MathMode math);
Result<std::shared_ptr<const Program>> CompileCase(const ModelCase& c, const std::string& target,
                                                   abi::MathMode math);

/// Runs the case's inputs; the largest absolute error over all outputs, each scaled by the largest
/// magnitude of its reference. Errors: kCheckFailed on another shape or dtype.
Result<double> WorstError(const ModelCase& c, std::shared_ptr<const Program> program,
                          const std::string& device);

bool HasGpu();
bool HasNvrtc();

}  // namespace aicf::testing
