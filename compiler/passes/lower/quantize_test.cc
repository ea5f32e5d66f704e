// Cast to and from the storage-only dtypes, QuantizeLinear and DequantizeLinear, against their
// definitions written out in double.
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Random;
using testing::RunGraph;
using testing::ShapeText;
using testing::ToArray;
using testing::ToTensor;

constexpr DType kFloat8[] = {DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
                             DType::kF8E5M2FNUZ};
constexpr DType kIntegers[] = {DType::kU8, DType::kI8, DType::kU16, DType::kI16,
                               DType::kU4, DType::kI4, DType::kU2,  DType::kI2};

struct Range {
  double low, high;
};
Range RangeOf(DType d) {
  const int bits = d == DType::kU4 || d == DType::kI4   ? 4
                   : d == DType::kU2 || d == DType::kI2 ? 2
                                                        : static_cast<int>(DTypeBytes(d)) * 8;
  if (KindOf(d) == DTypeKind::kUnsigned) return {0, std::exp2(bits) - 1};
  return {-std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

std::string Input(std::string_view name, DType dtype, const Dims& shape) {
  return StrCat(" input %", name, ": ", DTypeName(dtype), ShapeText(shape));
}

// One Cast of a vector.
Array CastOf(const std::vector<double>& values, DType from, DType to, std::string_view attrs = "") {
  Array x({static_cast<int64_t>(values.size())});
  x.data = values;
  const std::string text =
      StrCat("graph \"g\" {", Input("x", from, x.shape), " %y: ", DTypeName(to),
             " = Cast(%x) {to=\"", DTypeName(to), "\"", attrs, "} output %y }");
  const auto run = RunGraph(text, {{"x", ToTensor(x, from)}});
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  return run.ok() ? run->outputs[0] : Array();
}

void ExpectValues(const Array& got, const std::vector<double>& want) {
  ASSERT_EQ(got.data.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got.data[i])) << i;
    } else {
      EXPECT_EQ(got.data[i], want[i]) << i;
    }
  }
}

const double kNan = std::nan("");
const double kInf = HUGE_VAL;

TEST(Cast, IntegersBelowEightBitsKeepTheLowBits) {
  const std::vector<double> in = {-9, -8, -1, 0, 7, 8, 15, 16, 200};
  for (DType from : {DType::kF32, DType::kF16, DType::kI32, DType::kI64}) {
    ExpectValues(CastOf(in, from, DType::kI4), {7, -8, -1, 0, 7, -8, -1, 0, -8});
    ExpectValues(CastOf(in, from, DType::kU4), {7, 8, 15, 0, 7, 8, 15, 0, 8});
    ExpectValues(CastOf(in, from, DType::kI2), {-1, 0, -1, 0, -1, 0, -1, 0, 0});
    ExpectValues(CastOf(in, from, DType::kU2), {3, 0, 3, 0, 3, 0, 3, 0, 0});
  }
  ExpectValues(CastOf({-8, 7}, DType::kI4, DType::kF32), {-8, 7});
  ExpectValues(CastOf({0, 3}, DType::kU2, DType::kI64), {0, 3});
}

TEST(Cast, Float8SaturatesUnlessToldOtherwise) {
  const std::vector<double> in = {0.3, -1e6, 1e6, kInf, -kInf, kNan, 464};
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E4M3FN),
               {0.3125, -448, 448, 448, -448, kNan, 448});
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E4M3FN, ", saturate=0"),
               {0.3125, kNan, kNan, kNan, kNan, kNan, 448});
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E5M2),
               {0.3125, -57344, 57344, 57344, -57344, kNan, 448});
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E5M2, ", saturate=0"),
               {0.3125, -kInf, kInf, kInf, -kInf, kNan, 448});
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E4M3FNUZ),
               {0.3125, -240, 240, 240, -240, kNan, 240});
  ExpectValues(CastOf({300, 20}, DType::kI32, DType::kF8E4M3FNUZ, ", saturate=0"), {kNan, 20});
  ExpectValues(CastOf({0.3, 100, -2.5, kInf}, DType::kF32, DType::kF4E2M1), {0.5, 6, -2, 6});
}

