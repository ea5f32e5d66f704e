/// Hosts of kernels in which a thread computes one result, or a few neighbouring ones, and goes on
/// in strides of the whole grid.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// One result per thread. A host of it may name, as kFlopsShare, the part of the machine's peak
/// rate that the kernel's inner loop reaches: the compiler then needs no choose.cc for it.
struct PointHostBase : CudaHostBase {
  static constexpr abi::ParameterRange kParameters[] = {kThreadsRange, kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    const std::string refusal = RefuseParts(c, "threads", 32);
    return refusal.empty() ? RefuseStride(c["blocks"], c["threads"]) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

/// A vector of neighbouring results per thread, where the operands allow it.
struct VectorHostBase : CudaHostBase {
  static constexpr abi::ParameterRange kParameters[] = {kVectorRange, kThreadsRange, kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    std::string refusal = RefuseOddPower(c, "vector");
    if (refusal.empty()) refusal = RefuseParts(c, "threads", 32);
    if (refusal.empty()) refusal = RefuseStride(c["blocks"], c["threads"] * c["vector"]);
    return refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

}  // namespace aicf::cuda
