/// Register tiles of depthwise sums: accumulator r is one vector of channels at output position r.
#pragma once

#include "kernels/cpu/gemm/microkernel.h"

AICF_ISA_BEGIN

inline constexpr int kDepthwiseRows = kLanes == 16 ? 14 : 8;

/// How a tile finds x.
enum class DepthwiseReads : uint8_t {
  kGathered,  ///< TileCall::rows, one address per tap and row
  kSpread,    ///< one TileTap per tap, rows evenly spaced
  kWindow,  ///< one TileTap per row of the window, whose taps are neighbours: each position of x is
            ///< loaded once for all the taps and rows that it meets
};

struct DepthwiseTile {
  DepthwiseReads reads = DepthwiseReads::kSpread;
  int rows = 1;       ///< 1 .. kDepthwiseRows
  bool whole = true;  ///< x has every lane: a masked load costs as much as what it feeds
  int64_t width = 1, stride = 1;  ///< kWindow: taps along rows, and positions of x per row
};

/// Whether kWindow exists for this width and stride.
bool HasDepthwiseWindow(int64_t width, int64_t stride);

/// REQUIRES: HasDepthwiseWindow for kWindow.
TileFn FindDepthwiseTile(const DepthwiseTile& tile);

AICF_ISA_END
