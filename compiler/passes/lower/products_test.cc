// Convolutions and matrix products against sums in f64, and the layouts they choose.
#include "compiler/ir/views.h"
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Random;
using testing::RunGraph;
using testing::ShapeText;
using testing::ToArray;

struct ConvCase {
  Dims x, w;
  int64_t group, stride, dilation, pad_begin, pad_end;
};

// Two spatial axes; the same parameters on both.
Array Convolve(const Array& x, const Array& w, const std::vector<double>& bias, const ConvCase& c) {
  const int64_t out_h =
      (x.shape[2] + c.pad_begin + c.pad_end - (w.shape[2] - 1) * c.dilation - 1) / c.stride + 1;
  const int64_t out_w =
      (x.shape[3] + c.pad_begin + c.pad_end - (w.shape[3] - 1) * c.dilation - 1) / c.stride + 1;
  const int64_t per_group = w.shape[0] / c.group;
  return testing::Generate({x.shape[0], w.shape[0], out_h, out_w}, [&](const Dims& at) {
    double sum = bias[static_cast<size_t>(at[1])];
    testing::ForEach({w.shape[1], w.shape[2], w.shape[3]}, [&](const Dims& t) {
      const int64_t row = at[2] * c.stride + t[1] * c.dilation - c.pad_begin;
      const int64_t col = at[3] * c.stride + t[2] * c.dilation - c.pad_begin;
      if (row < 0 || col < 0 || row >= x.shape[2] || col >= x.shape[3]) return;
      sum += x[{at[0], at[1] / per_group * w.shape[1] + t[0], row, col}] *
             w[{at[1], t[0], t[1], t[2]}];
    });
    return sum;
  });
}

std::string ConvAttrs(const ConvCase& c) {
  return StrCat("{group=", c.group, ", strides=[", c.stride, ", ", c.stride, "], dilations=[",
                c.dilation, ", ", c.dilation, "], pads=[", c.pad_begin, ", ", c.pad_begin, ", ",
                c.pad_end, ", ", c.pad_end, "]}");
}

TEST(LowerConv, MatchesTheSumOnBothTargets) {
  const ConvCase cases[] = {
      {{2, 3, 7, 6}, {4, 3, 3, 3}, 1, 1, 1, 1, 1},
      {{1, 4, 8, 8}, {6, 2, 3, 3}, 2, 2, 1, 0, 1},
      {{1, 5, 6, 7}, {5, 1, 3, 3}, 5, 1, 2, 2, 2},
      {{3, 2, 4, 5}, {3, 2, 1, 1}, 1, 1, 1, 0, 0},
  };
  uint32_t seed = 1;
  for (const ConvCase& c : cases) {
    const ir::Tensor x = Random(DType::kF32, c.x, seed++), w = Random(DType::kF32, c.w, seed++);
    const ir::Tensor b = Random(DType::kF32, {c.w[0]}, seed++);
    const Array want = Convolve(ToArray(x), ToArray(w), ToArray(b).data, c);
    const std::string text = StrCat("graph \"g\" { input %x: f32", ShapeText(c.x), " input %w: f32",
                                    ShapeText(c.w), " input %b: f32[", c.w[0],
                                    "] %y: f32 = Conv(%x, %w, %b) ", ConvAttrs(c), " output %y }");
    for (const char* device : {"cpu:baseline", "cuda:sm_90a"}) {
      testing::ExpectGraph(text, {{"x", x}}, want, 1e-5, 1e-5,
                           {.constants = {{"w", w}, {"b", b}}, .device = device});
    }
    testing::ExpectGraph(text, {{"x", x}, {"w", w}, {"b", b}}, want, 1e-5, 1e-5);
  }
}

