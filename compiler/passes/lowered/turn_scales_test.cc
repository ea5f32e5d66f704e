// Which products turn-scales gives turned scales on a GPU. That values stay the same is shown by
// tests/passes/turn-scales.test, with smaller products.
#include <gtest/gtest.h>

#include "compiler/decisions/decisions.h"
#include "compiler/ir/text.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// Steps that a product [rows, 4096] x [4096, 4096] has after the pass.
size_t StepsAfter(int64_t rows) {
  const std::string m = StrCat(rows);
  const std::string text = StrCat(
      "lowered \"g\"\n%0 = input \"x\" f8e4m3fn ", m,
      "x4096\n%1 = input \"w\" f8e4m3fn 4096x4096\n", "%2 = input \"sx\" f32 ", m,
      "x32\n%3 = input \"sw\" f32 32x32\n%4 = output \"y\" f32 ", m,
      "x4096\ninputs %0, %1, %2, %3\noutputs %4\nstep [\"product\"] (%0, %1, %2, %3) -> (%4) : "
      "gemm ",
      "math=fp8 scale_terms=128 scale_columns=128 core=4 in(f8e4m3fn ", m,
      "x4096 [4096, 1]+0, f8e4m3fn 4096x4096 [1, 4096]+0, f32 ", m,
      "x32 [32, 1]+0, f32 32x32 [32, 1]+0) out(f32 ", m, "x4096 [4096, 1]+0) pro id epi id\n");
  Result<ir::Lowered> lowered = ir::ParseLowered(text);
  if (!lowered.ok()) ADD_FAILURE() << lowered.status().ToString();
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  context.device = *abi::FindDevice("cuda:sm_90a");
  EXPECT_TRUE(TurnScales(*lowered, context).ok());
  return lowered->steps.size();
}

TEST(TurnScales, CopiesThoseOfLargeProducts) {
  EXPECT_EQ(StepsAfter(4096), 2u);
  EXPECT_EQ(StepsAfter(64), 1u);
}

TEST(TurnScales, LeavesRowsThatAreNoWholePieces) { EXPECT_EQ(StepsAfter(4098), 1u); }

}  // namespace
}  // namespace aicf
