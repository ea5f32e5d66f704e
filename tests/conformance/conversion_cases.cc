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

// A case of one elementwise step over the given elements. build(builder, input) makes the result.
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

// The values of all codes, the middles between neighbours, and the floats just beside all of these;
// and random bits.
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

// Multiples of a quarter around zero, around the ends of a type's range and beyond these, and the
// floats just beside them; infinities and NaN; and random bits.
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

// How a value becomes a code of type `to`: zero point, whether it is rounded, and divisor.
struct Coding {
  DType to;
  double zero = 0;
  bool rounds = true;
  float divisor = 1;
};

double LeastOf(DType d) {
  return KindOf(d) == DTypeKind::kSigned ? -std::exp2(8.0 * static_cast<double>(DTypeBytes(d)) - 1)
                                         : 0;
}

// round(x / divisor) + zero, saturated: as QuantizeLinear is lowered.
Case Quantisation(const Coding& coding, const std::vector<float>& floats) {
  const DType to = coding.to;
  const double least = LeastOf(to);
  const double most = least + std::exp2(8.0 * static_cast<double>(DTypeBytes(to))) - 1;
  Case c = Elementwise(DType::kF32, to, BytesOf(floats), [&](ExprBuilder& b, uint16_t x) {
    const auto with = [&](ExprOp op, double by) { x = b.Binary(op, x, b.Const(by, DType::kF32)); };
    if (coding.divisor != 1) with(ExprOp::kDiv, static_cast<double>(coding.divisor));
    if (coding.rounds) x = b.Unary(ExprOp::kRound, x);
    if (coding.zero != 0) with(ExprOp::kAdd, coding.zero);
    with(ExprOp::kMax, least);
    with(ExprOp::kMin, most);
    return b.Cast(x, to);
  });
  c.name = StrCat(coding.rounds ? "rounded and " : "", "saturated to ", DTypeName(to),
                  " with zero point ", static_cast<int64_t>(coding.zero), ", divided by ",
                  std::to_string(coding.divisor));
  return c;
}

// Values beyond the largest number become the largest number, as in all conversions to codes of
// float8.
Case SaturatedFloat8() {
  Case c = Elementwise(DType::kF32, DType::kF8E4M3FN, BytesOf(HardFloats(DType::kF8E4M3FN)),
                       [](ExprBuilder& b, uint16_t x) {
                         x = b.Binary(ExprOp::kMax, x, b.Const(-448, DType::kF32));
                         return b.Binary(ExprOp::kMin, x, b.Const(448, DType::kF32));
                       });
  c.name = "f32 to f8e4m3fn, saturated";
  return c;
}

// Values whose quotients are multiples of a half, where rounding decides, and the floats just
// beside them.
std::vector<float> TiesOf(float divisor) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> out = FloatsAround(-128, 127);
  for (int half = -700; half <= 700; ++half) {
    float x = static_cast<float>(half) * 0.5f * divisor;
    for (int i = 0; i < 3; ++i) x = std::nextafter(x, -infinity);
    for (int i = 0; i < 7; ++i, x = std::nextafter(x, infinity)) out.push_back(x);
  }
  Random random(19);
  for (int i = 0; i < 4000; ++i) {
    out.push_back(divisor * 0x1p-16f * static_cast<float>(random.Int(-1 << 24, 1 << 24)));
  }
  return out;
}

// (code - zero) * scale, as DequantizeLinear is lowered, for every code of type `from`.
Case Dequantisation(DType from, double zero) {
  std::vector<std::byte> codes(256);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i);
  Case c = Elementwise(from, DType::kF32, std::move(codes), [&](ExprBuilder& b, uint16_t x) {
    x = b.Cast(x, DType::kF32);
    if (zero != 0) x = b.Binary(ExprOp::kSub, x, b.Const(zero, DType::kF32));
    return b.Binary(ExprOp::kMul, x, b.Const(0.0372, DType::kF32));
  });
  c.name = StrCat("number of ", DTypeName(from), " with zero point ", static_cast<int64_t>(zero));
  return c;
}

// A quotient becomes a code, and the number that the code stands for is divided again and becomes
// another code. Quantisers leave this in front of an addition.
Case Requantisation(DType code, double zero, float divisor) {
  const double least = LeastOf(code), most = least + 255;
  Case c = Elementwise(DType::kF32, DType::kU8, BytesOf(TiesOf(divisor)),
                       [&](ExprBuilder& b, uint16_t x) {
                         const auto with = [&](ExprOp op, double by) {
                           x = b.Binary(op, x, b.Const(by, DType::kF32));
                         };
                         with(ExprOp::kDiv, static_cast<double>(divisor));
                         x = b.Unary(ExprOp::kRound, x);
                         if (zero != 0) with(ExprOp::kAdd, zero);
                         with(ExprOp::kMax, least);
                         with(ExprOp::kMin, most);
                         x = b.Cast(b.Cast(x, code), DType::kF32);
                         if (zero != 0) with(ExprOp::kSub, zero);
                         with(ExprOp::kMul, static_cast<double>(divisor));
                         with(ExprOp::kDiv, static_cast<double>(divisor) * 1.7);
                         x = b.Unary(ExprOp::kRound, x);
                         with(ExprOp::kAdd, 121);
                         with(ExprOp::kMax, 0);
                         with(ExprOp::kMin, 255);
                         return b.Cast(x, DType::kU8);
                       });
  c.name = StrCat("through ", DTypeName(code), " with zero point ", static_cast<int64_t>(zero),
                  ", divided by ", std::to_string(divisor));
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
  cases.push_back(SaturatedFloat8());
  for (const DType to : {DType::kI8, DType::kU8, DType::kI16, DType::kU16}) {
    for (const double zero : {0.0, 3.0}) {
      for (const bool rounds : {true, false}) {
        const double least = LeastOf(to) - zero;
        const double most = least + std::exp2(8.0 * static_cast<double>(DTypeBytes(to))) - 1;
        cases.push_back(Quantisation({to, zero, rounds}, FloatsAround(least, most)));
      }
    }
  }
  // The short form of a division does not take the last two divisors: one has a significand of only
  // ones, the other is tiny.
  for (const float by : {0.0372f, -3.0f, 1.0f / 3, 1e-6f, 7.5e8f, 0x1.fffffep0f, 1e-12f}) {
    cases.push_back(Quantisation({DType::kU8, 0, true, by}, TiesOf(by)));
    cases.push_back(Quantisation({DType::kI8, -7, true, by}, TiesOf(by)));
  }
  for (const double zero : {0.0, 2.0, -11.0, 127.0, -128.0}) {
    cases.push_back(Dequantisation(DType::kI8, zero));
    cases.push_back(Requantisation(DType::kI8, zero, 0.0971f));
    cases.push_back(Dequantisation(DType::kU8, zero + 128));
    cases.push_back(Requantisation(DType::kU8, zero + 128, 0.0971f));
  }
  return cases;
}

}  // namespace aicf::conformance
