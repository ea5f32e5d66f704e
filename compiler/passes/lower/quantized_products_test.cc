// Products of quantised operands: exact sums against int64, results against the definition in
// double.
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Random;
using testing::RunGraph;
using testing::ToArray;

std::string Input(std::string_view name, const ir::Tensor& t) {
  return StrCat(" input %", name, ": ", DTypeName(t.dtype()), "[",
                t.shape().rank() == 0 ? "" : ToString(t.shape()), "]");
}

ir::Tensor Codes(DType dtype, const Dims& shape, uint32_t seed) {
  return dtype == DType::kI8 ? Random(dtype, shape, seed, -128, 128)
                             : Random(dtype, shape, seed, 0, 256);
}

using Tensors = std::vector<std::pair<std::string, ir::Tensor>>;

// "%y: i32 = MatMulInteger(%a, %b, ..) {attrs}" over all operands, every one or only the first at
// run time; on both targets.
void ExpectNode(std::string_view op, DType out, const Tensors& operands, std::string_view attrs,
                const Array& want, double tolerance = 0) {
  std::string text = "graph \"g\" {", list;
  std::map<std::string, ir::Tensor> all, constants;
  for (const auto& [name, tensor] : operands) {
    text += Input(name, tensor);
    list += StrCat(list.empty() ? "" : ", ", "%", name);
    all[name] = tensor;
    if (name != operands[0].first) constants[name] = tensor;
  }
  text += StrCat(" %y: ", DTypeName(out), " = ", op, "(", list, ") ", testing::Braced(attrs),
                 " output %y }");
  testing::ExpectGraph(text, all, want, 0, tolerance);
  for (const char* device : {"cpu:baseline", "cuda:sm_90a"}) {
    testing::ExpectGraph(text, {*all.find(operands[0].first)}, want, 0, tolerance,
                         {.constants = constants, .device = device});
  }
}

struct MatMulCase {
  Dims a, b, a_zero, b_zero;
};

// Element of a parameter for row (or column) `at` of a matrix.
double ParameterAt(const Array& p, const Dims& at, bool rows) {
  if (p.data.size() == 1) return p.data[0];
  if (p.shape.rank() == 1) return p.data[static_cast<size_t>(at[at.rank() - (rows ? 2 : 1)])];
  return p.Broadcast(at);
}

Array Sums(const Array& a, const Array& b, const Array& az, const Array& bz) {
  const int64_t depth = a.shape.back();
  const auto lead = [](const Dims& d) { return Dims(d.span().first(d.rank() - 2)); };
  Dims out = *BroadcastShapes(lead(a.shape), lead(b.shape));
  out.push_back(a.shape[a.shape.rank() - 2]);
  out.push_back(b.shape.back());
  return testing::Generate(out, [&](const Dims& at) {
    int64_t sum = 0;
    Dims l = at, r = at;
    for (int64_t k = 0; k < depth; ++k) {
      l[at.rank() - 1] = r[at.rank() - 2] = k;
      sum += static_cast<int64_t>(a.Broadcast(l) - ParameterAt(az, l, true)) *
             static_cast<int64_t>(b.Broadcast(r) - ParameterAt(bz, r, false));
    }
    return static_cast<double>(sum);
  });
}

const MatMulCase kMatMuls[] = {
    {{4, 7}, {7, 5}, {}, {}},
    {{4, 7}, {7, 5}, {1}, {5}},
    {{4, 7}, {7, 5}, {4}, {}},
    {{3, 6, 5}, {5, 4}, {}, {4}},
    {{3, 6, 5}, {3, 5, 4}, {3, 6, 1}, {3, 1, 4}},
    {{1, 6, 5}, {3, 5, 4}, {1, 6, 1}, {}},
    {{2, 3, 1, 8}, {8, 9}, {}, {9}},
};

TEST(MatMulInteger, SumsAreExactWithEveryKindOfZeroPoint) {
  uint32_t seed = 1;
  for (const MatMulCase& c : kMatMuls) {
    for (DType left : {DType::kU8, DType::kI8}) {
      for (DType right : {DType::kU8, DType::kI8}) {
        const ir::Tensor a = Codes(left, c.a, seed++), b = Codes(right, c.b, seed++);
        const ir::Tensor az = Codes(left, c.a_zero, seed++), bz = Codes(right, c.b_zero, seed++);
        const Array want = Sums(ToArray(a), ToArray(b), ToArray(az), ToArray(bz));
        ExpectNode("MatMulInteger", DType::kI32, {{"a", a}, {"b", b}, {"az", az}, {"bz", bz}}, "",
                   want);
      }
    }
  }
}

