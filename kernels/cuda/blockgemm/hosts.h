/// What is legal for the blockgemm kernels.
#pragma once

#include "kernels/cuda/blockgemm/decode.h"
#include "kernels/cuda/blockgemm/gemv.h"
#include "kernels/cuda/blockgemm/stream.h"
#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {

/// The factor by which products of more than 8 rows are slower than their bytes and instructions
/// predict. It was found with prompts of 64 to 256 tokens and decode steps of 16 to 64 requests on
/// an H100: their products were about as fast as plain products of decoded values, where they were
/// predicted to take two fifths of the time (bench/results/h200_language.md).
inline constexpr double kManyRowsShare = 2.5;

/// The two kernels that compute tiles. With packed_b, B is a constant that the compiler stores in
/// the packed form of blockgemm/packed.h. cuda.blockgemm.gemv reads the same form, so that prefill
/// and decode share the weights.
template <bool kTensor>
struct BlockTileHost : TileHostBase<kTensor> {
  static constexpr auto kParameters = WithPackedB(TileHostBase<kTensor>::kParameters);
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d) {
    if (SumInputs(p) > 1) return "takes no product in two halves";
    return TileHostBase<kTensor>::Refusal(p, d);
  }
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d) {
    std::string refusal = TileHostBase<kTensor>::Refuse(p, c, d);
    if (refusal.empty() && c["packed_b"] != 0) refusal = RefusePackedBlocks(p, c["tile_k"]);
    return refusal;
  }
  static std::optional<abi::PackedLayout> Packed(const abi::Problem& p, const abi::Parameters& c,
                                                 int input) {
    return input == 1 && c["packed_b"] != 0 ? PackedBlocksLayout(p) : std::nullopt;
  }
  static void Pack(const abi::Problem& p, const abi::Parameters&, int, const void* buffer,
                   void* packed) {
    PackBlocks(p, buffer, packed);
  }
  static void Unpack(const abi::Problem& p, const abi::Parameters&, int, const void* packed,
                     void* buffer) {
    UnpackBlocks(p, packed, buffer);
  }
};

struct BlockGemmTiledHost : BlockTileHost<false> {
  static constexpr std::string_view kKey = "cuda.blockgemm.tiled";
  static constexpr std::string_view kSource = "blockgemm/tiled.cuh";
};

struct BlockGemmTensorHost : BlockTileHost<true> {
  static constexpr std::string_view kKey = "cuda.blockgemm.tensor";
  static constexpr std::string_view kSource = "blockgemm/tensor.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kBlockGemm> {
  using List = HostList<BlockDecodeHost, BlockStreamHost, BlockGemvHost, BlockGemmTiledHost,
                        BlockGemmTensorHost>;
};

}  // namespace aicf::cuda
