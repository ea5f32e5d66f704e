/// Masks that say the same as a window of positions: causal attention is one that ends at the row.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace aicf {

/// Row i of a mask sees the keys j with first <= j - i <= last; a bound that is absent cuts no row.
/// Every row sees a key.
struct Band {
  std::optional<int64_t> first, last;
};

/// The band of a constant bool mask of `rows` x `keys`, repeated over any leading axes: true where
/// a key is seen, or with `inverted` where it is not. nullopt: it is none.
std::optional<Band> BandOfMask(const ir::Value& mask, int64_t rows, int64_t keys, bool inverted);

/// The same of a constant that is added to scores: 0 where a key is seen, elsewhere as low as no
/// score.
std::optional<Band> BandOfBias(const ir::Value& bias, int64_t rows, int64_t keys);

/// True for minus infinity and for a dtype's lowest number: beside any score its weight is 0.
bool IsLowest(double value, DType dtype);

}  // namespace aicf