TEST(Cast, ScalesRoundAsAsked) {
  const std::vector<double> in = {1, 1.25, 1.5, 1.75, 2, 0x1p-127, 0x1.8p-126, 0, 0x1.9p127};
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E8M0),
               {1, 2, 2, 2, 2, 0x1p-127, 0x1p-125, 0x1p-127, 0x1p127});
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E8M0, ", round_mode=\"down\""),
               {1, 1, 1, 1, 2, 0x1p-127, 0x1p-126, 0x1p-127, 0x1p127});
  ExpectValues(CastOf(in, DType::kF32, DType::kF8E8M0, ", round_mode=\"nearest\""),
               {1, 1, 2, 2, 2, 0x1p-127, 0x1p-125, 0x1p-127, 0x1p127});
  ExpectValues(CastOf({0x1.9p127, kNan}, DType::kF32, DType::kF8E8M0, ", saturate=0"),
               {kNan, kNan});
  // Every step of a power of two's fraction.
  std::vector<double> fine, up, down;
  for (int i = 1; i < 64; ++i) {
    fine.push_back(std::ldexp(1 + std::exp2(-(i % 23) - 1), i - 32));
    up.push_back(std::ldexp(2.0, i - 32));
    down.push_back(std::ldexp(1.0, i - 32));
  }
  ExpectValues(CastOf(fine, DType::kF32, DType::kF8E8M0), up);
  ExpectValues(CastOf(fine, DType::kF32, DType::kF8E8M0, ", round_mode=\"down\""), down);
}

// How a scale spreads over the data: its shape, the attributes, and the scale's index of an
// element.
struct Granularity {
  Dims x, scale;
  std::string attrs;
  std::function<Dims(const Dims&)> index;
};

std::vector<Granularity> Granularities() {
  return {
      {{3, 4, 5}, {}, "", [](const Dims&) { return Dims{}; }},
      {{3, 4, 5}, {1}, "", [](const Dims&) { return Dims{0}; }},
      {{7}, {7}, "", [](const Dims& i) { return Dims{i[0]}; }},
      {{3, 4, 5}, {4}, "", [](const Dims& i) { return Dims{i[1]}; }},
      {{3, 4, 5}, {5}, "axis=-1", [](const Dims& i) { return Dims{i[2]}; }},
      {{3, 6, 5},
       {3, 2, 5},
       "block_size=3",
       [](const Dims& i) {
         return Dims{i[0], i[1] / 3, i[2]};
       }},
      {{3, 7, 2},
       {3, 3, 2},
       "block_size=3",
       [](const Dims& i) {
         return Dims{i[0], i[1] / 3, i[2]};
       }},
      {{4, 3},
       {1, 3},
       "axis=0, block_size=4",
       [](const Dims& i) {
         return Dims{0, i[1]};
       }},
      {{4, 3},
       {1, 3},
       "axis=0, block_size=6",
       [](const Dims& i) {
         return Dims{0, i[1]};
       }},
      {{2, 3}, {2, 3}, "block_size=1", [](const Dims& i) { return i; }},
  };
}

struct QuantizeCase {
  Granularity g;
  ir::Tensor x, scale, zero;
};

double StoredScale(const QuantizeCase& c, const Dims& at) {
  return ToArray(c.scale)[c.g.index(at)];
}
double StoredZero(const QuantizeCase& c, const Dims& at) { return ToArray(c.zero)[c.g.index(at)]; }

std::string Graph(const QuantizeCase& c, std::string_view op, DType to) {
  return StrCat("graph \"g\" {", Input("x", c.x.dtype(), c.x.shape()),
                Input("s", c.scale.dtype(), c.scale.shape()),
                Input("z", c.zero.dtype(), c.zero.shape()), " %y: ", DTypeName(to), " = ", op,
                "(%x, %s, %z) ", testing::Braced(c.g.attrs), " output %y }");
}

