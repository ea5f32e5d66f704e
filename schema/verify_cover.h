/// Exact reasoning about which elements strided views name: whether views of one buffer are apart,
/// and whether together they name each element once.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/abi/problem.h"

namespace aicf::schema {

/// One per verified program: `budget` bounds the work that hostile views can ask for.
///
/// Views are first written as boxes of digits in a mixed radix made of their strides (every slice,
/// transpose and concatenation of a row-major buffer is one); boxes are cheap to compare. Views
/// that have no common radix are compared element by element, within the budget.
class CoverProver {
 public:
  using Views = std::span<const abi::View* const>;

  /// REQUIRES: each view passed ValidateProblem as an output (no element twice) and its extent lies
  /// inside the buffer of `elements` elements.
  /// Empty when the views name every element exactly once, else one sentence.
  std::string CheckPartition(int64_t elements, Views views);
  /// True when no element is named by two of the views, whose extents lie inside the buffer. False
  /// also when that cannot be shown within the budget, or for a view whose own windows overlap.
  bool Disjoint(int64_t elements, Views views);

 private:
  bool Spend(uint64_t work);
  bool DisjointByElements(int64_t elements, Views views);

  uint64_t budget_ = uint64_t{1} << 25;
};

}  // namespace aicf::schema
