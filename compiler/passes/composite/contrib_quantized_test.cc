// Quantised ops of com.microsoft and DynamicQuantizeLinear against their definitions in double.
#include "compiler/passes/composite/testing.h"

namespace aicf::testing {
namespace {

ir::Tensor Codes(DType dtype, const Dims& shape, uint32_t seed) {
  return dtype == DType::kI8 ? Random(dtype, shape, seed, -128, 128)
                             : Random(dtype, shape, seed, 0, 256);
}
ir::Tensor Number(DType dtype, double v) {
  Array a;
  a.data[0] = v;
  return ToTensor(a, dtype);
}
ir::Tensor Scale(double v) { return Number(DType::kF32, v); }

double Saturated(double v, double scale, double zero, DType to) {
  const double low = to == DType::kI8 ? -128 : 0;
  return std::clamp(std::nearbyint(static_cast<double>(static_cast<float>(v / scale))) + zero, low,
                    low + 255);
}

// Codes that differ by one where the quotient lies next to a tie, and nowhere else.
void ExpectCodes(const CompositeCase& c, const Array& want) {
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString() << "\n" << c.Text();
  ASSERT_EQ(run->outputs[0].shape, want.shape);
  int off = 0;
  for (size_t i = 0; i < want.data.size(); ++i) {
    ASSERT_LE(std::abs(run->outputs[0].data[i] - want.data[i]), 1) << i << "\n" << c.Text();
    off += run->outputs[0].data[i] != want.data[i];
  }
  EXPECT_LE(off * 20, static_cast<int>(want.data.size())) << c.Text();
}

TEST(ContribQuantized, AddAndMulBroadcast) {
  for (DType type : {DType::kU8, DType::kI8}) {
    const ir::Tensor a = Codes(type, {3, 4, 5}, 1), b = Codes(type, {4, 1}, 2);
    const Array x = ToArray(a), y = ToArray(b);
    for (bool product : {false, true}) {
      CompositeCase c(product ? "com.microsoft.QLinearMul" : "com.microsoft.QLinearAdd");
      c.Input("a", a).Input("as", Scale(0.021), true).Input("az", Number(type, 7), true);
      c.Input("b", b).Input("bs", Scale(0.034)).Absent().Input("cs", Scale(0.053), true);
      c.Input("cz", Number(type, 11), true).Output("y");
      ExpectCodes(c, Generate({3, 4, 5}, [&](const Dims& at) {
                    const double left = (x[at] - 7) * 0.021f, right = y.Broadcast(at) * 0.034f;
                    return Saturated(product ? left * right : left + right, 0.053f, 11, type);
                  }));
    }
  }
}

TEST(ContribQuantized, Activations) {
  const ir::Tensor x = Codes(DType::kU8, {256}, 3);
  const Array a = ToArray(x);
  const auto unary = [&](const std::string& op, double scale,
                         const std::function<double(double)>& f) {
    CompositeCase c("com.microsoft." + op);
    c.Input("x", x).Input("xs", Scale(0.03), true).Input("xz", Number(DType::kU8, 120), true);
    c.Input("ys", Scale(scale), true).Input("yz", Number(DType::kU8, 60), true).Output("y");
    if (op == "QLinearLeakyRelu") c.Attr("alpha", "0.25");
    ExpectCodes(c, Generate({256}, [&](const Dims& at) {
                  return Saturated(f((a[at] - 120) * 0.03f), static_cast<float>(scale), 60,
                                   DType::kU8);
                }));
  };
  unary("QLinearSigmoid", 0.0041, [](double v) { return 1 / (1 + std::exp(-v)); });
  unary("QLinearLeakyRelu", 0.027, [](double v) { return v < 0 ? 0.25 * v : v; });
}

TEST(ContribQuantized, GlobalAveragePoolSumsExactlyInBothLayouts) {
  for (bool last : {false, true}) {
    const Dims shape = last ? Dims{2, 5, 6, 3} : Dims{2, 3, 5, 6};
    const ir::Tensor x = Codes(DType::kU8, shape, 4);
    const Array a = ToArray(x);
    CompositeCase c("com.microsoft.QLinearGlobalAveragePool");
    c.Input("x", x).Input("xs", Scale(0.03), true).Input("xz", Number(DType::kU8, 100), true);
    c.Input("ys", Scale(0.011), true).Input("yz", Number(DType::kU8, 9), true).Output("y");
    if (last) c.Attr("channels_last", "1");
    ExpectCodes(
        c, Generate(last ? Dims{2, 1, 1, 3} : Dims{2, 3, 1, 1}, [&](const Dims& at) {
          double sum = 0;
          ForEach({5, 6}, [&](const Dims& p) {
            sum += a[last ? Dims{at[0], p[0], p[1], at[3]} : Dims{at[0], at[1], p[0], p[1]}] - 100;
          });
          return Saturated(sum / 30 * 0.03f, 0.011f, 9, DType::kU8);
        }));
  }
}

TEST(ContribQuantized, AveragePoolLeavesPaddingOutInBothLayouts) {
  for (bool last : {false, true}) {
    const ir::Tensor x = Codes(DType::kU8, last ? Dims{1, 5, 6, 3} : Dims{1, 3, 5, 6}, 40);
    const Array a = ToArray(x);
    CompositeCase c("com.microsoft.QLinearAveragePool");
    c.Input("x", x).Input("xs", Scale(0.031), true).Input("xz", Number(DType::kU8, 90), true);
    c.Input("ys", Scale(0.017), true).Input("yz", Number(DType::kU8, 20), true).Output("y");
    c.Attr("kernel_shape", "[3, 2]").Attr("pads", "[1, 0, 1, 1]").Attr("strides", "[2, 1]");
    if (last) c.Attr("channels_last", "1");
    ExpectCodes(c, Generate(last ? Dims{1, 3, 6, 3} : Dims{1, 3, 3, 6}, [&](const Dims& at) {
                  double sum = 0, count = 0;
                  ForEach({3, 2}, [&](const Dims& t) {
                    const int64_t row = (last ? at[1] : at[2]) * 2 + t[0] - 1;
                    const int64_t col = (last ? at[2] : at[3]) + t[1];
                    if (row < 0 || row >= 5 || col >= 6) return;
                    sum += a[last ? Dims{0, row, col, at[3]} : Dims{0, at[1], row, col}] - 90;
                    ++count;
                  });
                  return Saturated(sum / count * 0.031f, 0.017f, 20, DType::kU8);
                }));
  }
}

TEST(ContribQuantized, ConcatBringsPartsToOneScale) {
  const ir::Tensor a = Codes(DType::kU8, {2, 3}, 5), b = Codes(DType::kU8, {2, 4}, 6);
  const Array x = ToArray(a), y = ToArray(b);
  CompositeCase c("com.microsoft.QLinearConcat");
  c.Input("ys", Scale(0.04), true).Input("yz", Number(DType::kU8, 30), true);
  c.Input("a", a).Input("as", Scale(0.04), true).Input("az", Number(DType::kU8, 30), true);
  c.Input("b", b).Input("bs", Scale(0.017), true).Input("bz", Number(DType::kU8, 128), true);
  c.Attr("axis", "1").Output("y");
  ExpectCodes(c, Generate({2, 7}, [&](const Dims& at) {
                if (at[1] < 3) return x[at];
                return Saturated((y[{at[0], at[1] - 3}] - 128) * 0.017f, 0.04f, 30, DType::kU8);
              }));
}

TEST(ContribQuantized, SoftmaxFlattensBelowOpset13) {
  const ir::Tensor x = Codes(DType::kU8, {2, 3, 4}, 7);
  const Array a = ToArray(x);
  for (bool old : {false, true}) {
    CompositeCase c("com.microsoft.QLinearSoftmax");
    c.Input("x", x).Input("xs", Scale(0.02), true).Absent().Input("ys", Scale(1.0 / 256), true);
    c.Input("yz", Number(DType::kU8, 0), true).Attr("axis", "1").Attr("opset", old ? "12" : "13");
    c.Output("y");
    ExpectCodes(c, Generate({2, 3, 4}, [&](const Dims& at) {
                  double sum = 0;
                  ForEach({3, 4}, [&](const Dims& p) {
                    if (old || p[1] == at[2]) sum += std::exp(a[{at[0], p[0], p[1]}] * 0.02f);
                  });
                  return Saturated(std::exp(a[at] * 0.02f) / sum, 1.0f / 256, 0, DType::kU8);
                }));
  }
}

TEST(ContribQuantized, DynamicRangesCoverZero) {
  for (auto [low, high] : {std::pair(-3.0, 5.0), {1.0, 5.0}, {-7.0, -2.0}, {0.0, 0.0}}) {
    const ir::Tensor x = Random(DType::kF32, {40}, 8, low, high);
    const Array a = ToArray(x);
    double most = 0, least = 0;
    for (double v : a.data) most = std::max(most, v), least = std::min(least, v);
    const float range = static_cast<float>(most) - static_cast<float>(least);
    const float scale = range == 0 ? 1.0f : range / 255;
    const double zero = std::nearbyint(-static_cast<float>(least) / scale);
    CompositeCase c("DynamicQuantizeLinear");
    c.Input("x", x).Output("y").Output("s").Output("z");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    EXPECT_EQ(run->outputs[1].data[0], scale);
    EXPECT_EQ(run->outputs[2].data[0], zero);
    EXPECT_EQ(run->tensors[0].dtype(), DType::kU8);
    ExpectCodes(c, Generate({40}, [&](const Dims& at) {
                  return Saturated(a[at], scale, zero, DType::kU8);
                }));
  }
}

// A range of the smallest denormal numbers has no scale: a 255th of it is 0.
TEST(ContribQuantized, ARangeWithoutAScaleIsOneOfZeros) {
  const float tiny[] = {0x1p-149f, 0, 0x1p-143f};
  CompositeCase c("DynamicQuantizeLinear");
  c.Input("x", ir::Tensor::FromValues<float>(DType::kF32, {3}, std::span<const float>(tiny)));
  const auto run = c.Output("y").Output("s").Output("z").Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(run->outputs[0].data, std::vector<double>(3, 0));
  EXPECT_EQ(run->outputs[1].data[0], 1);
  EXPECT_EQ(run->outputs[2].data[0], 0);
}

// sum (a - az)(b - bz) by int64.
Array Sums(const Array& a, double az, const Array& b, double bz) {
  return Generate({a.shape[0], b.shape[1]}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < b.shape[0]; ++k) sum += (a[{at[0], k}] - az) * (b[{k, at[1]}] - bz);
    return sum;
  });
}

