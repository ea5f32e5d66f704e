// Ops on bits, triangles, and the elementwise ops beside them.
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::ExpectGraph;
using testing::Generate;
using testing::Random;
using testing::ToArray;

TEST(Bits, LogicOnIntegers) {
  for (DType dtype : {DType::kU8, DType::kI8, DType::kI32, DType::kI64}) {
    const double low = dtype == DType::kU8 ? 0 : -100;
    const ir::Tensor a = Random(dtype, {3, 4}, 1, low, 100), b = Random(dtype, {4}, 2, low, 100);
    const Array x = ToArray(a), y = ToArray(b);
    const std::pair<const char*, int64_t (*)(int64_t, int64_t)> ops[] = {
        {"BitwiseAnd", [](int64_t p, int64_t q) { return p & q; }},
        {"BitwiseOr", [](int64_t p, int64_t q) { return p | q; }},
        {"BitwiseXor", [](int64_t p, int64_t q) { return p ^ q; }}};
    const std::string type(DTypeName(dtype));
    for (const auto& [op, f] : ops) {
      const auto& apply = f;
      const Array want = Generate({3, 4}, [&](const Dims& at) {
        return static_cast<double>(
            apply(static_cast<int64_t>(x[at]), static_cast<int64_t>(y[{at[1]}])));
      });
      ExpectGraph(StrCat("graph \"g\" {\ninput %a: ", type, "[3x4]\ninput %b: ", type,
                         "[4]\n%y: ", type, "[3x4] = ", op, "(%a, %b)\noutput %y\n}"),
                  {{"a", a}, {"b", b}}, want, 0, 0);
    }
    const Array flipped = Generate(
        {3, 4}, [&](const Dims& at) { return dtype == DType::kU8 ? 255 - x[at] : -1 - x[at]; });
    ExpectGraph(StrCat("graph \"g\" {\ninput %a: ", type, "[3x4]\n%y: ", type,
                       "[3x4] = BitwiseNot(%a)\noutput %y\n}"),
                {{"a", a}}, flipped, 0, 0);
  }
}

TEST(Bits, Shifts) {
  const ir::Tensor a = Random(DType::kU8, {40}, 1, 0, 256), n = Random(DType::kU8, {40}, 2, 0, 8);
  const Array x = ToArray(a), s = ToArray(n);
  for (bool left : {false, true}) {
    const Array want = Generate({40}, [&](const Dims& at) {
      const auto v = static_cast<unsigned>(x[at]), by = static_cast<unsigned>(s[at]);
      return static_cast<double>(left ? (v << by) & 255u : v >> by);
    });
    ExpectGraph(
        StrCat("graph \"g\" {\ninput %a: u8[40]\ninput %n: u8[40]\n%y: u8[40] = BitShift(%a, "
               "%n) {direction=\"",
               left ? "LEFT" : "RIGHT", "\"}\noutput %y\n}"),
        {{"a", a}, {"n", n}}, want, 0, 0);
  }
}

// Right shifts of signed numbers copy the sign; a negative or large distance leaves only what that
// gives.
TEST(Bits, SignedShifts) {
  const ir::Tensor a = Random(DType::kI16, {60}, 3, -32768, 32767);
  const ir::Tensor n = Random(DType::kI16, {60}, 4, -3, 19);
  const Array x = ToArray(a), s = ToArray(n);
  for (bool left : {false, true}) {
    const Array want = Generate({60}, [&](const Dims& at) {
      const auto v = static_cast<int>(x[at]), by = static_cast<int>(s[at]);
      if (by < 0 || by > 15) return !left && v < 0 ? -1.0 : 0.0;
      return left ? static_cast<double>(static_cast<int16_t>(static_cast<unsigned>(v) << by))
                  : std::floor(v / std::exp2(by));
    });
    ExpectGraph(
        StrCat("graph \"g\" {\ninput %a: i16[60]\ninput %n: i16[60]\n%y: i16[60] = BitShift(%a, "
               "%n) {direction=\"",
               left ? "LEFT" : "RIGHT", "\"}\noutput %y\n}"),
        {{"a", a}, {"n", n}}, want, 0, 0);
  }
}

TEST(Bits, ReinterpretedAcrossTypes) {
  const ir::Tensor x = Random(DType::kF32, {3, 4}, 1);
  const Array want = Generate({4, 3}, [&](const Dims& at) {
    return static_cast<double>(std::bit_cast<int32_t>(x.at<float>(at[1] * 4 + at[0]))) + 1;
  });
  ExpectGraph(
      "graph \"g\" {\ninput %x: f32[3x4]\n%t: f32[4x3] = Transpose(%x)\n"
      "%b: i32[4x3] = BitCast(%t) {to=\"i32\"}\nconst %one: i32[] = [1]\n"
      "%y: i32[4x3] = Add(%b, %one)\noutput %y\n}",
      {{"x", x}}, want, 0, 0);
}

