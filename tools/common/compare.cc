#include "tools/common/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/float16.h"
#include "base/float8.h"
#include "base/status.h"

namespace aicf::tools {
namespace {

/// An element, either a float or an integer. Integers keep all of their 64 bits, so that they are
/// compared exactly.
struct Number {
  double value = 0;
  __int128 integer = 0;
  bool is_integer = false;
};

Number At(const TensorView& tensor, int64_t i) {
  return VisitStorage(tensor.dtype, [&](auto sample) {
    using T = decltype(sample);
    __builtin_memcpy(&sample, tensor.bytes.data() + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    Number n;
    if (tensor.dtype == DType::kF16) {
      n.value = F16ToF32(static_cast<uint16_t>(sample));
    } else if (tensor.dtype == DType::kBF16) {
      n.value = BF16ToF32(static_cast<uint16_t>(sample));
    } else if (IsFloat(tensor.dtype) && IsStorageOnly(tensor.dtype)) {
      n.value = Float8ToF32(static_cast<uint8_t>(sample), tensor.dtype);
    } else {
      n.value = static_cast<double>(sample);
      n.is_integer = !IsFloat(tensor.dtype);
      if (n.is_integer)
        n.integer = static_cast<__int128>(sample);  // NOLINT(bugprone-signed-char-misuse)
    }
    return n;
  });
}

double AbsoluteError(const Number& a, const Number& b) {
  if (a.is_integer && b.is_integer) {
    const __int128 difference =
        a.integer > b.integer ? a.integer - b.integer : b.integer - a.integer;
    return static_cast<double>(difference);
  }
  if (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value))) return 0;
  const double error = std::fabs(a.value - b.value);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

Tolerance Tolerance::OrDefault() const {
  if (atol || rtol || rel) return *this;
  return {1e-5, 1e-5, std::nullopt};
}

std::string Tolerance::ToString() const {
  std::string out;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (!value) return;
    char text[48];
    std::snprintf(text, sizeof text, "%s%s %g", out.empty() ? "" : ", ", name, *value);
    out += text;
  };
  add("atol", atol);
  add("rtol", rtol);
  add("rel", rel);
  return out;
}

namespace {

int64_t ElementsOf(const TensorView& tensor) {
  return static_cast<int64_t>(tensor.bytes.size()) / DTypeBytes(tensor.dtype);
}

/// Sums up the Euclidean norms of the difference and of the expected tensor. Where a NaN or an
/// infinity is matched by another value, the error is infinite.
class Norms {
 public:
  void Add(double error, double magnitude) {
    error_ += error * error;
    expected_ += magnitude * magnitude;
    if (magnitude > 0) relative_ = std::max(relative_, error / magnitude);
  }
  double largest_relative() const { return relative_; }
  double relative_l2() const {
    if (error_ == 0) return 0;
    return expected_ > 0 ? std::sqrt(error_ / expected_) : std::numeric_limits<double>::infinity();
  }

 private:
  double error_ = 0, expected_ = 0, relative_ = 0;
};

}  // namespace

Comparison Compare(const TensorView& got, const TensorView& expected, const Tolerance& tolerance) {
  Comparison result;
  result.elements = ElementsOf(got);
  const bool elementwise = tolerance.atol || tolerance.rtol;
  double scale = 0;
  Norms norms;
  for (int64_t i = 0; i < result.elements; ++i) {
    const Number a = At(got, i);
    const Number b = At(expected, i);
    const double error = AbsoluteError(a, b);
    const double magnitude = std::isfinite(b.value) ? std::fabs(b.value) : 0;
    scale = std::max(scale, magnitude);
    norms.Add(error, magnitude);
    if (error > 0) ++result.different;
    const double limit =
        elementwise ? tolerance.atol.value_or(0) + tolerance.rtol.value_or(0) * magnitude : 0;
    if (error > limit) ++result.mismatches;
    if (error > result.max_abs_error) {
      result.max_abs_error = error;
      result.worst = i;
      result.got = a.value;
      result.expected = b.value;
    }
  }
  if (result.max_abs_error > 0) {
    result.max_scaled_error =
        scale > 0 ? result.max_abs_error / scale : std::numeric_limits<double>::infinity();
  }
  result.max_rel_error = norms.largest_relative();
  result.relative_l2 = norms.relative_l2();
  if (elementwise && result.mismatches > 0) result.pass = false;
  if (tolerance.rel && !(result.max_scaled_error <= *tolerance.rel)) result.pass = false;
  return result;
}

double ElementAt(const TensorView& tensor, int64_t i) { return At(tensor, i).value; }

double RootMeanSquare(const TensorView& tensor) {
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < ElementsOf(tensor); ++i) {
    const double value = At(tensor, i).value;
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++finite;
  }
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

std::string IndexText(int64_t flat, const Dims& shape) {
  std::string out;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const int64_t extent = std::max<int64_t>(shape[axis], 1);
    out = StrCat(flat % extent, out.empty() ? "" : ",", out);
    flat /= extent;
  }
  return out;
}

}  // namespace aicf::tools
