/// What is legal for the scan kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// A scan may overwrite its input: an element is read just before it is overwritten, by the same
/// thread, and never again.
struct ScanHostBase : CudaHostBase {
  static constexpr abi::ParameterRange kParameters[] = {kThreadsRange, kBlocksRange};

  static int64_t Length(const abi::Problem& p) {
    return p.inputs[0].shape[static_cast<int>(p.as<abi::ScanAttrs>().axis)];
  }
  static int64_t Lines(const abi::Problem& p) {
    return Length(p) == 0 ? 0 : abi::ElementsOf(p.outputs[0]) / Length(p);
  }
  static bool InPlace(const abi::Problem& p, int input) {
    return input == 0 && SameElements(p, input);
  }
  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    const std::string refusal = RefuseParts(c, "threads", 32);
    return refusal.empty() ? RefuseStride(c["blocks"], c["threads"]) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

/// A block per line.
struct ScanBlockHost : ScanHostBase {
  static constexpr std::string_view kKey = "cuda.scan.block";
  static constexpr std::string_view kSource = "scan/block.cuh";
  static constexpr int64_t kItems = 4;  ///< per thread, as in block.cuh
};

/// A thread per line.
struct ScanLinesHost : ScanHostBase {
  static constexpr std::string_view kKey = "cuda.scan.lines";
  static constexpr std::string_view kSource = "scan/lines.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kScan> {
  using List = HostList<ScanBlockHost, ScanLinesHost>;
};

}  // namespace aicf::cuda