TEST(ContribQuantized, ProductsToFloat) {
  const ir::Tensor a = Codes(DType::kU8, {5, 19}, 9), b = Codes(DType::kI8, {19, 6}, 10);
  const ir::Tensor bs = Random(DType::kF32, {6}, 11, 0.01, 0.02),
                   bias = Random(DType::kF32, {6}, 12);
  const Array sums = Sums(ToArray(a), 77, ToArray(b), -3), scales = ToArray(bs),
              add = ToArray(bias);
  const Array want = Generate(
      {5, 6}, [&](const Dims& at) { return sums[at] * 0.02f * scales[{at[1]}] + add[{at[1]}]; });
  CompositeCase c("com.microsoft.MatMulIntegerToFloat");
  c.Input("a", a).Input("b", b, true).Input("as", Scale(0.02), true).Input("bs", bs, true);
  c.Input("az", Number(DType::kU8, 77)).Input("bz", Number(DType::kI8, -3), true);
  c.Input("bias", bias, true).Output("y");
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  ExpectClose(run->outputs[0], want, 1e-6, 1e-5);

  CompositeCase gemm("com.microsoft.QGemm");
  gemm.Input("a", a).Input("as", Scale(0.02), true).Input("az", Number(DType::kU8, 77), true);
  gemm.Input("b", b, true).Input("bs", bs, true).Input("bz", Number(DType::kI8, -3), true);
  gemm.Input("c", Random(DType::kI32, {6}, 13, -900, 900), true).Input("ys", Scale(0.3), true);
  gemm.Input("yz", Number(DType::kU8, 128), true).Output("y");
  const Array shift = ToArray(Random(DType::kI32, {6}, 13, -900, 900));
  ExpectCodes(gemm, Generate({5, 6}, [&](const Dims& at) {
                return Saturated((sums[at] + shift[{at[1]}]) * 0.02f * scales[{at[1]}], 0.3f, 128,
                                 DType::kU8);
              }));
}

