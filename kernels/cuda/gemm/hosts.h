/// What is legal for the gemm kernels.
#pragma once

#include <optional>
#include <span>

#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/gemm/hopper.h"
#include "kernels/cuda/gemm/library.h"
#include "kernels/cuda/gemm/packed_b.h"
#include "kernels/cuda/gemm/stream.h"
#include "kernels/cuda/gemm/stream_rows.h"

namespace aicf::cuda {

/// Few rows, so B is read once and memory is the limit. With `along_n`, lanes take neighbouring
/// columns, `piece` each, and warps share out k; otherwise a warp takes a column and its lanes
/// share out k.
struct GemvHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.gemm.gemv";
  static constexpr std::string_view kSource = "gemm/gemv.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      {"along_n", 0, 1}, {"piece", 1, kMaxVector}, {"warps", 1, 32}, {"ahead", 0, 1, 0}};
  static constexpr bool kReadsAhead = true, kStreamsAhead = true;
  static constexpr bool kNormalizesRows = true;
  static constexpr int64_t kMaxRows = 8;

  /// Elements of B that one access may take along n or along k.
  static int64_t MaxPiece(const abi::Problem& p, bool along_n);
  static int64_t BlockColumns(const abi::Parameters& c) {
    return c["along_n"] != 0 ? 32 * c["piece"] : c["warps"];
  }
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

struct GemmTiledHost : TileHostBase<false> {
  static constexpr std::string_view kKey = "cuda.gemm.tiled";
  static constexpr std::string_view kSource = "gemm/tiled.cuh";
};

/// With packed_b, B is a constant that the compiler stores as gemm/packed_b.h describes.
struct GemmTensorHost : TileHostBase<true> {
  static constexpr std::string_view kKey = "cuda.gemm.tensor";
  static constexpr std::string_view kSource = "gemm/tensor.cuh";
  static constexpr auto kParameters = WithPackedB(std::span(kTensorTileParameters));
  static constexpr bool kPacks = true;

  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d) {
    std::string refusal = TileHostBase<true>::Refuse(p, c, d);
    return refusal.empty() && c["packed_b"] != 0 ? RefusePackedB(p) : refusal;
  }
  static std::optional<abi::PackedLayout> Packed(const abi::Problem& p, const abi::Parameters& c,
                                                 int input) {
    return input == 1 && c["packed_b"] != 0 ? PackedBLayout(p) : std::nullopt;
  }
  static void Pack(const abi::Problem& p, const abi::Parameters&, int, const void* buffer,
                   void* packed) {
    PackB(p, buffer, packed);
  }
  static void Unpack(const abi::Problem& p, const abi::Parameters&, int, const void* packed,
                     void* buffer) {
    UnpackB(p, packed, buffer);
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kGemm> {
  using List = HostList<LibraryHost, GemvHost, GemmStreamHost, GemmHopperHost, GemmStreamRowsHost,
                        GemmTiledHost, GemmTensorHost>;
};

}  // namespace aicf::cuda
