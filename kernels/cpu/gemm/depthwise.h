/// Register tiles of depthwise sums: accumulator r is one vector of channels at output position r.
/// They take windows of any form; depthwise_window.h has faster tiles for the usual ones.
#pragma once

#include "kernels/cpu/gemm/microkernel.h"

AICF_ISA_BEGIN

inline constexpr int kDepthwiseRows = kLanes == 16 ? 14 : 8;

/// The tile of 1 <= rows <= kDepthwiseRows. gathered: x is found by TileCall::rows, else by one
/// TileTap per tap. whole: x has all lanes, so that no load needs a mask; a masked load would cost
/// as much as the multiplication that it feeds.
TileFn FindDepthwiseTile(int rows, bool gathered, bool whole);

AICF_ISA_END
