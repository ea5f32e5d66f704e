// Reductions, normalisation, pooling, gather, resize and top-k.
#include <limits>

#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Generate;
using testing::Ints;
using testing::Random;
using testing::ToArray;

struct ReduceCase {
  const char* op;
  std::function<double(const std::vector<double>&)> f;
};

double Total(const std::vector<double>& v, const std::function<double(double)>& f) {
  double sum = 0;
  for (double x : v) sum += f(x);
  return sum;
}

const ReduceCase kReduce[] = {
    {"ReduceL1", [](const auto& v) { return Total(v, [](double x) { return std::abs(x); }); }},
    {"ReduceL2", [](const auto& v) { return std::sqrt(Total(v, [](double x) { return x * x; })); }},
    {"ReduceLogSum", [](const auto& v) { return std::log(Total(v, [](double x) { return x; })); }},
    {"ReduceLogSumExp",
     [](const auto& v) { return std::log(Total(v, [](double x) { return std::exp(x); })); }},
    {"ReduceMax", [](const auto& v) { return *std::max_element(v.begin(), v.end()); }},
    {"ReduceMin", [](const auto& v) { return *std::min_element(v.begin(), v.end()); }},
    {"ReduceMean",
     [](const auto& v) {
       return Total(v, [](double x) { return x; }) / static_cast<double>(v.size());
     }},
    {"ReduceProd",
     [](const auto& v) {
       double p = 1;
       for (double x : v) p *= x;
       return p;
     }},
    {"ReduceSum", [](const auto& v) { return Total(v, [](double x) { return x; }); }},
    {"ReduceSumSquare", [](const auto& v) { return Total(v, [](double x) { return x * x; }); }},
};

TEST(LowerReduce, EveryKindOverEveryAxesKeptOrNot) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 4}, 1, 0.5, 2);
  const Array in = ToArray(x);
  for (const ReduceCase& c : kReduce) {
    for (const auto& axes : {std::vector<int64_t>{1}, {-1, 0}, {0, 1, 2}}) {
      std::vector<bool> reduced(3, false);
      for (int64_t a : axes) reduced[static_cast<size_t>(a < 0 ? a + 3 : a)] = true;
      Dims kept = in.shape, dropped;
      for (int i = 0; i < 3; ++i) {
        if (reduced[i]) kept[i] = 1;
        if (!reduced[i]) dropped.push_back(in.shape[i]);
      }
      Array want = Generate(kept, [&](const Dims& at) {
        std::vector<double> values;
        testing::ForEach(in.shape, [&](const Dims& i) {
          bool same = true;
          for (int d = 0; d < 3; ++d) same &= reduced[d] || i[d] == at[d];
          if (same) values.push_back(in[i]);
        });
        return c.f(values);
      });
      for (int keep : {1, 0}) {
        if (keep == 0) want.shape = dropped;
        testing::ExpectGraph(
            StrCat("graph \"g\" { input %x: f32[2x3x4] input %a: i64[", axes.size(),
                   "] %y: f32 = ", c.op, "(%x, %a) {keepdims=", keep, "} output %y }"),
            {{"x", x}}, want, 1e-5, 1e-6, {.constants = {{"a", Ints(axes)}}});
      }
    }
  }
}

TEST(LowerReduce, IntegersInfinitiesNothingAndNoop) {
  Array in({2, 2});
  in.data = {3, 4, -6, 8};
  Array want({2});
  want.data = {5, 10};
  testing::ExpectGraph(
      "graph \"g\" { input %x: i32[2x2] const %a: i64[1] = [1] %y: i32 = ReduceL2(%x, %a) "
      "{keepdims=0} output %y }",
      {{"x", testing::ToTensor(in, DType::kI32)}}, want, 0, 0);
  const double inf = std::numeric_limits<double>::infinity();
  in.data = {-inf, -inf, inf, 1};
  want.data = {-inf, inf};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x2] const %a: i64[1] = [1] %y: f32 = ReduceLogSumExp(%x, %a) "
      "{keepdims=0} output %y }",
      {{"x", testing::ToTensor(in, DType::kF32)}}, want, 0, 0);
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x2] %y: f32 = ReduceSum(%x) {noop_with_empty_axes=1} output %y "
      "}",
      {{"x", testing::ToTensor(in, DType::kF32)}}, in, 0, 0);
  want.data = {0, 0};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x0] const %a: i64[1] = [1] %y: f32 = ReduceSum(%x, %a) "
      "{keepdims=0} output %y }",
      {{"x", Random(DType::kF32, {2, 0}, 1)}}, want, 0, 0);
}