TEST(MatMulInteger, LongSumsAreNoFloats) {
  // 900 products of up to 255 * 255 pass 2^24, where f32 would round.
  const ir::Tensor a = Random(DType::kU8, {3, 900}, 1, 200, 256);
  const ir::Tensor b = Random(DType::kU8, {900, 4}, 2, 201, 256);
  const Array zero;
  const Array want = Sums(ToArray(a), ToArray(b), zero, zero);
  ASSERT_GT(want.data[0], 0x1p25);
  ExpectNode("MatMulInteger", DType::kI32, {{"a", a}, {"b", b}}, "", want);
}

TEST(MatMulInteger, VectorsAreRowsAndColumns) {
  const ir::Tensor a = Codes(DType::kU8, {6}, 1), b = Codes(DType::kI8, {6, 3}, 2);
  const ir::Tensor az = Codes(DType::kU8, {}, 3);
  const Array x = ToArray(a), y = ToArray(b);
  const Array want = testing::Generate({3}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < 6; ++k) sum += (x[{k}] - ToArray(az).data[0]) * y[{k, at[0]}];
    return sum;
  });
  ExpectNode("MatMulInteger", DType::kI32, {{"a", a}, {"b", b}, {"az", az}}, "", want);
}

// The zero point of data that come at run time costs no pass over them when the weights are known.
TEST(MatMulInteger, KnownWeightsTakeOneStep) {
  const auto run = RunGraph(
      "graph \"g\" { input %a: u8[4x7] input %b: i8[7x5] input %az: u8[] input %bz: i8[5] %y: i32 "
      "= "
      "MatMulInteger(%a, %b, %az, %bz) output %y }",
      {{"a", Codes(DType::kU8, {4, 7}, 1)}, {"az", Codes(DType::kU8, {}, 2)}},
      {.constants = {{"b", Codes(DType::kI8, {7, 5}, 3)}, {"bz", Codes(DType::kI8, {5}, 4)}}});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  ASSERT_EQ(run->lowered.steps.size(), 1u);
  EXPECT_EQ(run->lowered.steps[0].problem.inputs[0].dtype, DType::kU8);
}

// Quantises sums * scale with zero point z into `to`.
double Requantized(double sum, float scale, double zero, DType to) {
  const float scaled = static_cast<float>(sum) * scale;
  const double low = to == DType::kI8 ? -128 : 0;
  return std::clamp(std::nearbyint(static_cast<double>(scaled)) + zero, low, low + 255);
}

TEST(QLinearMatMul, ScalesRoundsAndSaturates) {
  uint32_t seed = 100;
  for (const MatMulCase& c : kMatMuls) {
    for (DType dtype : {DType::kU8, DType::kI8}) {
      const ir::Tensor a = Codes(dtype, c.a, seed++), b = Codes(dtype, c.b, seed++);
      const ir::Tensor az = Codes(dtype, c.a_zero, seed++), bz = Codes(dtype, c.b_zero, seed++);
      const ir::Tensor as = Random(DType::kF32, c.a_zero, seed++, 0.001, 0.01);
      const ir::Tensor bs = Random(DType::kF32, c.b_zero, seed++, 0.01, 0.1);
      const ir::Tensor ys = Random(DType::kF32, {}, seed++, 0.1, 0.2);
      const ir::Tensor yz = Codes(dtype, {}, seed++);
      const Array sums = Sums(ToArray(a), ToArray(b), ToArray(az), ToArray(bz));
      const Array left = ToArray(as), right = ToArray(bs);
      const Array want = testing::Generate(sums.shape, [&](const Dims& at) {
        const float product = static_cast<float>(ParameterAt(left, at, true)) *
                              static_cast<float>(ParameterAt(right, at, false));
        return Requantized(sums[at], product / static_cast<float>(ToArray(ys).data[0]),
                           ToArray(yz).data[0], dtype);
      });
      ExpectNode("QLinearMatMul", dtype,
                 {{"a", a},
                  {"as", as},
                  {"az", az},
                  {"b", b},
                  {"bs", bs},
                  {"bz", bz},
                  {"ys", ys},
                  {"yz", yz}},
                 "", want);
    }
  }
}