TEST(LowerConv, TransposedIsTheGradient) {
  // Stride 2, kernel 3, pads 1 and output padding 1, in two groups.
  const ir::Tensor x = Random(DType::kF32, {1, 4, 3, 4}, 31),
                   w = Random(DType::kF32, {4, 3, 3, 3}, 32);
  const Array a = ToArray(x), k = ToArray(w);
  Array want({1, 6, 6, 8});
  testing::ForEach(a.shape, [&](const Dims& i) {
    testing::ForEach({3, 3, 3}, [&](const Dims& t) {
      const Dims at{0, i[1] / 2 * 3 + t[0], i[2] * 2 + t[1] - 1, i[3] * 2 + t[2] - 1};
      if (at[2] < 0 || at[3] < 0 || at[2] >= 6 || at[3] >= 8) return;
      want[at] += a[i] * k[{i[1], t[0], t[1], t[2]}];
    });
  });
  const std::string text =
      "graph \"g\" { input %x: f32[1x4x3x4] input %w: f32[4x3x3x3] %y: f32 = ConvTranspose(%x, %w) "
      "{group=2, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]} output %y }";
  testing::ExpectGraph(text, {{"x", x}}, want, 1e-5, 1e-5,
                       {.constants = {{"w", w}}, .device = "cuda:sm_90a"});
  testing::ExpectGraph(text, {{"x", x}, {"w", w}}, want, 1e-5, 1e-5);
}

// conv -> relu -> max pool -> conv -> reshape -> output
constexpr char kChain[] =
    "graph \"g\" { input %x: f32[1x2x9x8] input %w: f32[4x2x3x3] input %v: f32[3x4x1x1] "
    "%a: f32 = Conv(%x, %w) \"first\" %r: f32 = Relu(%a) "
    "%p: f32 = MaxPool(%r) {kernel_shape=[2, 2], strides=[2, 2]} %c: f32 = Conv(%p, %v) \"second\" "
    "const %s: i64[2] = [1, -1] %y: f32 = Reshape(%c, %s) output %y }";

TEST(LowerLayout, ChannelsLastFlowsFromConvToConv) {
  const testing::RunOptions options{.constants = {{"w", Random(DType::kF32, {4, 2, 3, 3}, 2)},
                                                  {"v", Random(DType::kF32, {3, 4, 1, 1}, 3)}}};
  const auto run = RunGraph(kChain, {{"x", Random(DType::kF32, {1, 2, 9, 8}, 1)}}, options);
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  const auto& steps = run->lowered.steps;
  ASSERT_EQ(steps.size(), 5u);
  for (size_t s = 0; s < 4; ++s) {
    EXPECT_EQ(ir::AxisOrder(steps[s].problem.outputs[0]), ir::ChannelsLastOrder(4)) << s;
  }
  EXPECT_EQ(steps[4].problem.family, abi::Family::kCopy);
  std::vector<Decision> layouts;
  for (const Decision& d : run->decisions.decisions()) {
    if (d.kind == DecisionKind::kLayout) layouts.push_back(d);
  }
  ASSERT_EQ(layouts.size(), 2u);
  EXPECT_EQ(layouts[0].choice, "channels-last");
  EXPECT_NE(layouts[0].sentence.find("followed by 1 values: 'r'"), std::string::npos)
      << layouts[0].sentence;
}

// The groups of a normalisation split the channel axis, which is a view in any order of the axes.
TEST(LowerLayout, GroupNormalizationStaysChannelsLast) {
  const testing::RunOptions options{.constants = {{"w", Random(DType::kF32, {4, 2, 3, 3}, 2)},
                                                  {"v", Random(DType::kF32, {3, 4, 1, 1}, 3)},
                                                  {"s", Random(DType::kF32, {2}, 4)}}};
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x2x9x8] input %w: f32[4x2x3x3] input %v: f32[3x4x1x1] "
      "input %s: f32[2] %a: f32 = Conv(%x, %w) \"first\" "
      "%n: f32 = aicf.GroupNormalization(%a, %s, %s) {num_groups=2} %r: f32 = Relu(%n) "
      "%c: f32 = Conv(%r, %v) \"second\" %y: f32 = Relu(%c) output %y }",
      {{"x", Random(DType::kF32, {2, 2, 9, 8}, 1)}}, options);
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  const auto& steps = run->lowered.steps;
  ASSERT_EQ(steps.size(), 5u);
  const abi::Problem& norm = steps[1].problem;
  ASSERT_EQ(norm.family, abi::Family::kNormalize);
  EXPECT_EQ(ToString(norm.inputs[0].shape), "2x2x2x7x6");
  EXPECT_EQ(ToListString(norm.inputs[0].strides), "[168, 2, 1, 24, 4]");
  EXPECT_EQ(norm.outputs[0].strides, norm.inputs[0].strides);
  EXPECT_EQ(ir::AxisOrder(steps[2].problem.outputs[0]), ir::ChannelsLastOrder(4));
}