void ExpectBothWays(const QuantizeCase& c, std::string_view op, DType to, const Array& want) {
  const std::string text = Graph(c, op, to);
  testing::ExpectGraph(text, {{"x", c.x}, {"s", c.scale}, {"z", c.zero}}, want, 0, 0);
  testing::ExpectGraph(text, {{"x", c.x}}, want, 0, 0,
                       {.constants = {{"s", c.scale}, {"z", c.zero}}, .device = "cuda:sm_90a"});
}

TEST(QuantizeLinear, RoundsShiftsAndSaturatesAtEveryGranularity) {
  uint32_t seed = 1;
  for (const Granularity& g : Granularities()) {
    for (DType to : kIntegers) {
      const Range r = RangeOf(to);
      QuantizeCase c{g, Random(DType::kF32, g.x, seed++, -3 * r.high, 3 * r.high),
                     Random(DType::kF32, g.scale, seed++, 0.4, 2.5),
                     Random(to, g.scale, seed++, r.low, r.high + 1)};
      const Array x = ToArray(c.x);
      const Array want = testing::Generate(g.x, [&](const Dims& at) {
        const float quotient = static_cast<float>(x[at]) / static_cast<float>(StoredScale(c, at));
        return std::clamp(std::nearbyint(static_cast<double>(quotient)) + StoredZero(c, at), r.low,
                          r.high);
      });
      ExpectBothWays(c, "QuantizeLinear", to, want);
    }
  }
}

TEST(QuantizeLinear, TiesGoToEvenBeforeTheZeroPoint) {
  const std::string text =
      "graph \"g\" { input %x: f32[6] const %s: f32[] = [2.0] const %z: i8[] = [1] %y: i8 = "
      "QuantizeLinear(%x, %s, %z) output %y }";
  Array x({6}), want({6});
  x.data = {1, 3, 5, -1, -3, kNan};
  want.data = {1, 3, 3, 1, -1, 0};
  testing::ExpectGraph(text, {{"x", ToTensor(x, DType::kF32)}}, want, 0, 0);
}

TEST(QuantizeLinear, Float8SaturatesUnlessToldOtherwise) {
  for (DType to : kFloat8) {
    for (bool saturate : {true, false}) {
      const Dims shape{5, 7};
      const ir::Tensor x = Random(DType::kF32, shape, 77, -2e5, 2e5);
      const ir::Tensor s = Random(DType::kF32, {7}, 78, 0.5, 300);
      const Array a = ToArray(x), b = ToArray(s);
      const double most = Float8ToF32(Float8FormatOf(to).max, to);
      const Array want = testing::Generate(shape, [&](const Dims& at) {
        float v = static_cast<float>(a[at]) / static_cast<float>(b[{at[1]}]);
        if (saturate) v = std::clamp(v, -static_cast<float>(most), static_cast<float>(most));
        return static_cast<double>(Float8ToF32(F32ToFloat8(v, to), to));
      });
      const std::string text =
          StrCat("graph \"g\" {", Input("x", DType::kF32, shape), Input("s", DType::kF32, {7}),
                 " %y: ", DTypeName(to), " = QuantizeLinear(%x, %s) {output_dtype=\"",
                 DTypeName(to), "\", saturate=", saturate ? 1 : 0, "} output %y }");
      testing::ExpectGraph(text, {{"x", x}, {"s", s}}, want, 0, 0);
    }
  }
}

TEST(QuantizeLinear, DividesInTheAskedPrecision) {
  const std::string graph =
      "graph \"g\" { input %x: f32[200] input %s: f32[1] %y: i16 = QuantizeLinear(%x, %s) "
      "{output_dtype=\"i16\"PRECISION} output %y }";
  const ir::Tensor x = Random(DType::kF32, {200}, 5, -500, 500),
                   s = Random(DType::kF32, {1}, 6, 1, 2);
  for (bool half : {false, true}) {
    std::string text = graph;
    text.replace(text.find("PRECISION"), 9, half ? ", precision=\"f16\"" : "");
    const auto round = [&](float v) { return half ? F16ToF32(F32ToF16(v)) : v; };
    const Array a = ToArray(x);
    const Array want = testing::Generate({200}, [&](const Dims& at) {
      const float by = round(static_cast<float>(ToArray(s).data[0]));
      return std::nearbyint(round(round(static_cast<float>(a[at])) / by));
    });
    testing::ExpectGraph(text, {{"x", x}, {"s", s}}, want, 0, 0);
  }
}

