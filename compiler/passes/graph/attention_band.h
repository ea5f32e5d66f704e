/// Masks that are equivalent to a window of positions. A causal mask is a window that ends at the
/// row.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace aicf {

/// Row i of a mask sees the keys j with first <= j - i <= last. Without a bound, the keys on that
/// side are all seen. Every row sees at least one key.
struct Band {
  std::optional<int64_t> first, last;
};

/// The band of a constant bool mask of `rows` x `keys`, repeated over any leading axes. True means
/// that a key is seen, or with `inverted` that it is not. nullopt: the mask is no band.
std::optional<Band> BandOfMask(const ir::Value& mask, int64_t rows, int64_t keys, bool inverted);

/// The band of a constant that is added to scores: 0 where a key is seen, and elsewhere a number
/// for which IsLowest is true. nullopt: the constant is no band.
std::optional<Band> BandOfBias(const ir::Value& bias, int64_t rows, int64_t keys);

/// True for minus infinity and for a dtype's lowest number: a key with this score has the weight 0
/// beside any key with an ordinary score.
bool IsLowest(double value, DType dtype);

}  // namespace aicf
