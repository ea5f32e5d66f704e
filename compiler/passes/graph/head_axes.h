/// How the axes of a product's batch and rows come to be the batch, heads and rows of attention.
#pragma once

#include <optional>

#include "base/dims.h"

namespace aicf {

/// Batch, query heads and query rows.
struct HeadAxes {
  int64_t batch = 1, heads = 1, rows = 1;
};

/// `axes`: the extents of a value of scores without its last axis (the keys), e.g. [B, H, L],
/// [B * H, L] or [B, G, H / G, L]. `own`: the extents, of the same rank, of a value that is
/// broadcast to it. Gives that value's extents as [batch, heads, rows]. Each is the extent in `to`,
/// or 1 where the value repeats; heads may also be a smaller number, where each head serves its
/// share of neighbouring heads. nullopt: no reshape gives the value this form, because it has to be
/// repeated first or because the axes do not divide so.
std::optional<Dims> OwnHeads(const Dims& axes, const Dims& own, const HeadAxes& to);

}  // namespace aicf
