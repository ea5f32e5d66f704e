/// Ranges of attributes that are numbers. Whoever makes problems keeps to them, and ValidateProblem
/// (kernels/abi/problem.h) refuses what does not: kernels compute places in memory from some of
/// these numbers, and trip counts from others.
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
/// Scales of a resize: those of extents up to 2^40. Coordinates that are formed with them are
/// finite in f32, so that they can be clamped to an axis.
inline constexpr RealRange kResizeScale = {0x1p-40, 0x1p40};
/// Fills of integers: what a 64-bit one can hold, signed or not.
inline constexpr RealRange kIntegerFill = {-0x1p63, 0x1p64};

/// Positions along a spatial axis, padding included, that windows may lie in, and elements of one
/// window: arithmetic on positions fits 32 bits.
inline constexpr int64_t kMaxWindowReach = (int64_t{1} << 31) - 1;
/// Samples of a bin along one axis of a roi, whether the attribute or the box says how many.
inline constexpr int64_t kMaxRoiSamples = 1024;

}  // namespace aicf::abi
