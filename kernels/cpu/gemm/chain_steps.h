/// The steps of a chain while they are found. For chain_*.cc.
#pragma once

#include "base/dtype.h"
#include "kernels/cpu/gemm/chain_step.h"

namespace aicf::cpu {

/// A list that refuses what does not fit. Operands of columns are numbered as
/// TileEpilogue::inputs here.
struct ChainSteps {
  ChainStep step[kMaxChainSteps];
  int count = 0;

  bool Push(const ChainStep& s);
  bool Push(ChainOp op) { return Push(ChainStep{op}); }
  /// v * a + b with one rounding: v + b, v - b, b - v, v * a and -v.
  bool PushLinear(float a, float b);
  /// Two clamps whose intervals meet are one, whose result is the same for every v.
  bool PushClamp(float lo, float hi);
};

/// The conversion to u8 or i8.
inline ChainStep NarrowTo(DType dtype) {
  ChainStep step{ChainOp::kNarrow};
  step.lo = dtype == DType::kI8 ? -128 : 0;
  step.hi = dtype == DType::kI8 ? 127 : 255;
  return step;
}

/// Puts one step in the place of several that it does: kGate, kSilu, kMulSwapped, kQuantize, and
/// functions with the linear steps around them. The arithmetic stays the same, v is loaded and
/// stored less often.
void JoinSteps(ChainSteps* steps);

}  // namespace aicf::cpu