TEST(LowerLayout, GraphOutputsStayRowMajorAndSayWhy) {
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[1x2x5x5] input %w: f32[3x2x3x3] "
      "%y: f32 = Conv(%x, %w) output %y }",
      {{"x", Random(DType::kF32, {1, 2, 5, 5}, 1)}},
      {.constants = {{"w", Random(DType::kF32, {3, 2, 3, 3}, 2)}}});
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(abi::IsDense(run->lowered.steps[0].problem.outputs[0]));
  EXPECT_EQ(run->decisions.decisions()[0].choice, "row-major");
}

TEST(LowerLayout, CudaWeightsHaveTheirOutputsInnermost) {
  const testing::RunOptions options{.constants = {{"w", Random(DType::kF32, {4, 2, 3, 3}, 2)},
                                                  {"v", Random(DType::kF32, {3, 4, 1, 1}, 3)}},
                                    .device = "cuda:sm_90a"};
  const auto run = RunGraph(kChain, {{"x", Random(DType::kF32, {1, 2, 9, 8}, 1)}}, options);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(ToListString(run->lowered.steps[0].problem.inputs[1].strides), "[1, 4, 24, 8]");
}

// [.., M, K] x [.., K, N] with NumPy broadcasting of everything before.
Array Multiply(const Array& a, const Array& b, const Dims& shape) {
  const int rank = shape.rank();
  const int64_t depth = a.shape.back();
  return testing::Generate(shape, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      Dims left = at, right = at;
      left[rank - 1] = k;
      right[rank - 2] = k;
      sum += a.Broadcast(left) * b.Broadcast(right);
    }
    return sum;
  });
}

TEST(LowerMatMul, BatchesBroadcastAndFold) {
  struct Case {
    Dims a, b, y;
    int rank;  // of the lowered product
  };
  const Case cases[] = {
      {{3, 4}, {4, 5}, {3, 5}, 2},
      {{2, 3, 4}, {4, 5}, {2, 3, 5}, 2},  // one weight matrix: rows are folded
      {{2, 6, 3, 4}, {1, 1, 4, 5}, {2, 6, 3, 5}, 2},
      {{2, 3, 4}, {2, 4, 5}, {2, 3, 5}, 3},
      {{2, 1, 3, 4}, {6, 4, 5}, {2, 6, 3, 5}, 4},
      {{1, 3, 4}, {1, 4, 5}, {1, 3, 5}, 2},
      {{1, 7, 3, 4}, {1, 7, 4, 2}, {1, 7, 3, 2}, 3},
  };
  uint32_t seed = 70;
  for (const Case& c : cases) {
    const ir::Tensor a = Random(DType::kF32, c.a, seed++), b = Random(DType::kF32, c.b, seed++);
    const std::string text = StrCat("graph \"g\" { input %a: f32", ShapeText(c.a), " input %b: f32",
                                    ShapeText(c.b), " %y: f32 = MatMul(%a, %b) output %y }");
    testing::ExpectGraph(text, {{"a", a}, {"b", b}}, Multiply(ToArray(a), ToArray(b), c.y), 1e-5,
                         1e-5);
    const auto run = RunGraph(text, {{"a", a}, {"b", b}});
    EXPECT_EQ(run->lowered.steps[0].problem.outputs[0].shape.rank(), c.rank) << text;
  }
}

