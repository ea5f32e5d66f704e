// By what is predicted for a GPU a norm becomes part of a product, or not; what it becomes is in
// tests/passes/moments-in-product.test.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// x [rows, terms] -> norm -> product with weights of `columns` columns -> y.
ir::Lowered Program(int64_t rows, int64_t terms, int64_t columns) {
  const auto matrix = [](int64_t m, int64_t n) {
    return StrCat("f16 ", m, "x", n, " [", n, ", 1]+0");
  };
  const std::string x = matrix(rows, terms), w = matrix(terms, columns), y = matrix(rows, columns);
  const std::string no_data = " @00000000000000000000000000000000\n";
  const auto parsed = ir::ParseLowered(StrCat(
      "lowered \"g\"\n%0 = input \"x\" f16 ", rows, "x", terms, "\n%1 = constant \"g\" f32 ", terms,
      no_data, "%2 = constant \"w\" f16 ", terms, "x", columns, no_data, "%3 = temp \"n\" f16 ",
      rows, "x", terms, "\n%4 = output \"y\" f16 ", rows, "x", columns,
      "\ninputs %0\noutputs %4\nstep [\"norm\"] (%0, %1) -> (%3) : normalize math=fp32 kind=2 "
      "axes=[1] epsilon=0x1p-10 core=1 in(",
      x, ", f32 ", rows, "x", terms, " [0, 1]+0) out(", x,
      ") pro id epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2\n"
      "step [\"up\"] (%3, %2) -> (%4) : gemm math=fp16 core=2 in(",
      x, ", ", w, ") out(", y, ") pro id epi id\n"));
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return *parsed;
}

size_t StepsAfter(int64_t rows, int64_t terms, int64_t columns, std::string_view device) {
  ir::Lowered program = Program(rows, terms, columns);
  DecisionLog decisions;
  PassContext context;
  context.device = *abi::FindDevice(device);
  context.decisions = &decisions;
  EXPECT_TRUE(MomentsInProduct(program, context).ok());
  EXPECT_TRUE(Verify(program).ok());
  return program.steps.size();
}

TEST(NormMoments, MoveWhereSummingUpTakesLessThanAStep) {
  EXPECT_EQ(StepsAfter(784, 192, 768, "cuda:sm_90a"), 1u);
  EXPECT_EQ(StepsAfter(100352, 96, 384, "cuda:sm_90a"), 1u) << "a norm of many rows takes longer";
  EXPECT_EQ(StepsAfter(128, 768, 2304, "cuda:sm_90a"), 2u) << "12 steps of the sum";
}

TEST(NormMoments, StayWhereNoKernelSumsThemUp) {
  EXPECT_EQ(StepsAfter(784, 192, 768, "cpu:avx512"), 2u);
  EXPECT_EQ(StepsAfter(784, 192, 768, "cuda:sm_80"), 2u);
}

}  // namespace
}  // namespace aicf
