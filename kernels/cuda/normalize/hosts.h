/// What is legal for the normalize kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// Re-reading passes end before the first store of a row, which reads an element before it is
/// replaced.
struct NormalizeHostBase : CudaHostBase {
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// Neighbouring threads walk the normalised axes: `lanes` threads per row.
struct NormalizeRowsHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.rows";
  static constexpr std::string_view kSource = "normalize/rows.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      {"lanes", 1, kMaxThreads}, {"rows_per_block", 1, kMaxThreads}, kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    const int64_t threads = c["lanes"] * c["rows_per_block"];
    if (threads % 32 != 0 || threads > kMaxThreads) {
      return StrCat("takes lanes x rows_per_block in multiples of 32 up to 1024, here are ",
                    threads);
    }
    const std::string refusal = RefuseOddPower(c, "lanes");
    return refusal.empty() ? RefuseStride(c["blocks"], c["rows_per_block"]) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    abi::LaunchConfig launch = Launch1d(c["blocks"], c["lanes"]);
    launch.block[1] = static_cast<uint32_t>(c["rows_per_block"]);
    return launch;
  }
};

/// Neighbouring threads walk the rows, 32 of them per block; `lanes` share each.
struct NormalizeColumnsHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.columns";
  static constexpr std::string_view kSource = "normalize/columns.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"lanes", 1, 32}, kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    return RefuseStride(c["blocks"], 32);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    abi::LaunchConfig launch = Launch1d(c["blocks"], 32);
    launch.block[1] = static_cast<uint32_t>(c["lanes"]);
    return launch;
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kNormalize> {
  using List = HostList<NormalizeRowsHost, NormalizeColumnsHost>;
};

}  // namespace aicf::cuda