TEST(ContribQuantized, DynamicQuantizeMatMulQuantisesItsInput) {
  const ir::Tensor a = Random(DType::kF32, {4, 16}, 14, -3, 5), b = Codes(DType::kU8, {16, 5}, 15);
  CompositeCase codes("DynamicQuantizeLinear");
  codes.Input("x", a).Output("y").Output("s").Output("z");
  const auto quantized = codes.Run();
  ASSERT_TRUE(quantized.ok()) << quantized.status().ToString();
  const double scale = quantized->outputs[1].data[0], zero = quantized->outputs[2].data[0];
  const Array sums = Sums(quantized->outputs[0], zero, ToArray(b), 40);
  CompositeCase c("com.microsoft.DynamicQuantizeMatMul");
  c.Input("a", a).Input("b", b, true).Input("bs", Scale(0.013), true);
  c.Input("bz", Number(DType::kU8, 40), true).Output("y");
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  ExpectClose(run->outputs[0],
              Generate({4, 5}, [&](const Dims& at) { return sums[at] * scale * 0.013f; }), 1e-6,
              1e-5);
}

// Every step multiplies integers: the input of all steps once, the hidden state once a step.
TEST(ContribQuantized, DynamicQuantizeLstmRefusesWhatItHasNot) {
  const auto lstm = [](const std::string& key, const std::string& value, const Dims& w,
                       bool lengths) {
    CompositeCase c("com.microsoft.DynamicQuantizeLSTM");
    c.Attr("hidden_size", "4");
    if (!key.empty()) c.Attr(key, value);
    c.Input("x", Random(DType::kF32, {2, 1, 3}, 1, -1, 1));
    c.Input("w", Random(DType::kI8, w, 2, -9, 9), true);
    c.Input("r", Random(DType::kI8, {1, 4, 16}, 3, -9, 9), true).Absent();
    if (lengths) {
      c.Input("lengths", Random(DType::kI32, {1}, 4, 1, 2));
    } else {
      c.Absent();
    }
    c.Absent().Absent().Absent();
    c.Input("ws", Random(DType::kF32, {1}, 5, 0.1, 0.2), true);
    c.Input("wz", Random(DType::kI8, {1}, 6, -9, 9), true);
    c.Input("rs", Random(DType::kF32, {1}, 7, 0.1, 0.2), true);
    c.Input("rz", Random(DType::kI8, {1}, 8, -9, 9), true);
    return c.Output("y").Output("h").Run().status();
  };
  const Dims w = {1, 3, 16};
  EXPECT_TRUE(lstm("", "", w, false).ok());
  const auto expect = [&](const Status& status, std::string_view what) {
    EXPECT_NE(status.message().find(what), std::string::npos) << status.ToString();
  };
  expect(lstm("", "", w, true), "sequence_lens");
  expect(lstm("", "", {1, 4, 16}, false), "do not fit an input");
  expect(lstm("direction", "\"bidirectional\"", w, false), "has weights of 1 directions");
  expect(lstm("activations", "[\"Elu\", \"Tanh\", \"Tanh\"]", w, false), "activation Elu");
  expect(lstm("activation_alpha", "[0.5]", w, false), "activation_alpha");
}