TEST(LowerReduce, ArgMaxTakesFirstOrLast) {
  Array in({2, 4});
  in.data = {1, 5, 5, 2, 7, 0, 7, 7};
  const ir::Tensor x = testing::ToTensor(in, DType::kF32);
  Array want({2});
  want.data = {1, 0};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x4] %y: i64 = ArgMax(%x) {axis=-1, keepdims=0} output %y }",
      {{"x", x}}, want, 0, 0);
  want.shape = {2, 1};
  want.data = {2, 3};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x4] %y: i64 = ArgMax(%x) {axis=1, select_last_index=1} output "
      "%y }",
      {{"x", x}}, want, 0, 0);
  want.data = {0, 1};
  testing::ExpectGraph("graph \"g\" { input %x: f32[2x4] %y: i64 = ArgMin(%x) {axis=1} output %y }",
                       {{"x", x}}, want, 0, 0);
}

// (x - mean) / sqrt(var + eps) over the axes from `first` on.
Array Standardised(const Array& in, int first, double epsilon) {
  return Generate(in.shape, [&](const Dims& at) {
    double sum = 0, squares = 0, count = 0;
    testing::ForEach(in.shape, [&](const Dims& i) {
      for (int d = 0; d < first; ++d) {
        if (i[d] != at[d]) return;
      }
      sum += in[i];
      squares += in[i] * in[i];
      ++count;
    });
    const double mean = sum / count;
    return (in[at] - mean) / std::sqrt(squares / count - mean * mean + epsilon);
  });
}

TEST(LowerNormalize, SoftmaxLayerNormAndInstanceNorm) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 4}, 3);
  const Array in = ToArray(x);
  for (int axis : {0, 1, 2}) {
    auto sum_at = [&](Dims at) {
      double sum = 0;
      for (at[axis] = 0; at[axis] < in.shape[axis]; ++at[axis]) sum += std::exp(in[at]);
      return sum;
    };
    const Array soft =
        Generate(in.shape, [&](const Dims& at) { return std::exp(in[at]) / sum_at(at); });
    const Array log =
        Generate(in.shape, [&](const Dims& at) { return in[at] - std::log(sum_at(at)); });
    const std::string tail = StrCat("(%x) {axis=", axis - 3, "} output %y }");
    testing::ExpectGraph("graph \"g\" { input %x: f32[2x3x4] %y: f32 = Softmax" + tail, {{"x", x}},
                         soft, 1e-5, 1e-6);
    testing::ExpectGraph("graph \"g\" { input %x: f32[2x3x4] %y: f32 = LogSoftmax" + tail,
                         {{"x", x}}, log, 1e-5, 1e-6);
  }
  const ir::Tensor scale = Random(DType::kF32, {3, 4}, 4), bias = Random(DType::kF32, {3, 4}, 5);
  const Array s = ToArray(scale), b = ToArray(bias);
  const Array unit = Standardised(in, 1, 0.01);
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x3x4] input %s: f32[3x4] input %b: f32[3x4] "
      "%y: f32 = LayerNormalization(%x, %s, %b) {axis=1, epsilon=0.01} output %y }",
      {{"x", x}, {"s", scale}},
      Generate(in.shape, [&](const Dims& i) { return unit[i] * s.Broadcast(i) + b.Broadcast(i); }),
      1e-4, 1e-5, {.constants = {{"b", bias}}});
  const ir::Tensor channel = Random(DType::kF32, {3}, 6), shift = Random(DType::kF32, {3}, 7);
  const Array c = ToArray(channel), d = ToArray(shift);
  const Array instance = Standardised(in, 2, 1e-5);
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x3x4] input %s: f32[3] input %b: f32[3] "
      "%y: f32 = InstanceNormalization(%x, %s, %b) output %y }",
      {{"x", x}},
      Generate(in.shape, [&](const Dims& i) { return instance[i] * c[{i[1]}] + d[{i[1]}]; }), 1e-4,
      1e-5, {.constants = {{"s", channel}, {"b", shift}}});
}

