/// Exact reasoning about which elements strided views name: whether views of one buffer are apart,
/// whether together they name each element once, and whether they name all that another one reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/abi/problem.h"

namespace aicf::schema {

/// abi::ElementsOf without its checks. REQUIRES: a validated view.
inline int64_t ElementsOfValid(const abi::View& view) {
  int64_t count = 1;
  for (int64_t extent : view.shape) count *= extent;  // fits: ExtentOf multiplied those above 0
  return count;
}

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
  /// True when `view` shares no element with any of `others`, which may share elements with each
  /// other. False also when that cannot be shown. Cost: linear in the number of `others`.
  bool Apart(int64_t elements, const abi::View& view, Views others);
  /// True when every element of `part` is named by exactly one of `writes`; what `writes` name
  /// beside it does not matter. `part` may repeat elements. False also when that cannot be shown.
  /// Cost: linear in the number of `writes`, and quadratic in the number of those that it meets.
  bool Covers(int64_t elements, const abi::View& part, Views writes);

 private:
  bool Spend(uint64_t work);
  bool DisjointByElements(int64_t elements, Views views);
  bool ApartByElements(int64_t elements, const abi::View& view, Views others);
  bool CoversByElements(int64_t elements, const abi::View& part, Views writes);

  uint64_t budget_ = uint64_t{1} << 25;
};

}  // namespace aicf::schema
