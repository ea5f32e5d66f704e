/// How the axes of a product's batch and rows come to be the batch, heads and rows of attention.
#pragma once

#include <optional>

#include "base/dims.h"

namespace aicf {

/// Batch, query heads and query rows.
struct HeadAxes {
  int64_t batch = 1, heads = 1, rows = 1;
};

/// `axes`: the extents of a value of scores but for its last axis (the keys), e.g. [B, H, L],
/// [B * H, L] or [B, G, H / G, L]. `own`: those of a value that is broadcast to it, of the same
/// rank. The result is what `own` is as [batch, heads, rows]: each extent that of `to`, or 1 where
/// the value repeats, or a number of heads of which each serves its share of neighbours. nullopt:
/// no reshape of the value is that; it has to be repeated first, or the axes do not divide so.
std::optional<Dims> OwnHeads(const Dims& axes, const Dims& own, const HeadAxes& to);

}  // namespace aicf
