/// What is legal for the blockgemm kernels.
#pragma once

#include "kernels/cuda/blockgemm/gemv.h"
#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {

struct BlockGemmTiledHost : TileHostBase<false> {
  static constexpr std::string_view kKey = "cuda.blockgemm.tiled";
  static constexpr std::string_view kSource = "blockgemm/tiled.cuh";
};

struct BlockGemmTensorHost : TileHostBase<true> {
  static constexpr std::string_view kKey = "cuda.blockgemm.tensor";
  static constexpr std::string_view kSource = "blockgemm/tensor.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kBlockGemm> {
  using List = HostList<BlockGemvHost, BlockGemmTiledHost, BlockGemmTensorHost>;
};

}  // namespace aicf::cuda
