/// The steps of a chain while they are found. For chain_*.cc.
#pragma once

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

/// Puts one step in the place of several that it does: kGate, kSilu, kMulSwapped, and functions
/// with the linear steps around them. The arithmetic stays the same, v is loaded and stored less
/// often.
void JoinSteps(ChainSteps* steps);

}  // namespace aicf::cpu