// Six channels in groups of two or three, with parameters of the groups that are inputs, constants,
// or constants of which nothing is left.
TEST(LowerNormalize, GroupNorm) {
  const ir::Tensor x = Random(DType::kF32, {2, 6, 3, 2}, 9);
  for (int64_t groups : {2, 3}) {
    Array in = ToArray(x);
    const Dims whole = in.shape;
    in.shape = {2, groups, 6 / groups * 3, 2};
    Array unit = Standardised(in, 2, 0.01);
    unit.shape = whole;
    const ir::Tensor scale = Random(DType::kF32, {groups}, 10),
                     shift = Random(DType::kF32, {groups}, 11);
    const Array s = ToArray(scale), b = ToArray(shift);
    const std::string text =
        StrCat("graph \"g\" { input %x: f32[2x6x3x2] input %s: f32[", groups, "] input %b: f32[",
               groups, "] %y: f32 = aicf.GroupNormalization(%x, %s, %b) {num_groups=", groups,
               ", epsilon=0.01} output %y }");
    const Array want = Generate(whole, [&](const Dims& i) {
      const int64_t group = i[1] / (6 / groups);
      return unit[i] * s[{group}] + b[{group}];
    });
    testing::ExpectGraph(text, {{"x", x}, {"s", scale}}, want, 1e-4, 1e-5,
                         {.constants = {{"b", shift}}});
    const std::vector<float> ones(static_cast<size_t>(groups), 1), zeros(ones.size(), 0);
    const testing::RunOptions plain = {
        .constants = {{"s", ir::Tensor::FromValues<float>(DType::kF32, {groups}, ones)},
                      {"b", ir::Tensor::FromValues<float>(DType::kF32, {groups}, zeros)}}};
    testing::ExpectGraph(text, {{"x", x}}, unit, 1e-4, 1e-5, plain);
    EXPECT_TRUE(
        testing::RunGraph(text, {{"x", x}}, plain)->lowered.steps[0].problem.epilogue.empty());
  }
}

TEST(LowerNormalize, BatchNormFoldedAndDirect) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 4}, 8);
  std::map<std::string, ir::Tensor> p;
  for (const char* name : {"s", "b", "m", "v"})
    p[name] = Random(DType::kF32, {3}, 20 + name[0], 0.2, 2);
  const Array in = ToArray(x), s = ToArray(p["s"]), b = ToArray(p["b"]), m = ToArray(p["m"]),
              v = ToArray(p["v"]);
  const Array want = Generate(in.shape, [&](const Dims& i) {
    const Dims c{i[1]};
    return (in[i] - m[c]) / std::sqrt(v[c] + 0.001) * s[c] + b[c];
  });
  const std::string text =
      "graph \"g\" { input %x: f32[2x3x4] input %s: f32[3] input %b: f32[3] input %m: f32[3] input "
      "%v: f32[3] "
      "%y: f32 = BatchNormalization(%x, %s, %b, %m, %v) {epsilon=0.001} output %y }";
  testing::ExpectGraph(text, {{"x", x}}, want, 1e-5, 1e-5, {.constants = p});
  std::map<std::string, ir::Tensor> all = p;
  all["x"] = x;
  testing::ExpectGraph(text, all, want, 1e-5, 1e-5);
  EXPECT_EQ(testing::RunGraph(text, {{"x", x}}, {.constants = p})->lowered.steps[0].inputs.size(),
            3u);
}

TEST(LowerPool, WindowsPadsAndCeilMode) {
  const ir::Tensor x = Random(DType::kF32, {1, 2, 5, 6}, 9);
  const Array in = ToArray(x);
  // kernel 3, stride 2, pads 1 before and 0 after, ceil mode
  auto pool = [&](const std::function<double(const std::vector<double>&, int)>& f) {
    return Generate({1, 2, 3, 3}, [&](const Dims& at) {
      std::vector<double> values;
      int padded = 0;
      for (int64_t r = at[2] * 2 - 1; r < at[2] * 2 + 2; ++r) {
        for (int64_t c = at[3] * 2 - 1; c < at[3] * 2 + 2; ++c) {
          if (r < 5 && c < 6) ++padded;
          if (r >= 0 && c >= 0 && r < 5 && c < 6) values.push_back(in[{0, at[1], r, c}]);
        }
      }
      return f(values, padded);
    });
  };
  auto sum = [](const std::vector<double>& v) { return Total(v, [](double e) { return e; }); };
  const std::string head = "graph \"g\" { input %x: f32[1x2x5x6] %y: f32 = ";
  const std::string attrs =
      "(%x) {kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0], ceil_mode=1";
  testing::ExpectGraph(
      head + "MaxPool" + attrs + "} output %y }", {{"x", x}},
      pool([](const auto& v, int) { return *std::max_element(v.begin(), v.end()); }), 0, 0);
  testing::ExpectGraph(
      head + "AveragePool" + attrs + "} output %y }", {{"x", x}},
      pool([&](const auto& v, int) { return sum(v) / static_cast<double>(v.size()); }), 1e-5, 1e-6);
  testing::ExpectGraph(head + "AveragePool" + attrs + ", count_include_pad=1} output %y }",
                       {{"x", x}}, pool([&](const auto& v, int padded) { return sum(v) / padded; }),
                       1e-5, 1e-6);
  testing::ExpectGraph(
      head + "LpPool" + attrs + ", p=2} output %y }", {{"x", x}},
      pool([&](const auto& v, int) { return std::sqrt(Total(v, [](double e) { return e * e; })); }),
      1e-5, 1e-6);
  const Array mean = Generate({1, 2, 1, 1}, [&](const Dims& at) {
    double total = 0;
    testing::ForEach({5, 6}, [&](const Dims& i) { total += in[{0, at[1], i[0], i[1]}]; });
    return total / 30;
  });
  testing::ExpectGraph(head + "GlobalAveragePool(%x) output %y }", {{"x", x}}, mean, 1e-5, 1e-6);
}