// The product of two scales may be beyond f32, or 0, where the third brings it back; and a factor
// beyond f32 makes the largest code of everything but 0.
TEST(QLinearMatMul, ScalesOfEveryMagnitude) {
  const int8_t left[] = {5, 0, -3}, right[] = {2, 1, 4};
  const ir::Tensor a =
      ir::Tensor::FromValues<int8_t>(DType::kI8, {3, 1}, std::span<const int8_t>(left));
  const ir::Tensor b =
      ir::Tensor::FromValues<int8_t>(DType::kI8, {1, 3}, std::span<const int8_t>(right));
  const ir::Tensor zero = Random(DType::kI8, {}, 1, 0, 0.5);
  const auto scale = [](float s) {
    return ir::Tensor::FromValues<float>(DType::kF32, {}, std::span<const float>(&s, 1));
  };
  const std::vector<double> sums = {10, 5, 20, 0, 0, 0, -6, -3, -12};
  const auto expect = [&](float as, float bs, float ys, const std::vector<double>& codes) {
    const ir::Tensor l = scale(as), r = scale(bs), y = scale(ys);
    ExpectNode("QLinearMatMul", DType::kI8,
               {{"a", a},
                {"as", l},
                {"az", zero},
                {"b", b},
                {"bs", r},
                {"bz", zero},
                {"ys", y},
                {"yz", zero}},
               "", testing::Generate({3, 3}, [&](const Dims& at) {
                 return codes[static_cast<size_t>(3 * at[0] + at[1])];
               }));
  };
  expect(0x1p-80f, 0x1p-80f, 0x1p-149f, std::vector<double>(9, 0));
  expect(0x1p-100f, 0x1p-40f, 0x1p-140f, sums);
  expect(0x1p+90f, 0x1p+90f, 0x1p+99f, {127, 127, 127, 0, 0, 0, -128, -128, -128});
  expect(0x1p+99f, 0x1p+99f, 0x1p-149f, {127, 127, 127, 0, 0, 0, -128, -128, -128});
  expect(0x1p-149f, 0x1p+99f, 0x1p-50f, sums);
}

TEST(QLinearMatMul, MultipliesFloat8) {
  const DType type = DType::kF8E4M3FN;
  const ir::Tensor a = Random(type, {3, 9}, 1, -2, 2), b = Random(type, {9, 4}, 2, -2, 2);
  const ir::Tensor s = Random(DType::kF32, {}, 3, 0.5, 1), zero = Random(type, {}, 4, 0, 1e-9);
  const Array x = ToArray(a), y = ToArray(b);
  const Array want = testing::Generate({3, 4}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < 9; ++k) sum += x[{at[0], k}] * y[{k, at[1]}];
    const auto f = static_cast<float>(ToArray(s).data[0]);
    return static_cast<double>(
        Float8ToF32(F32ToFloat8(static_cast<float>(sum) * (f * f / f), type), type));
  });
  ExpectNode("QLinearMatMul", type,
             {{"a", a},
              {"as", s},
              {"az", zero},
              {"b", b},
              {"bs", s},
              {"bz", zero},
              {"ys", s},
              {"yz", zero}},
             "", want);
}

struct QuantizedConvCase {
  Dims x, w;
  int64_t group, stride, pad;
  bool per_channel;
};

const QuantizedConvCase kConvs[] = {
    {{2, 3, 7, 6}, {4, 3, 3, 3}, 1, 1, 1, true},
    {{1, 4, 8, 8}, {6, 2, 3, 3}, 2, 2, 0, false},
    {{1, 5, 6, 7}, {5, 1, 3, 3}, 5, 1, 2, true},
    {{1, 6, 4, 4}, {3, 6, 1, 1}, 1, 1, 0, true},
};

Array ConvSums(const Array& x, const Array& w, double xz, const Array& wz,
               const QuantizedConvCase& c) {
  const auto extent = [&](int d) { return (x.shape[d] + 2 * c.pad - w.shape[d]) / c.stride + 1; };
  const int64_t per_group = w.shape[0] / c.group;
  return testing::Generate({x.shape[0], w.shape[0], extent(2), extent(3)}, [&](const Dims& at) {
    double sum = 0;
    testing::ForEach({w.shape[1], w.shape[2], w.shape[3]}, [&](const Dims& t) {
      const int64_t row = at[2] * c.stride + t[1] - c.pad, col = at[3] * c.stride + t[2] - c.pad;
      if (row < 0 || col < 0 || row >= x.shape[2] || col >= x.shape[3]) return;
      const double zero = wz.data[wz.data.size() == 1 ? 0 : static_cast<size_t>(at[1])];
      sum += (x[{at[0], at[1] / per_group * w.shape[1] + t[0], row, col}] - xz) *
             (w[{at[1], t[0], t[1], t[2]}] - zero);
    });
    return sum;
  });
}

