/// A gemm step as one call of cuBLASLt with its recorded algorithm.
#pragma once

#include <memory>

#include "base/status.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/launch.h"

namespace aicf::cuda {

/// REQUIRES: the device's context is current; `lt` outlives the launch.
/// Errors: kDevice when the library's version is not the one the algorithm was recorded with, or it
/// rejects the algorithm; kBadArtifact for a malformed algorithm or a workspace that is too small;
/// those of DescribeMatmul.
Result<std::unique_ptr<Launch>> MakeMatmulLaunch(const CublasLt& lt, const schema::Step& step,
                                                 const AddressMap& addresses);

}  // namespace aicf::cuda
