/// Runs a case of the suite through the whole compiler and runtime.
#pragma once

#include <string>

#include "tests/onnx_suite/suite.h"

namespace aicf::testing {

struct SuiteTarget {
  std::string target;  ///< "cpu", "cuda:sm_90a"
  std::string device;  ///< "cpu": also executes a CUDA plan, on the reference kernels
  bool images = true;  ///< false: a plan without device code
};

/// Compiles the case's model with the shapes of its inputs, runs it and compares every output.
/// Inputs on which shapes depend are bound as constants (ir::InputsToBind); all others are data.
/// Errors: those of compiling and running; kCheckFailed naming output, element, got and expected.
Status RunCase(const SuiteCase& c, const SuiteTarget& target);

/// Whether this machine has a CUDA device.
bool HasGpuDevice();

}  // namespace aicf::testing
