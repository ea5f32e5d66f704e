// aicf.ScaledMatMul against its definition in double.
#include "base/checked.h"
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Random;
using testing::RunGraph;
using testing::ShapeText;
using testing::ToArray;

struct Scaled {
  Dims a, b;
  int64_t terms, columns;
};

TEST(LowerScaledMatMul, MultipliesBlocksByBothScales) {
  const Scaled cases[] = {
      {{5, 8}, {8, 6}, 4, 1},
      {{5, 9}, {9, 7}, 4, 3},  // the last block of each is a part of one
      {{2, 3, 8}, {8, 5}, 2, 5},
      {{2, 1, 3, 6}, {6, 4}, 3, 2},
  };
  uint32_t seed = 500;
  for (const Scaled& c : cases) {
    const int64_t steps = CeilDiv(c.b[0], c.terms);
    Dims of_a = c.a, out = c.a;
    of_a[c.a.rank() - 1] = steps;
    out[c.a.rank() - 1] = c.b[1];
    const Dims of_b = {steps, CeilDiv(c.b[1], c.columns)};
    const ir::Tensor a = Random(DType::kF8E4M3FN, c.a, seed++),
                     b = Random(DType::kF8E4M3FN, c.b, seed++);
    const ir::Tensor sa = Random(DType::kF32, of_a, seed++), sb = Random(DType::kF32, of_b, seed++);
    const Array x = ToArray(a), y = ToArray(b), s = ToArray(sa), t = ToArray(sb);
    const Array want = testing::Generate(out, [&](const Dims& at) {
      double sum = 0;
      const int last = at.rank() - 1;
      for (int64_t k = 0; k < c.b[0]; ++k) {
        Dims row = at, block = at;
        row[last] = k;
        block[last] = k / c.terms;
        sum += x[row] * s[block] * y[{k, at[last]}] * t[{k / c.terms, at[last] / c.columns}];
      }
      return sum;
    });
    const std::string text = StrCat(
        "graph \"g\" { input %a: f8e4m3fn", ShapeText(c.a), " input %b: f8e4m3fn", ShapeText(c.b),
        " input %sa: f32", ShapeText(of_a), " input %sb: f32", ShapeText(of_b),
        " %y: f32 = aicf.ScaledMatMul(%a, %b, %sa, %sb) {scale_terms=", c.terms,
        ", scale_columns=", c.columns, "} output %y }");
    testing::ExpectGraph(text, {{"a", a}, {"b", b}, {"sa", sa}, {"sb", sb}}, want, 1e-5, 1e-5);
    const auto run = RunGraph(text, {{"a", a}, {"b", b}, {"sa", sa}, {"sb", sb}});
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    ASSERT_EQ(run->lowered.steps.size(), 1u) << text;
    // One matrix on the right: the rows of all batches are those of one product.
    EXPECT_EQ(run->lowered.steps[0].problem.outputs[0].shape.rank(), 2) << text;
  }
}

TEST(LowerScaledMatMul, MultipliesCodesWithoutScales) {
  for (const Dims& shape : {Dims{5, 8}, Dims{2, 3, 8}}) {
    Dims out = shape;
    out[shape.rank() - 1] = 6;
    const ir::Tensor a = Random(DType::kF8E5M2, shape, 600),
                     b = Random(DType::kF8E5M2, {8, 6}, 601);
    const Array x = ToArray(a), y = ToArray(b);
    const Array want = testing::Generate(out, [&](const Dims& at) {
      double sum = 0;
      const int last = at.rank() - 1;
      for (int64_t k = 0; k < 8; ++k) {
        Dims row = at;
        row[last] = k;
        sum += x[row] * y[{k, at[last]}];
      }
      return sum;
    });
    testing::ExpectGraph(
        StrCat("graph \"g\" { input %a: f8e5m2", ShapeText(shape),
               " input %b: f8e5m2[8x6] %y: f32 = aicf.ScaledMatMul(%a, %b) output %y }"),
        {{"a", a}, {"b", b}}, want, 1e-5, 1e-5);
  }
}

TEST(LowerScaledMatMul, BadOperandsAreRefused) {
  const auto expect = [](const std::string& node, std::string_view what) {
    const auto run = RunGraph(
        "graph \"g\" { input %a: f8e4m3fn[2x6] input %b: f8e4m3fn[6x3] input %c: f8e5m2[6x3] "
        "input %f: f32[6x3] input %d: f8e4m3fn[2x6x3] input %v: f8e4m3fn[6] input %e: "
        "f8e4m3fn[5x3] input %sa: f32[2x2] input %sb: f32[2x3] input %h: f16[2x2] " +
            node + " output %y }",
        {});
    ASSERT_FALSE(run.ok()) << node;
    EXPECT_NE(run.status().message().find(what), std::string::npos) << run.status().ToString();
  };
  const std::string op = "%y: f32 = aicf.ScaledMatMul";
  const char* types = "expected one float8 type";
  expect(op + "(%a, %c, %sa, %sb) {scale_terms=3}", types);
  expect(op + "(%f, %f, %sa, %sb) {scale_terms=3}", types);
  expect(op + "(%a, %d, %sa, %sb) {scale_terms=3}", "do not multiply");
  expect(op + "(%v, %b, %sa, %sb) {scale_terms=3}", "do not multiply");
  expect(op + "(%a, %e, %sa, %sb) {scale_terms=3}", "do not multiply");
  expect(op + "(%a, %b, %sa, %sb)", "scales of 0 x 1 elements");
  expect(op + "(%a, %b, %sa) {scale_terms=3}", "has scales of one operand alone, or of none");
  expect(op + "(%a, %b) {scale_terms=3}", "has scales of one operand alone, or of none");
  expect(op + "(%a, %b, %sa, %sb) {scale_terms=3, scale_columns=0}", "scales of 3 x 0 elements");
  expect(op + "(%a, %b, %sa, %sb) {scale_terms=2}", "input 2 is f32 2x2, expected f32 2x3");
  expect(op + "(%a, %b, %sa, %sb) {scale_terms=3, scale_columns=2}",
         "input 3 is f32 2x3, expected f32 2x2");
  expect(op + "(%a, %b, %h, %sb) {scale_terms=3}", "input 2 is f16 2x2, expected f32 2x2");
}

}  // namespace
}  // namespace aicf
