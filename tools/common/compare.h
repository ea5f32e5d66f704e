/// Comparison of an output with its reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/dims.h"
#include "base/dtype.h"

namespace aicf::tools {

/// A tensor passes when every test that is set holds:
///   atol/rtol: |got - expected| <= atol + rtol * |expected| for every element;
///   rel:       max |got - expected| <= rel * max |expected|.
struct Tolerance {
  std::optional<double> atol;
  std::optional<double> rtol;
  std::optional<double> rel;

  /// The same tests with the defaults (atol and rtol 1e-5) when none is set.
  Tolerance OrDefault() const;
  /// "atol 1e-05, rtol 1e-05".
  std::string ToString() const;
};

struct TensorView {
  DType dtype = DType::kF32;
  std::span<const std::byte> bytes;
};

struct Comparison {
  bool pass = true;
  int64_t elements = 0;
  int64_t mismatches = 0;       ///< elements outside atol/rtol (or, without them, different at all)
  int64_t different = 0;        ///< elements that are not equal, however near
  double max_abs_error = 0;     ///< infinite when a NaN or an infinity is matched by another value
  double max_scaled_error = 0;  ///< max_abs_error / max |expected|
  double max_rel_error = 0;     ///< largest |got - expected| / |expected| where that is not zero
  double relative_l2 = 0;       ///< |got - expected| / |expected|, Euclidean norms of the tensors
  int64_t worst = -1;           ///< flat index of the largest error; -1 when all are equal
  double got = 0, expected = 0;  ///< the elements at `worst`
};

/// NaN equals NaN, and an infinity equals itself. Integers are compared exactly, so that two of
/// them beyond 2^53 are never equal only because they round to the same double. REQUIRES: both hold
/// the same number of elements.
Comparison Compare(const TensorView& got, const TensorView& expected, const Tolerance& tolerance);

/// Element `i`; integers above 2^53 lose bits.
double ElementAt(const TensorView& tensor, int64_t i);

/// Root mean square of the finite elements; 0 when there is none.
double RootMeanSquare(const TensorView& tensor);

/// "3,17" for flat index 57 of shape 4x18.
std::string IndexText(int64_t flat, const Dims& shape);

}  // namespace aicf::tools
