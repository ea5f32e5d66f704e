#include "tests/conformance/conversion_cases.h"

#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "base/float8.h"

namespace aicf::conformance {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;

// One elementwise step over the given elements; `build` makes its result of the input.
template <class Build>
Case Elementwise(DType from, DType to, std::vector<std::byte> elements, const Build& build) {
  Case c;
  const int64_t count = static_cast<int64_t>(elements.size()) / DTypeBytes(from);
  c.problem.inputs = {abi::DenseView(from, {count})};
  c.problem.outputs = {abi::DenseView(to, {count})};
  c.problem.core_inputs = 1;
  abi::ExprBuilder b;
  c.problem.epilogue = b.Finish({build(b, b.Input(0, abi::ComputeDType(from)))});
  c.tolerance = {0, 0};
  c.buffers = {std::move(elements),
               std::vector<std::byte>(static_cast<size_t>(count * DTypeBytes(to)) + 32)};
  return c;
}

// Every code's value, the middle of neighbours, and what lies just beside both; and random bits.
std::vector<float> HardFloats(DType dtype) {
  std::vector<float> out;
  const float infinity = std::numeric_limits<float>::infinity();
  for (int code = 0; code < 256; ++code) {
    const float v = Float8ToF32(static_cast<uint8_t>(code), dtype);
    const float next = Float8ToF32(static_cast<uint8_t>(code + 1), dtype);
    for (float x : {v, v + (next - v) / 2}) {
      for (float y : {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)}) {
        out.push_back(y);
        out.push_back(-y);
      }
    }
  }
  Random random(13);
  for (int i = 0; i < 4000; ++i) {
    const auto bits = static_cast<uint32_t>(random.Int(0, UINT32_MAX));
    out.push_back(std::bit_cast<float>(bits));
  }
  return out;
}

std::vector<std::byte> BytesOf(const std::vector<float>& floats) {
  const auto bytes = std::as_bytes(std::span(floats));
  return {bytes.begin(), bytes.end()};
}

Case Conversion(DType from, DType to, std::vector<std::byte> elements) {
  Case c = Elementwise(from, to, std::move(elements), [&](ExprBuilder& b, uint16_t x) {
    return b.Cast(x, abi::ComputeDType(to));
  });
  c.name = StrCat(DTypeName(from), " to ", DTypeName(to));
  return c;
}

// Wholes, halves and what lies beside them, around the ends of the type and beyond; what is no
// number; and random bits.
std::vector<float> FloatsAround(double least, double most) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> out = {infinity, -infinity, std::nanf(""), 0.0f, -0.0f, 1e30f, -1e30f};
  for (const double end : {least, 0.0, most}) {
    for (int step = -12; step <= 12; ++step) {
      const auto x = static_cast<float>(end + step * 0.25);
      out.insert(out.end(), {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)});
    }
  }
  Random random(17);
  for (int i = 0; i < 1000; ++i) {
    out.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.Int(0, UINT32_MAX))));
  }
  return out;
}

// round(x) + zero, saturated: as QuantizeLinear is lowered.
Case Quantisation(DType to, double zero, bool rounds) {
  const double bits = static_cast<double>(8 * DTypeBytes(to));
  const bool is_signed = KindOf(to) == DTypeKind::kSigned;
  const double least = is_signed ? -std::exp2(bits - 1) : 0;
  const double most = std::exp2(is_signed ? bits - 1 : bits) - 1;
  Case c = Elementwise(DType::kF32, to, BytesOf(FloatsAround(least - zero, most - zero)),
                       [&](ExprBuilder& b, uint16_t x) {
                         if (rounds) x = b.Unary(ExprOp::kRound, x);
                         if (zero != 0) {
                           x = b.Binary(ExprOp::kAdd, x, b.Const(zero, DType::kF32));
                         }
                         x = b.Binary(ExprOp::kMax, x, b.Const(least, DType::kF32));
                         x = b.Binary(ExprOp::kMin, x, b.Const(most, DType::kF32));
                         return b.Cast(x, to);
                       });
  c.name = StrCat(rounds ? "rounded and " : "", "saturated to ", DTypeName(to), " with zero point ",
                  static_cast<int64_t>(zero));
  return c;
}

Case Quotient(float by) {
  std::vector<float> floats = FloatsAround(-128, 127);
  Random random(19);
  for (int i = 0; i < 20000; ++i) {  // of ordinary size, where the short form is taken
    const auto bits = static_cast<uint32_t>(random.Int(0, 0x7fffffff));
    floats.push_back(std::bit_cast<float>(0x30000000u + bits % 0x20000000u));
  }
  Case c = Elementwise(DType::kF32, DType::kF32, BytesOf(floats), [&](ExprBuilder& b, uint16_t x) {
    return b.Binary(ExprOp::kDiv, x, b.Const(static_cast<double>(by), DType::kF32));
  });
  c.name = StrCat("divided by ", std::to_string(by));
  return c;
}

}  // namespace

std::vector<Case> ConversionCases() {
  std::vector<std::byte> codes(256);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i);
  std::vector<Case> cases;
  for (int d = static_cast<int>(DType::kBool) + 1; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (IsFloat(dtype)) {
      cases.push_back(Conversion(dtype, DType::kF32, codes));
      cases.push_back(Conversion(DType::kF32, dtype, BytesOf(HardFloats(dtype))));
    } else {
      cases.push_back(Conversion(abi::ComputeDType(dtype), dtype, codes));
    }
  }
  for (const DType to : {DType::kI8, DType::kU8, DType::kI16, DType::kU16}) {
    for (const double zero : {0.0, 3.0}) {
      for (const bool rounds : {true, false}) cases.push_back(Quantisation(to, zero, rounds));
    }
  }
  // The last two are outside of what the short form takes: a significand of ones, a tiny divisor.
  for (const float by : {0.0372f, -3.0f, 1.0f / 3, 1e-6f, 7.5e8f, 0x1.fffffep0f, 1e-12f}) {
    cases.push_back(Quotient(by));
  }
  return cases;
}

}  // namespace aicf::conformance
