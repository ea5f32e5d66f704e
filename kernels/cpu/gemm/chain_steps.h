/// The steps of a chain while they are found. For chain_*.cc.
#pragma once

#include <algorithm>

#include "base/dtype.h"
#include "kernels/cpu/gemm/chain_step.h"

namespace aicf::cpu {

/// A step whose other members are zero.
inline ChainStep StepOf(ChainOp op) {
  ChainStep step{};
  step.op = op;
  return step;
}

/// A list that refuses what does not fit. Operands of columns are numbered as
/// TileEpilogue::inputs here.
struct ChainSteps {
  ChainStep step[kMaxChainSteps];
  int count = 0;

  ChainSteps() = default;
  ChainSteps(const ChainSteps& other) { *this = other; }
  ChainSteps& operator=(const ChainSteps& other) {
    count = other.count;
    std::copy(other.step, other.step + count, step);
    return *this;
  }

  bool Push(const ChainStep& s);
  bool Push(ChainOp op) { return Push(StepOf(op)); }
  /// v * a + b with one rounding: v + b, v - b, b - v, v * a and -v.
  bool PushLinear(float a, float b);
  /// Two clamps whose intervals meet are one, whose result is the same for every v.
  bool PushClamp(float lo, float hi);
};

/// The conversion to u8 or i8.
inline ChainStep NarrowTo(DType dtype) {
  ChainStep step = StepOf(ChainOp::kNarrow);
  step.lo = dtype == DType::kI8 ? -128 : 0;
  step.hi = dtype == DType::kI8 ? 127 : 255;
  return step;
}

/// Puts one step in the place of several that it does: kGate, kSilu, kMulSwapped, kQuantize, and
/// functions with the linear steps around them. The arithmetic stays the same, v is loaded and
/// stored less often.
void JoinSteps(ChainSteps* steps);

}  // namespace aicf::cpu
