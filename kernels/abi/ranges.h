/// Ranges of numeric attributes. The code that makes problems keeps to them, and ValidateProblem
/// (kernels/abi/problem.h) refuses problems that do not, because kernels compute addresses from
/// some of these numbers and trip counts from others.
#pragma once

#include <cstdint>
#include <limits>

namespace aicf::abi {

struct RealRange {
  double low, high;
  /// False for NaN.
  bool Holds(double v) const { return v >= low && v <= high; }
};

/// Finite as an f32, in which kernels take most attributes.
inline constexpr RealRange kFiniteReal = {-std::numeric_limits<float>::max(),
                                          std::numeric_limits<float>::max()};
/// Scales of a resize, as they occur with extents up to 2^40. Coordinates that are formed with them
/// are finite in f32, so that they can be clamped to an axis.
inline constexpr RealRange kResizeScale = {0x1p-40, 0x1p40};
/// Fills of integers: what a 64-bit one can hold, signed or not.
inline constexpr RealRange kIntegerFill = {-0x1p63, 0x1p64};

/// Most positions along a spatial axis, padding included, that windows may lie in, and most
/// elements of one window. With this limit, arithmetic on positions fits 32 bits.
inline constexpr int64_t kMaxWindowReach = (int64_t{1} << 31) - 1;
/// Most samples of a bin along one axis of a roi, whether the attribute or the box determines their
/// number.
inline constexpr int64_t kMaxRoiSamples = 1024;

}  // namespace aicf::abi
