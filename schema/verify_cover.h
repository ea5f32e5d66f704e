/// Exact reasoning about which elements strided views name: whether views of one buffer are apart,
/// whether together they name each element once, and whether they name all that another one reads.
#pragma once

#include <algorithm>
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

/// The elements that a view names, as axes of positive strides in ascending order. Axes that name
/// no further element are left out, and axes that together are one run of memory are one axis. The
/// axes are stored inside the object, since models have thousands of views.
class NamedElements {
 public:
  struct Axis {
    int64_t stride, extent;
    friend bool operator==(const Axis&, const Axis&) = default;
  };

  /// REQUIRES: a validated view. Of one that names no element, only empty() and count() mean
  /// something.
  explicit NamedElements(const abi::View& view);

  int64_t offset() const { return offset_; }
  std::span<const Axis> axes() const { return {axes_, count_}; }
  bool empty() const { return empty_; }
  int64_t last() const;
  /// How many elements; one that two indices name counts twice.
  int64_t count() const;

  /// If the elements of `next` lie right behind these along one axis, so that both together are
  /// what one view names, no element twice, adds them and returns true. Both views lie inside one
  /// buffer.
  bool Join(const NamedElements& next);

  /// The same axes from the same element on.
  friend bool operator==(const NamedElements& a, const NamedElements& b) {
    return a.offset_ == b.offset_ && a.empty_ == b.empty_ && std::ranges::equal(a.axes(), b.axes());
  }

 private:
  void Insert(const Axis& axis);
  void JoinRuns();
  bool FollowsAlong(const NamedElements& next, size_t axis) const;

  int64_t offset_;
  bool empty_ = false;
  size_t count_ = 0;
  Axis axes_[kMaxRank];
};

/// Every verifier has a prover of its own, whose budget bounds the work that hostile views can ask
/// for.
///
/// Views are first written as boxes: an element's offset is a number in a mixed radix made of the
/// views' strides, and a box has an interval for each digit. (Every slice, transpose and
/// concatenation of a row-major buffer is a box.) Boxes are cheap to compare. Views that have no
/// common radix are compared element by element, within the budget.
class CoverProver {
 public:
  using Views = std::span<const abi::View* const>;
  /// Elements of views, none of them empty.
  using Parts = std::span<const NamedElements* const>;

  /// REQUIRES: each view passed ValidateProblem as an output (no element twice) and its extent lies
  /// inside the buffer of `elements` elements.
  /// Empty when the views name every element exactly once, else one sentence.
  std::string CheckPartition(int64_t elements, Parts parts);
  /// True when no element is named by two of the views, whose extents lie inside the buffer. False
  /// also when that cannot be shown within the budget, or for a view whose own windows overlap.
  bool Disjoint(int64_t elements, Views views);
  bool Disjoint(int64_t elements, Parts parts);
  bool Disjoint(int64_t elements, const abi::View& one, const abi::View& other);
  /// True when `view` shares no element with any of `others`, which may share elements with each
  /// other. False also when that cannot be shown. Cost: linear in the number of `others`.
  bool Apart(int64_t elements, const abi::View& view, Views others);
  bool Apart(int64_t elements, const abi::View& view, Parts others);
  /// True when every element of `part` is named by exactly one of `writes`; what `writes` name
  /// beside it does not matter. `part` may repeat elements. False also when that cannot be shown.
  /// Cost: linear in the number of `writes`, and quadratic in the number of those that it meets.
  bool Covers(int64_t elements, const abi::View& part, Views writes);
  bool Covers(int64_t elements, const abi::View& part, Parts writes);

 private:
  bool Spend(uint64_t work);
  bool DisjointByElements(int64_t elements, Parts parts);
  bool ApartByElements(int64_t elements, const NamedElements& view, Parts others);
  bool CoversByElements(int64_t elements, const NamedElements& part, Parts writes);

  uint64_t budget_ = uint64_t{1} << 25;
};

}  // namespace aicf::schema
