#include <cmath>
#include <limits>

#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Ints;
using testing::Random;
using testing::RunGraph;
using testing::ToArray;

struct UnaryCase {
  const char* op;
  const char* attrs;
  std::function<double(double)> f;
  double low = -2, high = 2;
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kUnary[] = {
    {"Abs", "", [](double x) { return std::abs(x); }},
    {"Acos", "", [](double x) { return std::acos(x); }, -1, 1},
    {"Acosh", "", [](double x) { return std::acosh(x); }, 1, 4},
    {"Asin", "", [](double x) { return std::asin(x); }, -1, 1},
    {"Asinh", "", [](double x) { return std::asinh(x); }},
    {"Atan", "", [](double x) { return std::atan(x); }},
    {"Atanh", "", [](double x) { return std::atanh(x); }, -0.9, 0.9},
    {"Ceil", "", [](double x) { return std::ceil(x); }},
    {"Celu", "{alpha=2.0}",
     [](double x) { return std::max(x, 0.0) + std::min(0.0, 2 * std::expm1(x / 2)); }},
    {"Cos", "", [](double x) { return std::cos(x); }},
    {"Cosh", "", [](double x) { return std::cosh(x); }},
    {"Elu", "{alpha=1.5}", [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; }},
    {"Erf", "", [](double x) { return std::erf(x); }},
    {"Exp", "", [](double x) { return std::exp(x); }},
    {"Floor", "", [](double x) { return std::floor(x); }},
    {"Gelu", "", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"Gelu", "{approximate=\"tanh\"}",
     [](double x) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {"HardSigmoid", "{alpha=0.25, beta=0.4}",
     [](double x) { return std::max(0.0, std::min(1.0, 0.25 * x + 0.4)); }},
    {"HardSwish", "", [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }, -5,
     5},
    {"LeakyRelu", "{alpha=0.3}", [](double x) { return x < 0 ? 0.3 * x : x; }},
    {"Log", "", [](double x) { return std::log(x); }, 0.1, 4},
    {"Mish", "", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"Neg", "", [](double x) { return -x; }},
    {"Reciprocal", "", [](double x) { return 1 / x; }, 0.2, 3},
    {"Relu", "", [](double x) { return std::max(x, 0.0); }},
    {"Round", "", [](double x) { return std::nearbyint(x); }},
    {"Selu", "",
     [](double x) {
       return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
     }},
    {"Sigmoid", "", Sigmoid},
    {"Sign", "", [](double x) { return x > 0   ? 1.0
                                       : x < 0 ? -1.0
                                               : 0.0; }},
    {"Sin", "", [](double x) { return std::sin(x); }},
    {"Sinh", "", [](double x) { return std::sinh(x); }},
    {"Softplus", "", [](double x) { return std::log1p(std::exp(x)); }},
    {"Softsign", "", [](double x) { return x / (1 + std::abs(x)); }},
    {"Sqrt", "", [](double x) { return std::sqrt(x); }, 0, 4},
    {"Swish", "", [](double x) { return x * Sigmoid(x); }},
    {"Swish", "{alpha=0.5}", [](double x) { return x * Sigmoid(0.5 * x); }},
    {"Tan", "", [](double x) { return std::tan(x); }, -1.2, 1.2},
    {"Tanh", "", [](double x) { return std::tanh(x); }},
    {"ThresholdedRelu", "{alpha=0.7}", [](double x) { return x > 0.7 ? x : 0.0; }},
};

TEST(LowerElementwise, UnaryOpsMatchTheReferenceInEveryFloatDType) {
  uint32_t seed = 1;
  for (const UnaryCase& c : kUnary) {
    for (DType dtype : {DType::kF32, DType::kF16, DType::kF64}) {
      const ir::Tensor x = Random(dtype, {2, 3, 5}, seed++, c.low, c.high);
      const Array in = ToArray(x);
      const Array want = testing::Generate(in.shape, [&](const Dims& at) { return c.f(in[at]); });
      const std::string name(DTypeName(dtype));
      const double tolerance = dtype == DType::kF16 ? 2e-3 : 2e-6;
      testing::ExpectGraph(StrCat("graph \"g\" { input %x: ", name, "[2x3x5] %y: ", name, " = ",
                                  c.op, "(%x) ", c.attrs, " output %y }"),
                           {{"x", x}}, want, tolerance, tolerance);
    }
  }
}

struct BinaryCase {
  const char* op;
  const char* attrs;
  const char* dtype;
  const char* result;
  std::function<double(double, double)> f;
  double low = -3, high = 3;
};

double FloorMod(double a, double b) { return a - b * std::floor(a / b); }

const BinaryCase kBinary[] = {
    {"Add", "", "f32", "f32", [](double a, double b) { return a + b; }},
    {"Sub", "", "f32", "f32", [](double a, double b) { return a - b; }},
    {"Mul", "", "f32", "f32", [](double a, double b) { return a * b; }},
    {"Div", "", "f32", "f32", [](double a, double b) { return a / b; }, 0.5, 3},
    {"Div", "", "i32", "i32", [](double a, double b) { return std::trunc(a / b); }, 1, 20},
    {"Pow", "", "f32", "f32", [](double a, double b) { return std::pow(a, b); }, 0.5, 3},
    {"Mod", "", "i64", "i64", FloorMod, 1, 20},
    {"Mod", "{fmod=1}", "f32", "f32", [](double a, double b) { return std::fmod(a, b); }, 1, 9},
    {"Equal", "", "i32", "bool", [](double a, double b) { return a == b; }},
    {"Greater", "", "f32", "bool", [](double a, double b) { return a > b; }},
    {"GreaterOrEqual", "", "i32", "bool", [](double a, double b) { return a >= b; }},
    {"Less", "", "f32", "bool", [](double a, double b) { return a < b; }},
    {"LessOrEqual", "", "i32", "bool", [](double a, double b) { return a <= b; }},
    {"And", "", "bool", "bool", [](double a, double b) { return a != 0 && b != 0; }, 0, 2},
    {"Or", "", "bool", "bool", [](double a, double b) { return a != 0 || b != 0; }, 0, 2},
    {"Xor", "", "bool", "bool", [](double a, double b) { return (a != 0) != (b != 0); }, 0, 2},
    {"Max", "", "f32", "f32", [](double a, double b) { return std::max(a, b); }},
    {"Min", "", "i32", "i32", [](double a, double b) { return std::min(a, b); }},
    {"Mean", "", "f32", "f32", [](double a, double b) { return (a + b) / 2; }},
    {"Sum", "", "f32", "f32", [](double a, double b) { return a + b; }},
};

TEST(LowerElementwise, BinaryOpsBroadcastBothWays) {
  uint32_t seed = 100;
  for (const BinaryCase& c : kBinary) {
    const DType dtype = *ParseDType(c.dtype);
    const ir::Tensor a = Random(dtype, {4, 1, 3}, seed++, c.low, c.high);
    const ir::Tensor b = Random(dtype, {5, 3}, seed++, c.low, c.high);
    const Array x = ToArray(a), y = ToArray(b);
    const Array want = testing::Generate(
        {4, 5, 3}, [&](const Dims& at) { return c.f(x.Broadcast(at), y.Broadcast(at)); });
    const std::string text =
        StrCat("graph \"g\" { input %a: ", c.dtype, "[4x1x3] input %b: ", c.dtype,
               "[5x3] %y: ", c.result, " = ", c.op, "(%a, %b) ", c.attrs, " output %y }");
    testing::ExpectGraph(text, {{"a", a}, {"b", b}}, want, 2e-6, 1e-6);
    testing::ExpectGraph(text, {{"a", a}}, want, 2e-6, 1e-6, {.constants = {{"b", b}}});
  }
}

TEST(LowerElementwise, ScalarConstantsAreInlined) {
  const ir::Tensor x = Random(DType::kF32, {3, 4}, 7);
  for (const char* shape : {"[]", "[1]", "[1x1]"}) {
    const auto run = RunGraph(StrCat("graph \"g\" { input %x: f32[3x4] const %c: f32", shape,
                                     " = [2.5] %y: f32 = Mul(%x, %c) output %y }"),
                              {{"x", x}});
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    EXPECT_EQ(run->lowered.steps[0].inputs.size(), 1u);
    EXPECT_EQ(run->lowered.buffers.size(), 2u);
    EXPECT_EQ(run->outputs[0].data[5], 2.5 * ToArray(x).data[5]);
  }
}

TEST(LowerElementwise, OneOperandReadTwiceIsLoadedOnce) {
  const auto run = RunGraph("graph \"g\" { input %x: f32[6] %y: f32 = Mul(%x, %x) output %y }",
                            {{"x", Random(DType::kF32, {6}, 8)}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->lowered.steps[0].inputs.size(), 1u);
}

TEST(LowerElementwise, ClipTakesAbsentConstantAndComputedBounds) {
  const ir::Tensor x = Random(DType::kF32, {20}, 9);
  const Array in = ToArray(x);
  const std::string head = "graph \"g\" { input %x: f32[20] const %h: f32[] = [0.5] ";
  testing::ExpectGraph(head + "%y: f32 = Clip(%x, _, %h) output %y }", {{"x", x}},
                       testing::Generate({20}, [&](const Dims& i) { return std::min(in[i], 0.5); }),
                       0, 0);
  testing::ExpectGraph(
      head + "input %l: f32[] %y: f32 = Clip(%x, %l, %h) output %y }",
      {{"x", x},
       {"l",
        testing::ToTensor(testing::Generate({}, [](const Dims&) { return -0.25; }), DType::kF32)}},
      testing::Generate({20}, [&](const Dims& i) { return std::min(std::max(in[i], -0.25), 0.5); }),
      0, 0);
}

TEST(LowerElementwise, CastRoundsAndSaturatesLikeAStore) {
  Array in({6});
  in.data = {1.0 / 3, 65519.0, 65520.0, -2.7, 0.0, 1e-8};
  const ir::Tensor x = testing::ToTensor(in, DType::kF32);
  Array half({6});
  for (size_t i = 0; i < 6; ++i) half.data[i] = F16ToF32(F32ToF16(static_cast<float>(in.data[i])));
  EXPECT_TRUE(std::isinf(half.data[2]));
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[6] %h: f16 = Cast(%x) {to=\"f16\"} "
      "%y: f32 = Cast(%h) {to=\"f32\"} output %y }",
      {{"x", x}}, half, 0, 0);
  Array truncated({6});
  truncated.data = {0, 65519, 65520, -2, 0, 0};
  testing::ExpectGraph("graph \"g\" { input %x: f32[6] %y: i32 = Cast(%x) {to=\"i32\"} output %y }",
                       {{"x", x}}, truncated, 0, 0);
  Array boolean({6});
  boolean.data = {1, 1, 1, 1, 0, 1};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[6] %y: bool = Cast(%x) {to=\"bool\"} output %y }", {{"x", x}},
      boolean, 0, 0);
}

TEST(LowerElementwise, PowMixesDTypes) {
  Array base({3}), exponent({3});
  base.data = {2, 3, 4};
  exponent.data = {0.5, 2, -1};
  const auto b = [&](DType d) { return testing::ToTensor(base, d); };
  Array want({3});
  want.data = {1, 9, 0};  // truncated back to the base's dtype
  testing::ExpectGraph(
      "graph \"g\" { input %a: i32[3] input %b: f32[3] %y: i32 = Pow(%a, %b) output %y }",
      {{"a", b(DType::kI32)}, {"b", testing::ToTensor(exponent, DType::kF32)}}, want, 0, 0);
  Array powers({3});
  powers.data = {8, 27, 64};
  testing::ExpectGraph(
      "graph \"g\" { input %a: f32[3] const %b: i64[1] = [3] %y: f32 = Pow(%a, %b) output %y }",
      {{"a", b(DType::kF32)}}, powers, 1e-6, 0);
  powers.data = {4, 9, 16};
  testing::ExpectGraph(
      "graph \"g\" { input %a: f16[3] const %b: f32[] = [2.0] %y: f16 = Pow(%a, %b) output %y }",
      {{"a", b(DType::kF16)}}, powers, 0, 0);
}

TEST(LowerElementwise, WherePReluAndPredicates) {
  const double inf = std::numeric_limits<double>::infinity();
  Array in({4});
  in.data = {inf, -inf, NAN, -3};
  const ir::Tensor x = testing::ToTensor(in, DType::kF32);
  Array want({4});
  want.data = {0, 1, 0, 0};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[4] %y: bool = IsInf(%x) {detect_positive=0} output %y }",
      {{"x", x}}, want, 0, 0);
  want.data = {1, 1, 0, 0};
  testing::ExpectGraph("graph \"g\" { input %x: f32[4] %y: bool = IsInf(%x) output %y }",
                       {{"x", x}}, want, 0, 0);
  want.data = {0, 0, 1, 0};
  testing::ExpectGraph("graph \"g\" { input %x: f32[4] %y: bool = IsNaN(%x) output %y }",
                       {{"x", x}}, want, 0, 0);
  want.data = {7, 7, -7, 7};
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[4] %n: bool = IsNaN(%x) const %a: f32[] = [-7.0] "
      "const %b: f32[1] = [7.0] %y: f32 = Where(%n, %a, %b) output %y }",
      {{"x", x}}, want, 0, 0);
  const ir::Tensor v = Random(DType::kF32, {2, 3, 4}, 11), slope = Random(DType::kF32, {3, 1}, 12);
  const Array a = ToArray(v), s = ToArray(slope);
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x3x4] input %s: f32[3x1] %y: f32 = PRelu(%x, %s) output %y }",
      {{"x", v}, {"s", slope}},
      testing::Generate(a.shape,
                        [&](const Dims& i) { return a[i] < 0 ? a[i] * s.Broadcast(i) : a[i]; }),
      1e-6, 1e-7);
}