TEST(LowerGather, IndicesPickAlongTheAxis) {
  const ir::Tensor x = Random(DType::kF32, {2, 5, 3}, 10);
  const Array in = ToArray(x);
  const std::vector<int64_t> picks{4, -5, 2, 2};
  const Array want = Generate({2, 2, 2, 3}, [&](const Dims& i) {
    const int64_t k = picks[static_cast<size_t>(i[1] * 2 + i[2])];
    return in[{i[0], k < 0 ? k + 5 : k, i[3]}];
  });
  const ir::Tensor indices = ir::Tensor::FromValues<int64_t>(DType::kI64, {2, 2}, picks);
  const std::string text =
      "graph \"g\" { input %x: f32[2x5x3] input %i: i64[2x2] %y: f32 = Gather(%x, %i) {axis=1} "
      "output %y }";
  testing::ExpectGraph(text, {{"x", x}, {"i", indices}}, want, 0, 0);
  testing::ExpectGraph(text, {{"x", x}}, want, 0, 0, {.constants = {{"i", indices}}});
}

TEST(LowerResize, ScalesSizesAndAxes) {
  const ir::Tensor x = Random(DType::kF32, {1, 2, 2, 3}, 11);
  const Array in = ToArray(x);
  const Array twice = Generate({1, 2, 4, 6}, [&](const Dims& i) {
    return in[{0, i[1], i[2] / 2, i[3] / 2}];
  });
  const std::string mode = "{coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\"";
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[1x2x2x3] const %s: f32[4] = [1.0, 1.0, 2.0, 2.0] "
      "%y: f32 = Resize(%x, _, %s) " +
          mode + "} output %y }",
      {{"x", x}}, twice, 0, 0);
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[1x2x2x3] const %s: i64[2] = [4, 6] "
      "%y: f32 = Resize(%x, _, _, %s) " +
          mode + ", axes=[2, 3]} output %y }",
      {{"x", x}}, twice, 0, 0);
  // align_corners along one axis of two elements: a straight line between them
  const Array line = Generate({1, 2, 5, 3}, [&](const Dims& i) {
    const double t = static_cast<double>(i[2]) / 4;
    return (1 - t) * in[{0, i[1], 0, i[3]}] + t * in[{0, i[1], 1, i[3]}];
  });
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[1x2x2x3] const %s: i64[4] = [1, 2, 5, 3] "
      "%y: f32 = Resize(%x, _, _, %s) {mode=\"linear\", "
      "coordinate_transformation_mode=\"align_corners\"} output %y }",
      {{"x", x}}, line, 1e-5, 1e-6);
}

TEST(LowerTopK, ValuesAndPlaces) {
  Array in({1, 5});
  in.data = {3, 9, 1, 9, 4};
  const ir::Tensor x = testing::ToTensor(in, DType::kF32);
  const auto run = testing::RunGraph(
      "graph \"g\" { input %x: f32[1x5] const %k: i64[1] = [3] (%v: f32, %i: i64) = TopK(%x, %k) "
      "output %v output %i }",
      {{"x", x}});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(run->outputs[0].data, (std::vector<double>{9, 9, 4}));
  EXPECT_EQ(run->outputs[1].data, (std::vector<double>{1, 3, 4}));
}

TEST(LowerResize, RefusesWhatNoKernelDoes) {
  const auto run = testing::RunGraph(
      "graph \"g\" { input %x: f32[1x1x4x4] const %s: f32[4] = [1.0, 1.0, 0.5, 0.5] "
      "%y: f32 = Resize(%x, _, %s) {mode=\"linear\", antialias=1} output %y }",
      {{"x", Random(DType::kF32, {1, 1, 4, 4}, 1)}});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::kUnsupported);
  EXPECT_NE(run.status().message().find("Resize:y"), std::string::npos) << run.status().message();
}

}  // namespace
}  // namespace aicf
