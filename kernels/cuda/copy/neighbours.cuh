// How kernels that walk a copy's output find the places of a vector's elements.
#pragma once

namespace aicf {

static_assert(kOutputCount0 % kVector == 0, "vectors are whole");

constexpr int kLineAxis = kInnerAxis < 0 ? 0 : kInnerAxis;
constexpr int kLine = static_cast<int>(Out0::extent(kLineAxis));

/// The axis that lies directly around the innermost one in memory; -1: there is none.
AICF_DEVICE constexpr int AxisAroundLines() {
  for (int d = 0; d < Out0::kRank; ++d) {
    if (d != kLineAxis && Out0::extent(d) > 1 && Out0::stride(d) == kLine) return d;
  }
  return -1;
}
constexpr int kAround = AxisAroundLines();
constexpr bool kWithinLine = kVector == 1 || kLine % kVector == 0;
static_assert(kWithinLine || (kVector % kLine == 0 && kAround >= 0), "vectors are whole lines");
static_assert(kWithinLine || Out0::extent(kAround < 0 ? 0 : kAround) * kLine % kVector == 0,
              "and of one place of all other axes");

/// The place of element j of a vector whose first element is at `first`. A vector lies within one
/// line of the innermost axis, or is several whole lines that follow each other along the axis
/// around it.
AICF_DEVICE Point NeighbourOf(const Point& first, int j) {
  Point point = first;
  if (kVector == 1) return point;
  point.c[kLineAxis] += kWithinLine ? j : j % kLine;
  if (!kWithinLine) point.c[kAround < 0 ? 0 : kAround] += j / kLine;
  return point;
}

}  // namespace aicf
