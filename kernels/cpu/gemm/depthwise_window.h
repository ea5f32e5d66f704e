/// Depthwise sums over windows three or five positions wide: each position of x is loaded once for
/// all the taps and rows that it meets.
#pragma once

#include "kernels/cpu/gemm/microkernel.h"
#include "kernels/cpu/gemm/taps.h"

AICF_ISA_BEGIN

inline constexpr int kWindowRows = kLanes == 16 ? 14 : 8;

/// A tile of output positions for some neighbouring vectors of channels ("panels").
struct WindowCall {
  const TileTap* taps;  ///< one per row of the window: where row 0 starts, weights of panel 0
  int64_t tap_count;
  const float* x;
  int64_t x_stride;  ///< elements between positions of x
  int64_t first_panel, panels;
  int64_t b_stride;    ///< floats between the weights of two panels
  const float* start;  ///< what the sums of panel 0 start from
  int64_t start_stride;
  float* out;  ///< of panel 0
  int64_t out_stride, out_panel_stride;
  Mask last;                       ///< lanes of x and out
  int64_t first_position, extent;  ///< position of x that row 0 reads first; positions that x has
  bool clamp;
  float lo, hi;
};
using WindowFn = void (*)(const WindowCall& call);

/// Which of the positions and lanes that a tile reads exist in x.
enum class WindowReads : uint8_t {
  kAll,
  kSomeLanes,  ///< a masked load costs as much as what it feeds, so this is a tile of its own
  kEdge,       ///< positions outside x read as zero; lanes may be missing too
};

inline bool HasDepthwiseWindow(const WindowAxis& w) {
  return w.step == 1 && (w.count == 3 || w.count == 5) && (w.stride == 1 || w.stride == 2);
}

/// REQUIRES: HasDepthwiseWindow(axis), 1 <= rows <= kWindowRows.
WindowFn FindWindowTile(const WindowAxis& axis, int rows, WindowReads reads);

/// A part of a depthwise product. REQUIRES: HasDepthwiseWindow(igemm.window[2]).
void RunWindowUnit(const Igemm& igemm, Range panels, Range outers, Range rows);

AICF_ISA_END