TEST(LowerElementwise, ManyOperandsAreSummedInParts) {
  for (const char* op : {"Sum", "Mean", "Max"}) {
    std::string text = "graph \"g\" {", args;
    std::map<std::string, ir::Tensor> inputs;
    Array want({3, 2});
    if (std::string(op) == "Max") std::fill(want.data.begin(), want.data.end(), -1e9);
    for (int k = 0; k < 30; ++k) {
      const std::string name = StrCat("x", k);
      text += StrCat(" input %", name, ": f32[3x2]");
      args += (k > 0 ? ", %" : "%") + name;
      inputs[name] = Random(DType::kF32, {3, 2}, 200 + k);
      const Array in = ToArray(inputs[name]);
      for (size_t i = 0; i < 6; ++i) {
        want.data[i] = std::string(op) == "Max" ? std::max(want.data[i], in.data[i])
                                                : want.data[i] + in.data[i];
      }
    }
    if (std::string(op) == "Mean") {
      for (double& v : want.data) v /= 30;
    }
    testing::ExpectGraph(StrCat(text, " %y: f32 = ", op, "(", args, ") output %y }"), inputs, want,
                         1e-5, 1e-5);
  }
}

// More of one operand than an expression has nodes, and than 16 bits count.
TEST(LowerElementwise, OneOperandMayComeAThousandTimes) {
  for (int times : {100, 70'000}) {
    std::string args = "%x";
    for (int k = 1; k < times; ++k) args += ", %x";
    const ir::Tensor x = Random(DType::kF32, {3}, 9);
    testing::ExpectGraph(
        StrCat("graph \"g\" { input %x: f32[3] %y: f32 = Mean(", args, ") output %y }"), {{"x", x}},
        ToArray(x), 1e-3, 1e-3);
  }
}

TEST(LowerElementwise, EmptyAndScalarTensors) {
  testing::ExpectGraph("graph \"g\" { input %x: f32[2x0x3] %y: f32 = Exp(%x) output %y }",
                       {{"x", Random(DType::kF32, {2, 0, 3}, 1)}}, Array({2, 0, 3}), 0, 0);
  Array one{Dims{}};
  one.data = {std::exp(1.0)};
  Array in{Dims{}};
  in.data = {1};
  testing::ExpectGraph("graph \"g\" { input %x: f32[] %y: f32 = Exp(%x) output %y }",
                       {{"x", testing::ToTensor(in, DType::kF32)}}, one, 1e-6, 0);
}

}  // namespace
}  // namespace aicf
