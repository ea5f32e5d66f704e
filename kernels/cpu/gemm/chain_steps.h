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

/// A list of steps; Push returns false when it is full. Here all operands, also those with one
/// value per column, are numbered as in TileEpilogue::inputs.
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
  /// Two clamps in a row whose intervals overlap become one clamp with the same result for every v.
  bool PushClamp(float lo, float hi);
};

/// The conversion to u8 or i8.
inline ChainStep NarrowTo(DType dtype) {
  ChainStep step = StepOf(ChainOp::kNarrow);
  step.lo = dtype == DType::kI8 ? -128 : 0;
  step.hi = dtype == DType::kI8 ? 127 : 255;
  return step;
}

/// Replaces runs of steps by a single step that does the same: kGate, kSilu, kMulSwapped,
/// kQuantize, and functions with the linear steps around them. The arithmetic stays the same, but v
/// is loaded and stored less often.
void JoinSteps(ChainSteps* steps);

}  // namespace aicf::cpu