TEST(DequantizeLinear, ShiftsAndScalesAtEveryGranularity) {
  uint32_t seed = 500;
  for (const Granularity& g : Granularities()) {
    for (DType from : kIntegers) {
      const Range r = RangeOf(from);
      QuantizeCase c{g, Random(from, g.x, seed++, r.low, r.high + 1),
                     Random(DType::kF32, g.scale, seed++, 0.4, 2.5),
                     Random(from, g.scale, seed++, r.low, r.high + 1)};
      const Array x = ToArray(c.x);
      const Array want = testing::Generate(g.x, [&](const Dims& at) {
        const float difference = static_cast<float>(x[at] - StoredZero(c, at));
        return static_cast<double>(difference * static_cast<float>(StoredScale(c, at)));
      });
      ExpectBothWays(c, "DequantizeLinear", DType::kF32, want);
    }
  }
}

TEST(DequantizeLinear, TakesFloat8AndGivesTheAskedType) {
  for (DType from : {DType::kF8E4M3FN, DType::kF8E5M2FNUZ, DType::kF4E2M1}) {
    const ir::Tensor x = Random(from, {4, 6}, 9, -6, 6),
                     s = Random(DType::kF8E8M0, {4, 2}, 10, 0.1, 8);
    const Array a = ToArray(x), b = ToArray(s);
    const Array want = testing::Generate({4, 6}, [&](const Dims& at) {
      return static_cast<double>(
          F16ToF32(F32ToF16(static_cast<float>(a[at] * b[{at[0], at[1] / 3}]))));
    });
    const std::string text = StrCat(
        "graph \"g\" {", Input("x", from, {4, 6}), Input("s", DType::kF8E8M0, {4, 2}),
        " %y: f16 = DequantizeLinear(%x, %s) {block_size=3, output_dtype=\"f16\"} output %y }");
    testing::ExpectGraph(text, {{"x", x}, {"s", s}}, want, 0, 0);
  }
}

TEST(QuantizeLinear, ZeroSizedDataNeedNoStep) {
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x0x3] input %s: f32[3] %y: u8 = QuantizeLinear(%x, %s) "
      "{axis=2} "
      "output %y }",
      {{"x", Random(DType::kF32, {2, 0, 3}, 1)}, {"s", Random(DType::kF32, {3}, 2, 1, 2)}});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_TRUE(run->lowered.steps.empty());
}

TEST(QuantizeLinear, BadParametersAreRefused) {
  const auto expect = [](const std::string& node, std::string_view what) {
    const auto run = RunGraph(
        "graph \"g\" { input %x: f32[2x6] input %i: i8[2x6] input %h: f32[2x3] "
        "input %s: f32[6] input %w: f32[5] input %z: u8[6] input %v: i8[6] " +
            node + " output %y }",
        {});
    ASSERT_FALSE(run.ok()) << node;
    EXPECT_NE(run.status().message().find(what), std::string::npos) << run.status().ToString();
  };
  expect("%y: u8 = QuantizeLinear(%x, %w)", "does not fit axis 1");
  expect("%y: u8 = QuantizeLinear(%x, %s) {axis=2}", "axis 2 is outside");
  expect("%y: u8 = QuantizeLinear(%x, %h) {block_size=4}", "expected 2x2");
  expect("%y: u8 = QuantizeLinear(%x, %s, %z) {output_dtype=\"i8\"}", "but the zero point is u8");
  expect("%y: i32 = QuantizeLinear(%x, %s) {output_dtype=\"i32\"}", "is no quantised type");
  expect("%y: u8 = QuantizeLinear(%i, %i)", "input 1 is i8");
  expect("%y: f32 = DequantizeLinear(%x, %s)", "expected a quantised type");
  expect("%y: f32 = DequantizeLinear(%i, %s, %z)", "zero point is u8, expected i8");
  expect("%y: i8 = DequantizeLinear(%i, %s, %v) {output_dtype=\"i8\"}", "expected a float");
}

}  // namespace
}  // namespace aicf
