/// What is legal for the categorical kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// How a row is cut; row.cuh and meeting.cuh derive the same from their constants.
struct CategoricalCut {
  int64_t share = 0;         ///< categories of a block
  int64_t shared_bytes = 0;  ///< of a block

  CategoricalCut(const abi::Problem& p, const abi::Parameters& c);
};

/// `cluster` blocks draw for a row; where `cached`, shared memory keeps what they have read of it.
struct CategoricalSelectHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.categorical.select";
  static constexpr std::string_view kSource = "categorical/select.cuh";
  static constexpr int64_t kMostParts = 16;
  static constexpr abi::ParameterRange kParameters[] = {
      {"threads", 256, kMaxThreads}, {"cluster", 1, kMostParts}, {"cached", 0, 1}};

  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
  static bool InPlace(const abi::Problem& p, int input) {
    return abi::StoresDraws(p) && input == static_cast<int>(abi::kDrawTable) &&
           SameElements(p, input);
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kCategorical> {
  using List = HostList<CategoricalSelectHost>;
};

}  // namespace aicf::cuda
