#include "kernels/cpu/gemm/depthwise_window.h"

#include <utility>

AICF_ISA_BEGIN
namespace {

template <WindowReads kReads>
AICF_INLINE Vec LoadPosition(const WindowCall& call, int64_t position, const float* x) {
  if constexpr (kReads == WindowReads::kAll) return Load(x);
  if constexpr (kReads == WindowReads::kSomeLanes) return LoadMasked(x, call.last);
  const bool inside = position >= 0 && position < call.extent;
  return inside ? LoadMasked(x, call.last) : Broadcast(0.0f);
}

template <int kRows, int kWidth, int kStride, WindowReads kReads>
AICF_INLINE void AddWindowRow(const WindowCall& call, const float* x, const float* b,
                              Vec (&acc)[kRows][1]) {
  Vec weight[kWidth];
#pragma GCC unroll 8
  for (int i = 0; i < kWidth; ++i) weight[i] = Load(b + i * kLanes);
  constexpr int kPositions = (kRows - 1) * kStride + kWidth;
#pragma GCC unroll 40
  for (int p = 0; p < kPositions; ++p, x += call.x_stride) {
    Vec v = LoadPosition<kReads>(call, call.first_position + p, x);
    // Keeps the compiler from loading the vector again for each sum that uses it.
    asm("" : "+v"(v));
#pragma GCC unroll 8
    for (int i = 0; i < kWidth; ++i) {
      const int r = (p - i) / kStride;
      if (p >= i && (p - i) % kStride == 0 && r < kRows) acc[r][0] = Fma(weight[i], v, acc[r][0]);
    }
  }
}

template <int kRows, int kWidth, int kStride, WindowReads kReads>
void RunWindow(const WindowCall& call) {
  for (int64_t i = 0; i < call.panels; ++i) {
    const int64_t panel = call.first_panel + i;
    const Vec start = Load(call.start + panel * call.start_stride);
    Vec acc[kRows][1];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) acc[r][0] = start;
    const float* x = call.x + panel * kLanes;
    for (int64_t tap = 0; tap < call.tap_count; ++tap) {
      const TileTap& t = call.taps[tap];
      AddWindowRow<kRows, kWidth, kStride, kReads>(call, x + t.x, t.b + panel * call.b_stride, acc);
    }
    FinishAccumulators<kRows, 1>(call, call.out + panel * call.out_panel_stride, acc);
  }
}

using RowSequence = std::make_integer_sequence<int, kWindowRows>;

template <int kWidth, int kStride, WindowReads kReads, int... kRow>
WindowFn PickRows(int rows, std::integer_sequence<int, kRow...>) {
  static constexpr WindowFn kTiles[] = {&RunWindow<kRow + 1, kWidth, kStride, kReads>...};
  return kTiles[rows - 1];
}

template <int kWidth, int kStride>
WindowFn PickReads(int rows, WindowReads reads) {
  switch (reads) {
    case WindowReads::kAll:
      return PickRows<kWidth, kStride, WindowReads::kAll>(rows, RowSequence());
    case WindowReads::kSomeLanes:
      return PickRows<kWidth, kStride, WindowReads::kSomeLanes>(rows, RowSequence());
    default:
      return PickRows<kWidth, kStride, WindowReads::kEdge>(rows, RowSequence());
  }
}

}  // namespace

WindowFn FindWindowTile(const WindowAxis& axis, int rows, WindowReads reads) {
  if (axis.count == 3) {
    return axis.stride == 1 ? PickReads<3, 1>(rows, reads) : PickReads<3, 2>(rows, reads);
  }
  return axis.stride == 1 ? PickReads<5, 1>(rows, reads) : PickReads<5, 2>(rows, reads);
}

AICF_ISA_END
