/// What the tests on a GPU need of the machine.
#pragma once

#include "base/status.h"
#include "compiler/codegen/nvrtc.h"
#include "runtime/cuda/driver.h"

namespace aicf::states {

/// The driver of a machine with a CUDA device and with NVRTC. Errors: what is missing; the test is
/// to be skipped.
inline Result<cuda::Driver*> GpuDriver() {
  AICF_ASSIGN_OR_RETURN(cuda::Driver* const driver, cuda::Driver::Get());
  AICF_RETURN_IF_ERROR(Nvrtc::Open().status());
  return driver;
}

}  // namespace aicf::states