TEST(Bits, BitCastOfAnotherSizeOrToBoolIsRefused) {
  for (const char* to : {"f64", "i8", "bool"}) {
    auto graph = ir::ParseGraph(StrCat("graph \"g\" {\ninput %x: u8[4]\n%y: ", to,
                                       "[4] = BitCast(%x) {to=\"", to, "\"}\noutput %y\n}"));
    EXPECT_EQ(graph.ok(), std::string(to) == "i8") << graph.status().ToString();
    if (graph.ok()) continue;
    EXPECT_NE(graph.status().message().find(StrCat("the bits of u8 as ", to)), std::string::npos)
        << graph.status().ToString();
  }
}

TEST(Trilu, EveryDiagonalOfBothTriangles) {
  for (DType dtype : {DType::kF32, DType::kI64, DType::kBool}) {
    for (int64_t k : {-7, -1, 0, 2, 9}) {
      for (bool upper : {false, true}) {
        const ir::Tensor x = Random(dtype, {2, 3, 5}, 3, 1, dtype == DType::kBool ? 1.5 : 9);
        const Array a = ToArray(x);
        const Array want = Generate(a.shape, [&](const Dims& at) {
          return (upper ? at[1] + k <= at[2] : at[2] <= at[1] + k) ? a[at] : 0;
        });
        const std::string type(DTypeName(dtype));
        ExpectGraph(
            StrCat("graph \"g\" {\ninput %x: ", type, "[2x3x5]\ninput %k: i64[]\n%y: ", type,
                   "[2x3x5] = Trilu(%x, %k) {upper=", upper ? 1 : 0, "}\noutput %y\n}"),
            {{"x", x}, {"k", ir::Tensor::FromValues<int64_t>(DType::kI64, {}, std::span(&k, 1))}},
            want, 0, 0);
      }
    }
  }
}

TEST(Elementwise, ShrinkAndSwiGLU) {
  const ir::Tensor x = Random(DType::kF32, {50}, 5), b = Random(DType::kF32, {50}, 6);
  const Array a = ToArray(x), other = ToArray(b);
  ExpectGraph(
      "graph \"g\" {\ninput %x: f32[50]\n"
      "%y: f32[50] = Shrink(%x) {bias=0.25, lambd=0.75}\noutput %y\n}",
      {{"x", x}},
      Generate({50},
               [&](const Dims& at) {
                 return a[at] < -0.75 ? a[at] + 0.25 : a[at] > 0.75 ? a[at] - 0.25 : 0;
               }),
      1e-6, 1e-7);
  const ir::Tensor n = Random(DType::kI32, {50}, 7, -4, 5);
  const Array whole = ToArray(n);
  ExpectGraph(
      "graph \"g\" {\ninput %x: i32[50]\n"
      "%y: i32[50] = Shrink(%x) {bias=1.0, lambd=1.5}\noutput %y\n}",
      {{"x", n}},
      Generate({50},
               [&](const Dims& at) {
                 return whole[at] < -1.5 ? whole[at] + 1 : whole[at] > 1.5 ? whole[at] - 1 : 0;
               }),
      0, 0);
  ExpectGraph(
      "graph \"g\" {\ninput %x: f32[50]\ninput %b: f32[50]\n"
      "%y: f32[50] = SwiGLU(%x, %b) {alpha=1.5}\noutput %y\n}",
      {{"x", x}, {"b", b}},
      Generate({50},
               [&](const Dims& at) { return a[at] / (1 + std::exp(-1.5 * a[at])) * other[at]; }),
      1e-5, 1e-7);
}

TEST(Normalize, RootMeanSquareOverTheLastAxes) {
  for (int axis : {0, 1, -1}) {
    const ir::Tensor x = Random(DType::kF32, {3, 4, 5}, 8), s = Random(DType::kF32, {5}, 9);
    const Array a = ToArray(x), scale = ToArray(s);
    const int first = axis < 0 ? 2 : axis;
    const Array want = Generate({3, 4, 5}, [&](const Dims& at) {
      double sum = 0, count = 0;
      testing::ForEach({3, 4, 5}, [&](const Dims& i) {
        for (int d = 0; d < first; ++d) {
          if (i[d] != at[d]) return;
        }
        sum += a[i] * a[i];
        ++count;
      });
      return a[at] / std::sqrt(sum / count + 0.01) * scale[{at[2]}];
    });
    ExpectGraph(StrCat("graph \"g\" {\ninput %x: f32[3x4x5]\ninput %s: f32[5]\n%y: f32[3x4x5] = "
                       "RMSNormalization(%x, %s) {axis=",
                       axis, ", epsilon=0.01}\noutput %y\n}"),
                {{"x", x}, {"s", s}}, want, 1e-5, 1e-6);
  }
}

}  // namespace
}  // namespace aicf
