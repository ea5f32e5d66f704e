/// Long programs for tests and benchmarks of what verification costs.
#pragma once

#include "schema/testing.h"

namespace aicf::schema::testing {

/// y = ((x + w) + w) ...: each of the steps reads two buffers and writes one, every third in place.
inline Program LongProgram(int steps) {
  ProgramBuilder b;
  const Dims shape = {8, 64};
  uint32_t last = b.Input("x", shape);
  const uint32_t w = b.Constant("w", shape);
  for (int i = 0; i < steps; ++i) {
    const bool end = i + 1 == steps;
    const uint32_t next = end ? b.Output("y", shape) : b.Temp(shape);
    if (i % 3 == 2 && !end) b.MakeAlias(next, last);
    b.AddStep(Elementwise(abi::ExprOp::kAdd), {last, w}, {next});
    last = next;
  }
  return b.Finish();
}

/// As many steps of which no two are equal: each negates more elements of a constant.
inline Program LongProgramOfDifferentSteps(int steps) {
  ProgramBuilder b;
  const uint32_t w = b.Constant("w", {64 + steps});
  for (int i = 0; i < steps; ++i) {
    const Dims shape = {64 + i};
    abi::Problem negate = Elementwise(abi::ExprOp::kNeg);
    negate.inputs = {abi::DenseView(DType::kF32, shape)};
    b.AddStep(negate, {w}, {i + 1 == steps ? b.Output("y", shape) : b.Temp(shape)});
  }
  return b.Finish();
}

}  // namespace aicf::schema::testing
