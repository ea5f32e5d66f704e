/// What is legal for the dequantize kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct DequantizeMapHost : VectorHostBase {
  static constexpr std::string_view kKey = "cuda.dequantize.map";
  static constexpr std::string_view kSource = "dequantize/map.cuh";
};

/// Decodes a whole constant matrix from the packed form that the blockgemm kernels read as well
/// (blockgemm/packed.h). A program that has steps of both kinds stores its blocks once.
struct DequantizePanelsHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.dequantize.panels";
  static constexpr std::string_view kSource = "dequantize/panels.cuh";
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem&, const abi::DeviceSpec&);
  static std::optional<abi::PackedLayout> Packed(const abi::Problem&, const abi::Parameters&,
                                                 int input);
  static void Pack(const abi::Problem&, const abi::Parameters&, int input, const void* buffer,
                   void* packed);
  static void Unpack(const abi::Problem&, const abi::Parameters&, int input, const void* packed,
                     void* buffer);
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kDequantize> {
  using List = HostList<DequantizePanelsHost, DequantizeMapHost>;
};

}  // namespace aicf::cuda
