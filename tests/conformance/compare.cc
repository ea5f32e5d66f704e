#include "tests/conformance/compare.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/float16.h"
#include "base/float8.h"
#include "kernels/abi/kernel.h"
#include "kernels/cpu/functions.h"

namespace aicf::conformance {
namespace {

template <class T>
T Get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double NumberAt(const std::byte* at, DType dtype) {
  if (dtype == DType::kF16) return static_cast<double>(F16ToF32(Get<uint16_t>(at)));
  if (dtype == DType::kBF16) return static_cast<double>(BF16ToF32(Get<uint16_t>(at)));
  if (IsFloat(dtype) && IsStorageOnly(dtype)) return Float8ToF32(Get<uint8_t>(at), dtype);
  return VisitStorage(dtype, [&](auto v) { return static_cast<double>(Get<decltype(v)>(at)); });
}

// Distance to the next value of the dtype above |v|.
double Spacing(double v, DType dtype) {
  int mantissa = 23, least = -149;
  if (dtype == DType::kF64) mantissa = 52, least = -1074;
  if (dtype == DType::kF16) mantissa = 10, least = -24;
  if (dtype == DType::kBF16) mantissa = 7, least = -133;
  if (!IsFloat(dtype)) return 1;
  if (IsStorageOnly(dtype)) {
    const Float8Format format = Float8FormatOf(dtype);
    mantissa = format.mantissa;
    least = (mantissa == 0 ? 0 : 1) - format.bias - mantissa;
  }
  if (v == 0 || !std::isfinite(v)) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(least, std::ilogb(v) - mantissa));
}

int64_t OffsetOf(const abi::View& v, int64_t index) {
  int64_t offset = v.offset;
  for (int d = v.shape.rank() - 1; d >= 0; --d) {
    offset += index % v.shape[d] * v.strides[d];
    index /= v.shape[d];
  }
  return offset;
}

bool Near(double got, double want, DType dtype, const Tolerance& t) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (got == want) return true;
  if (std::isinf(got) || std::isinf(want)) {
    // The last step to infinity is one unit like any other.
    const double finite = std::isinf(got) ? want : got;
    return t.ulp >= 1 && !std::isinf(finite) && (got > 0) == (want > 0) &&
           !std::isfinite(static_cast<float>(finite * (1 + 0x1p-20)));
  }
  return std::fabs(got - want) <= t.ulp * Spacing(want, dtype) + t.absolute;
}

// Compares output r and marks the bytes of its elements in `touched`. All other bytes must be as
// they were.
std::string CompareOutput(const Case& c, size_t r, const std::vector<std::byte>& got,
                          const std::vector<std::byte>& want, std::vector<bool>& touched) {
  const abi::View& v = c.problem.outputs[r];
  const auto item = static_cast<size_t>(DTypeBytes(v.dtype));
  const int64_t count = abi::ElementsOf(v);
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(OffsetOf(v, i)) * item;
    for (size_t b = 0; b < item; ++b) touched[at + b] = true;
    const bool exact = !IsFloat(v.dtype) || (c.tolerance.ulp == 0 && c.tolerance.absolute == 0);
    if (std::memcmp(got.data() + at, want.data() + at, item) == 0) continue;
    const double a = NumberAt(got.data() + at, v.dtype), b = NumberAt(want.data() + at, v.dtype);
    // Zeros of either sign and NaNs of any payload are equal.
    if (exact ? (IsFloat(v.dtype) && (a == b || (std::isnan(a) && std::isnan(b))))
              : Near(a, b, v.dtype, c.tolerance)) {
      continue;
    }
    char text[160];
    std::snprintf(text, sizeof text, "output %zu element %lld of %lld: got %.9g, want %.9g", r,
                  static_cast<long long>(i), static_cast<long long>(count), a, b);
    return text;
  }
  return {};
}

}  // namespace

double ElementAsDouble(const abi::View& view, const std::vector<std::byte>& buffer, int64_t index) {
  const int64_t at = OffsetOf(view, index) * DTypeBytes(view.dtype);
  return NumberAt(buffer.data() + at, view.dtype);
}

Buffers RunReference(const Case& c) {
  Buffers buffers = c.buffers;
  std::vector<void*> addresses;
  for (std::vector<std::byte>& b : buffers) addresses.push_back(b.data());
  cpu::RunSerial(abi::ReferenceKey(c.problem.family), c.problem, addresses.data());
  return buffers;
}

std::string Difference(const Case& c, const Buffers& got, const Buffers& want) {
  const size_t inputs = c.problem.inputs.size();
  for (size_t b = 0; b < inputs; ++b) {
    if (got[b] != c.buffers[b]) return StrCat("input ", b, " was written");
  }
  for (size_t r = 0; r < c.problem.outputs.size(); ++r) {
    const size_t b = inputs + r;
    std::vector<bool> touched(got[b].size(), false);
    std::string difference = CompareOutput(c, r, got[b], want[b], touched);
    if (!difference.empty()) return difference;
    for (size_t i = 0; i < touched.size(); ++i) {
      if (!touched[i] && got[b][i] != c.buffers[b][i]) {
        return StrCat("output ", r, ": byte ", i, ", which is no element of it, was written");
      }
    }
  }
  return {};
}

}  // namespace aicf::conformance
