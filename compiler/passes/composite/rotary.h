/// Rotation of pairs of elements by position, as the standard's op and the contrib ops define it.
#pragma once

#include "compiler/passes/composite/composer.h"

namespace aicf {

/// x: [B, H, L, D]. cos, sin: [1 or B, L, R / 2]. The first R elements of each head are R / 2
/// pairs, (2i, 2i + 1) when interleaved and (i, i + R / 2) otherwise, each turned by its angle.
/// Errors: kBadModel when R is odd or larger than D, or the extents do not fit.
ir::ValueId Rotate(Composer& c, ir::ValueId x, ir::ValueId cos, ir::ValueId sin, bool interleaved);

}  // namespace aicf
