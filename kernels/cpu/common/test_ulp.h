/// Errors of f32 functions in units in the last place, samples to look for them at, and the bounds.
/// For tests.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/abi/expr.h"

namespace aicf::cpu {

enum class VectorHome { kBlock, kSoftmax, kTile };

/// A row of vector_functions.def.
struct VectorFunction {
  VectorHome home;
  abi::ExprOp op;
  double ulp, low, high, beyond;
};
inline constexpr VectorFunction kVectorFunctions[] = {
#define AICF_VECTOR_FUNCTION(home, op, ulp, low, high, beyond) \
  {VectorHome::home, abi::ExprOp::op, ulp, low, high, beyond},
#include "kernels/cpu/common/vector_functions.def"
#undef AICF_VECTOR_FUNCTION
};

/// The unit in the last place of a finite f32; of 0 the least denormal.
inline double UlpOf(float x) {
  int exponent = 0;
  std::frexp(static_cast<double>(x), &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

/// Distance of `got` from the exact value in ULP of the f32 nearest to it; huge for a wrong class.
inline double UlpError(double exact, float got) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got) return 0;
    // One may round to infinity where the other is the largest finite value.
    const float finite = std::isinf(nearest) ? got : nearest;
    return std::fabs(finite) == 0x1.fffffep127f ? 1 : 1e30;
  }
  return std::fabs(static_cast<double>(got) - exact) / UlpOf(nearest);
}

/// 2^20 evenly spaced bit patterns, 2^19 random ones and 2^19 of moderate size, and special values.
inline const std::vector<float>& UlpSamples() {
  static const std::vector<float> inputs = [] {
    std::vector<float> v;
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
      v.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1 << 19; ++i)
      v.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    std::uniform_real_distribution<float> moderate(-20, 20);
    for (int i = 0; i < 1 << 19; ++i) v.push_back(moderate(random));
    for (float s : {0.0f,     1.0f,       0x1p-149f,     0x1p-126f,      0x1.fffffep127f,
                    INFINITY, 88.72284f,  89.0f,         103.97f,        104.0f,
                    0x1p-12f, 4.0f,       0.5f,          1.5f,           2.5f,
                    0x1p23f,  8388609.0f, 0x1.921fb6p0f, 0x1.6ac5b2p22f, 1e10f}) {
      for (float near : {std::nextafter(s, -INFINITY), s, std::nextafter(s, INFINITY)}) {
        v.push_back(near);
        v.push_back(-near);
      }
    }
    v.push_back(NAN);
    while (v.size() % 1000 != 0) v.push_back(0.25f);
    return v;
  }();
  return inputs;
}

/// Empty, or the sample that is further from the exact result than the row allows; `worst` is the
/// largest error in ULP where the row counts them.
template <class Exact>
std::vector<float> BeyondBound(const VectorFunction& row, const std::vector<float>& x,
                               const std::vector<float>& y, Exact&& exact, double* worst) {
  std::vector<float> found;
  *worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i]));
    const bool counted = std::isnan(x[i]) || (x[i] >= row.low && x[i] <= row.high);
    const double error =
        counted ? UlpError(want, y[i]) : std::fabs(static_cast<double>(y[i]) - want);
    if (counted) *worst = std::max(*worst, error);
    if (!(error <= (counted ? row.ulp : row.beyond))) found.push_back(x[i]);
  }
  return found;
}

}  // namespace aicf::cpu
