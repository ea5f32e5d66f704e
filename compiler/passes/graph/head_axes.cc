#include "compiler/passes/graph/head_axes.h"

namespace aicf {
namespace {

int64_t ExtentOf(const Dims& d, int from, int to) {
  int64_t product = 1;
  for (int i = from; i < to; ++i) product *= d[i];
  return product;
}

// The extent that a value of extents `own` has when the axes [from, to) become one: the whole
// extent, 1, or, where `leading` allows it, that of the first axes, each of whose elements repeats
// over the rest. nullopt where one extent cannot say how the value repeats.
std::optional<int64_t> Joined(const Dims& axes, const Dims& own, int from, int to, bool leading) {
  int64_t product = 1;
  bool repeats = false;
  for (int i = from; i < to; ++i) {
    if (axes[i] == 1) continue;
    if (own[i] == 1) {
      repeats = true;
    } else if (repeats) {
      return std::nullopt;
    } else {
      product *= own[i];
    }
  }
  return repeats && product > 1 && !leading ? std::nullopt : std::optional(product);
}

// For values in which batch and heads are one axis, or several that do not divide where batch and
// heads do.
std::optional<Dims> Undivided(const Dims& axes, const Dims& own, int rows, const HeadAxes& to) {
  const auto joined = Joined(axes, own, 0, rows, true);
  const auto own_rows = Joined(axes, own, rows, axes.rank(), false);
  if (!joined || !own_rows) return std::nullopt;
  if (*joined == to.batch * to.heads) return Dims{to.batch, to.heads, *own_rows};
  if (*joined == to.batch || *joined == 1) return Dims{*joined, 1, *own_rows};
  return std::nullopt;
}

}  // namespace

std::optional<Dims> OwnHeads(const Dims& axes, const Dims& own, const HeadAxes& to) {
  for (int rows = 0; rows <= axes.rank(); ++rows) {
    if (ExtentOf(axes, rows, axes.rank()) != to.rows) continue;
    if (ExtentOf(axes, 0, rows) != to.batch * to.heads) continue;
    for (int heads = 0; heads <= rows; ++heads) {
      if (ExtentOf(axes, 0, heads) != to.batch) continue;
      const auto batch = Joined(axes, own, 0, heads, false);
      const auto head = Joined(axes, own, heads, rows, true);
      const auto row = Joined(axes, own, rows, axes.rank(), false);
      if (!batch || !head || !row) return std::nullopt;
      return Dims{*batch, *head, *row};
    }
    return Undivided(axes, own, rows, to);
  }
  return std::nullopt;
}

}  // namespace aicf
