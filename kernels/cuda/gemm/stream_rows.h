/// What is legal for cuda.gemm.stream_rows: products with few rows, whose weights stream through
/// shared memory. The head of gemm/stream_rows.cuh lists the same conditions from the device's
/// side.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct GemmStreamRowsHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.gemm.stream_rows";
  static constexpr std::string_view kSource = "gemm/stream_rows.cuh";
  static constexpr bool kReadsAhead = true, kStreamsAhead = true;
  static constexpr bool kSeesMoments = true, kStoresParts = true;
  static constexpr int64_t kMostRows = 64;
  static constexpr abi::ParameterRange kParameters[] = {
      {"tile_m", 8, kMostRows}, {"tile_n", 16, 256}, {"stages", 2, 24},
      {"split", 1, 8},          kVectorRange,        {"ahead", 0, 1, 0}};

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
  static std::vector<abi::TensorMap> TensorMaps(const abi::Problem& p, const abi::Parameters& c);
};

}  // namespace aicf::cuda