TEST(LowerMatMul, VectorsAreRowsAndColumns) {
  const ir::Tensor v = Random(DType::kF32, {4}, 1), m = Random(DType::kF32, {2, 4, 3}, 2);
  const Array a = ToArray(v), b = ToArray(m);
  auto dot = [&](const std::function<double(int64_t)>& f) {
    double sum = 0;
    for (int64_t k = 0; k < 4; ++k) sum += f(k);
    return sum;
  };
  testing::ExpectGraph(
      "graph \"g\" { input %a: f32[4] input %b: f32[2x4x3] %y: f32 = MatMul(%a, %b) output %y }",
      {{"a", v}, {"b", m}},
      testing::Generate({2, 3},
                        [&](const Dims& i) {
                          return dot([&](int64_t k) { return a[{k}] * b[{i[0], k, i[1]}]; });
                        }),
      1e-5, 1e-5);
  testing::ExpectGraph(
      "graph \"g\" { input %b: f32[2x4x3] %t: f32 = Transpose(%b) {perm=[0, 2, 1]} "
      "input %a: f32[4] %y: f32 = MatMul(%t, %a) output %y }",
      {{"a", v}, {"b", m}},
      testing::Generate({2, 3},
                        [&](const Dims& i) {
                          return dot([&](int64_t k) { return a[{k}] * b[{i[0], k, i[1]}]; });
                        }),
      1e-5, 1e-5);
  testing::ExpectGraph(
      "graph \"g\" { input %a: f32[4] %y: f32 = MatMul(%a, %a) output %y }", {{"a", v}},
      testing::Generate(
          {}, [&](const Dims&) { return dot([&](int64_t k) { return a[{k}] * a[{k}]; }); }),
      1e-5, 1e-5);
}

TEST(LowerGemm, AlphaBetaTransposesAndTheBroadcastAddend) {
  uint32_t seed = 300;
  for (int ta : {0, 1}) {
    for (int tb : {0, 1}) {
      for (const Dims& shape : {Dims{5}, Dims{3, 1}, Dims{1, 5}, Dims{}, Dims{3, 5}}) {
        const ir::Tensor a = Random(DType::kF32, ta ? Dims{4, 3} : Dims{3, 4}, seed++);
        const ir::Tensor b = Random(DType::kF32, tb ? Dims{5, 4} : Dims{4, 5}, seed++);
        const ir::Tensor c = Random(DType::kF32, shape, seed++);
        const Array x = ToArray(a), y = ToArray(b), z = ToArray(c);
        const Array want = testing::Generate({3, 5}, [&](const Dims& i) {
          double sum = 0;
          for (int64_t k = 0; k < 4; ++k) {
            sum += (ta ? x[{k, i[0]}] : x[{i[0], k}]) * (tb ? y[{i[1], k}] : y[{k, i[1]}]);
          }
          return 0.5 * sum + 2.0 * z.Broadcast(i);
        });
        const std::string extents = ShapeText(shape);
        testing::ExpectGraph(
            StrCat("graph \"g\" { input %a: f32", ShapeText(a.shape()), " input %b: f32",
                   ShapeText(b.shape()), " input %c: f32", extents,
                   " %y: f32 = Gemm(%a, %b, %c) {alpha=0.5, beta=2.0, transA=", ta, ", transB=", tb,
                   "} output %y }"),
            {{"a", a}, {"b", b}}, want, 1e-5, 1e-5, {.constants = {{"c", c}}});
      }
    }
  }
}

TEST(LowerMath, HalfProductsOnCudaUseTensorCoresWithoutLosingABit) {
  const ir::Tensor a = Random(DType::kF16, {2, 4}, 1), b = Random(DType::kF16, {4, 3}, 2);
  const std::string text =
      "graph \"g\" { input %a: f16[2x4] input %b: f16[4x3] %y: f16 = MatMul(%a, %b) output %y }";
  const auto cuda =
      RunGraph(text, {{"a", a}, {"b", b}}, {.constants = {}, .device = "cuda:sm_90a"});
  const auto cpu = RunGraph(text, {{"a", a}, {"b", b}});
  ASSERT_TRUE(cuda.ok() && cpu.ok());
  EXPECT_EQ(cuda->lowered.steps[0].problem.math, abi::MathMode::kFp16);
  EXPECT_EQ(cpu->lowered.steps[0].problem.math, abi::MathMode::kFp32);
  EXPECT_EQ(cuda->outputs[0].data, cpu->outputs[0].data);
}

}  // namespace
}  // namespace aicf
