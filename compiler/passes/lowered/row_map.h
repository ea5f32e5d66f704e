/// Copies as maps of elements: what a chain of them does, and whether it moves whole rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/lowered.h"

namespace aicf {

/// By element of the written buffer: the element of the source buffer that it shows.
using ElementMap = std::vector<int32_t>;

/// What a pure copy whose pieces all read one buffer does; nullopt when it leaves an element of its
/// buffer of `count` elements out. REQUIRES: IsPureCopy(copy); both buffers have less than 2^31
/// elements.
std::optional<ElementMap> MapOf(const ir::LoweredStep& copy, int64_t count);

/// `second` after `first`: the elements of first's source that second's buffer shows.
ElementMap Compose(const ElementMap& first, const ElementMap& second);

/// A map of whole rows: row k of the result is row `rows[k]` of the source.
struct RowMap {
  int64_t row = 1;  ///< elements of a row, as many as possible
  std::vector<int32_t> rows;
};

/// The map of rows; nullopt where they have fewer than `least` elements, which is mostly known long
/// before the map's end. REQUIRES: map is not empty. Cost: linear.
std::optional<RowMap> RowsOf(const ElementMap& map, int64_t source_count, int64_t least);

}  // namespace aicf