struct BitsCase {
  int bits;
  int64_t k, block;
  int zeros;  ///< 0: none, 1: packed, 2: floats
};

TEST(MatMulNBits, UnpacksEveryWidthAndKindOfZeroPoint) {
  uint32_t seed = 20;
  for (const BitsCase& p : {BitsCase{4, 32, 16, 0},
                            {4, 40, 16, 1},
                            {4, 48, 16, 1},
                            {4, 32, 16, 2},
                            {8, 40, 16, 0},
                            {8, 32, 16, 1},
                            {2, 48, 16, 1}}) {
    const int64_t n = 6, blocks = (p.k + p.block - 1) / p.block, per_byte = 8 / p.bits;
    const int64_t zero_bytes = (blocks + per_byte - 1) / per_byte;
    const ir::Tensor a = Random(DType::kF32, {3, p.k}, seed++);
    const ir::Tensor b = Codes(DType::kU8, {n, blocks, p.block / per_byte}, seed++);
    const ir::Tensor s = Random(DType::kF32, {n * blocks}, seed++, 0.01, 0.03);
    const ir::Tensor packed = Codes(DType::kU8, {n * zero_bytes}, seed++);
    const ir::Tensor floats = Random(DType::kF32, {n * blocks}, seed++, 0, 15);
    const auto code = [&](const ir::Tensor& t, int64_t row, int64_t i, int64_t row_bytes) {
      return t.IntAt(row * row_bytes + i / per_byte) >> (i % per_byte * p.bits) &
             ((1 << p.bits) - 1);
    };
    const Array x = ToArray(a);
    const Array want = Generate({3, n}, [&](const Dims& at) {
      double sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        const int64_t block = k / p.block;
        double zero = 1 << (p.bits - 1);
        if (p.zeros == 1) zero = static_cast<double>(code(packed, at[1], block, zero_bytes));
        if (p.zeros == 2) zero = floats.FloatAt(at[1] * blocks + block);
        const auto c = static_cast<double>(code(b, at[1], k, blocks * p.block / per_byte));
        sum += x[{at[0], k}] * (c - zero) * s.FloatAt(at[1] * blocks + block);
      }
      return sum;
    });
    for (bool constant : {true, false}) {
      CompositeCase c("com.microsoft.MatMulNBits");
      c.Input("a", a).Input("b", b, constant).Input("s", s, constant);
      if (p.zeros == 1) c.Input("z", packed, constant);
      if (p.zeros == 2) c.Input("z", floats, constant);
      c.Attr("bits", StrCat(p.bits)).Attr("K", StrCat(p.k)).Attr("N", StrCat(n));
      c.Attr("block_size", StrCat(p.block)).Output("y");
      const auto run = c.Run();
      ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
      ExpectClose(run->outputs[0], want, 1e-5, 1e-5, c.Text());
    }
  }
}

TEST(ContribQuantized, WhatDoesNotFitIsRefused) {
  CompositeCase missing("com.microsoft.QLinearAdd");
  missing.Input("a", Codes(DType::kU8, {2}, 1)).Input("as", Scale(1));
  EXPECT_NE(Refusal(missing.Output("y")).message().find("input 3 is absent"), std::string::npos);
  CompositeCase odd("com.microsoft.MatMulNBits");
  odd.Input("a", Random(DType::kF32, {2, 32}, 1)).Input("b", Codes(DType::kU8, {4, 2, 7}, 2));
  odd.Input("s", Random(DType::kF32, {8}, 3))
      .Attr("K", "32")
      .Attr("N", "4")
      .Attr("block_size", "16");
  EXPECT_NE(Refusal(odd.Output("y")).message().find("expected u8 4x2x8"), std::string::npos);
}

}  // namespace
}  // namespace aicf::testing
