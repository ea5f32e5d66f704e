/// Compiling and running a model case.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "tests/models/cases.h"

namespace aicf::testing {

Result<std::vector<std::byte>> CompileBytes(const ModelCase& c, const std::string& target,
                                            abi::MathMode math);
Result<std::shared_ptr<const Program>> CompileCase(const ModelCase& c, const std::string& target,
                                                   abi::MathMode math);

struct OutputError {
  std::string name;
  double error;  ///< largest absolute error, scaled by the largest magnitude of the reference
};

/// Runs the case's inputs and compares every output. Errors: kCheckFailed on another shape or
/// dtype.
Result<std::vector<OutputError>> OutputErrors(const ModelCase& c,
                                              std::shared_ptr<const Program> program,
                                              const std::string& device);

/// The error that a reference output itself has (reference_errors.inc); 0 for most.
double ReferenceError(std::string_view model, std::string_view output);

bool HasGpu();
bool HasNvrtc();

}  // namespace aicf::testing