std::string QuantizedConvAttrs(const QuantizedConvCase& c) {
  return StrCat("group=", c.group, ", strides=[", c.stride, ", ", c.stride, "], pads=[", c.pad,
                ", ", c.pad, ", ", c.pad, ", ", c.pad, "]");
}

TEST(ConvInteger, PaddingIsTheZeroPoint) {
  uint32_t seed = 300;
  for (const QuantizedConvCase& c : kConvs) {
    for (DType right : {DType::kU8, DType::kI8}) {
      const ir::Tensor x = Codes(DType::kU8, c.x, seed++), w = Codes(right, c.w, seed++);
      const ir::Tensor xz = Codes(DType::kU8, {}, seed++);
      const ir::Tensor wz = Codes(right, c.per_channel ? Dims{c.w[0]} : Dims{}, seed++);
      const Array want = ConvSums(ToArray(x), ToArray(w), ToArray(xz).data[0], ToArray(wz), c);
      ExpectNode("ConvInteger", DType::kI32, {{"x", x}, {"w", w}, {"xz", xz}, {"wz", wz}},
                 QuantizedConvAttrs(c), want);
    }
  }
}

TEST(QLinearConv, ScalesPerChannelAndAddsTheBiasToTheSums) {
  uint32_t seed = 400;
  for (const QuantizedConvCase& c : kConvs) {
    const DType dtype = seed % 2 == 0 ? DType::kU8 : DType::kI8;
    const Dims parameter = c.per_channel ? Dims{c.w[0]} : Dims{};
    const ir::Tensor x = Codes(dtype, c.x, seed++), w = Codes(DType::kI8, c.w, seed++);
    const ir::Tensor xz = Codes(dtype, {}, seed++), wz = Codes(DType::kI8, parameter, seed++);
    const ir::Tensor xs = Random(DType::kF32, {}, seed++, 0.01, 0.1);
    const ir::Tensor ws = Random(DType::kF32, parameter, seed++, 0.01, 0.1);
    const ir::Tensor ys = Random(DType::kF32, {}, seed++, 0.3, 0.5),
                     yz = Codes(DType::kU8, {}, seed++);
    const ir::Tensor bias = Random(DType::kI32, {c.w[0]}, seed++, -2000, 2000);
    const Array sums = ConvSums(ToArray(x), ToArray(w), ToArray(xz).data[0], ToArray(wz), c);
    const Array scales = ToArray(ws), b = ToArray(bias);
    const Array want = testing::Generate(sums.shape, [&](const Dims& at) {
      const auto channel = static_cast<size_t>(at[1]);
      const float product = static_cast<float>(ToArray(xs).data[0]) *
                            static_cast<float>(scales.data[scales.data.size() == 1 ? 0 : channel]);
      return Requantized(sums[at] + b.data[channel],
                         product / static_cast<float>(ToArray(ys).data[0]), ToArray(yz).data[0],
                         DType::kU8);
    });
    ExpectNode("QLinearConv", DType::kU8,
               {{"x", x},
                {"xs", xs},
                {"xz", xz},
                {"w", w},
                {"ws", ws},
                {"wz", wz},
                {"ys", ys},
                {"yz", yz},
                {"bias", bias}},
               QuantizedConvAttrs(c), want);
  }
}

TEST(QuantizedProducts, BadOperandsAreRefused) {
  const auto expect = [](const std::string& node, std::string_view what) {
    const auto run = RunGraph(
        "graph \"g\" { input %a: u8[2x6] input %b: i8[6x3] input %f: f32[2x6] input %z: i8[3] "
        "input %s: "
        "f32[] input %u: u8[] input %i: i8[] input %v: f32[4] " +
            node + " output %y }",
        {});
    ASSERT_FALSE(run.ok()) << node;
    EXPECT_NE(run.status().message().find(what), std::string::npos) << run.status().ToString();
  };
  expect("%y: i32 = MatMulInteger(%f, %b)", "expected an integer of 8 or 16 bits");
  expect("%y: i32 = MatMulInteger(%a, %a)", "do not multiply");
  expect("%y: i32 = MatMulInteger(%a, %b, %i)", "input 2 is i8 but input 0 is u8");
  expect("%y: u8 = QLinearMatMul(%a, %v, %u, %b, %s, %i, %s, %u)",
         "expected a scalar or one value per row");
  expect("%y: u8 = QLinearMatMul(%a, %s, %u, %b, %s, %z, %v, %u)", "input 6 is not a scalar");
}

}  // namespace
}  // namespace aicf
