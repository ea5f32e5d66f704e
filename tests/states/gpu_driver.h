/// Checks for what the tests on a GPU need of the machine.
#pragma once

#include "base/status.h"
#include "compiler/codegen/nvrtc.h"
#include "runtime/cuda/driver.h"

namespace aicf::states {

/// The driver of a machine that has a CUDA device and NVRTC. An error says what is missing; the
/// test should then be skipped.
inline Result<cuda::Driver*> GpuDriver() {
  AICF_ASSIGN_OR_RETURN(cuda::Driver* const driver, cuda::Driver::Get());
  AICF_RETURN_IF_ERROR(Nvrtc::Open().status());
  return driver;
}

}  // namespace aicf::states
