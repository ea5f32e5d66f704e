/// What is legal for the elementwise kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

/// A thread handles `unroll` vectors, which are the width of a block apart.
struct ElementwiseMapHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.elementwise.map";
  static constexpr std::string_view kSource = "elementwise/map.cuh";
  static constexpr abi::ParameterRange kParameters[] = {kVectorRange, kThreadsRange, kBlocksRange,
                                                        kUnrollRange};

  static std::string Refuse(const abi::Problem& p, const abi::Parameters& given,
                            const abi::DeviceSpec& d) {
    const abi::WholeParameters c(given, kParameters);
    std::string refusal = VectorHostBase::Refuse(p, c, d);
    if (refusal.empty()) refusal = RefuseOddPower(c, "unroll");
    if (!refusal.empty()) return refusal;
    return RefuseStride(c["blocks"], c["threads"] * c["vector"] * c["unroll"]);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// For a first operand that is contiguous along another axis than the results. It is transposed in
/// shared memory, in tiles of kTileFrom of its elements by kTileTo results.
struct ElementwiseTransposeHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.elementwise.transpose";
  static constexpr std::string_view kSource = "elementwise/transpose.cuh";
  static constexpr abi::ParameterRange kParameters[] = {kVectorRange, kBlocksRange};
  static constexpr int64_t kTileFrom = 32, kTileTo = 64, kThreads = 256;

  static int64_t Tiles(const abi::Problem& p);

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec&);
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], kThreads);
  }
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kElementwise> {
  using List = HostList<ElementwiseMapHost, ElementwiseTransposeHost>;
};

}  // namespace aicf::cuda
