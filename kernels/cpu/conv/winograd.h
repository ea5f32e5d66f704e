/// cpu.conv.winograd_*: 3 x 3 convolutions of stride 1 through the Winograd transform
/// (winograd_layout.h has the method and the host side).
#pragma once

#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

inline constexpr int64_t kWinogradOut = 4;  ///< outputs of a tile per axis
inline constexpr int64_t kWinogradIn = 6;   ///< positions of x of a tile per axis
inline constexpr int64_t kWinogradPoints = 36;

/// The points of the transform are 0, A, -A, B, -B and infinity. These two keep its rounding errors
/// within a few times those of a direct sum; the usual 1 and 2 cost four times as much.
inline constexpr float kWinogradA = 0.75f, kWinogradB = 1.5f;

struct WinogradShape {
  int64_t tiles_h = 0, tiles_w = 0, tile_count = 0;
  int64_t block = 1;                 ///< tiles that go through the three stages together
  int64_t v_row = 0, m_row = 0;      ///< floats per tile of V and M
  int64_t v_plane = 0, m_plane = 0;  ///< floats per point of V and M
};

/// A convolution ready to run: plain data.
struct Winograd {
  WinogradShape shape;
  Igemm igemm;  ///< the convolution as a product: rows, panels and epilogue; packed is U
  int64_t row_stride = 0, position_stride = 0;  ///< of x, in elements
  int64_t height = 0, width = 0;                ///< of x
  int64_t pad_h = 0, pad_w = 0;
  int64_t u_point = 0;  ///< floats of U per point
};

/// Runs block number `block`. `slot` is a part of the workspace that no other call uses meanwhile.
#define AICF_WINOGRAD_OF(isa)                                                  \
  namespace isa {                                                              \
  void RunWinogradBlock(const Winograd& winograd, int64_t block, float* slot); \
  }
AICF_WINOGRAD_OF(baseline)
AICF_WINOGRAD_OF(avx2)
AICF_WINOGRAD_OF(avx512)
#undef AICF_WINOGRAD_OF

template <abi::CpuIsa kIsa>
void ConvWinograd(const abi::ArgBlock& args);

extern template void ConvWinograd<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
extern template void ConvWinograd<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
extern template void ConvWinograd<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
