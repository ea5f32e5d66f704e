#include "kernels/cpu/gemm/chain_steps.h"

#include <algorithm>
#include <cmath>

namespace aicf::cpu {

bool ChainSteps::Push(const ChainStep& s) {
  if (count == kMaxChainSteps) return false;
  step[count++] = s;
  return true;
}

bool ChainSteps::PushLinear(float a, float b) {
  ChainStep s = StepOf(ChainOp::kLinear);
  s.a = a;
  s.b = b;
  return Push(s);
}

bool ChainSteps::PushClamp(float lo, float hi) {
  if (count > 0 && step[count - 1].op == ChainOp::kClamp) {
    ChainStep& last = step[count - 1];
    const float low = std::max(last.lo, lo), high = std::min(last.hi, hi);
    if (low <= high) {
      last.lo = low;
      last.hi = high;
      return true;
    }
  }
  ChainStep s = StepOf(ChainOp::kClamp);
  s.lo = lo;
  s.hi = hi;
  return Push(s);
}

namespace {

// Whether a step from `first` on reads the value that was saved before `first`.
bool IsNeeded(const ChainSteps& steps, int first) {
  for (int i = first; i < steps.count; ++i) {
    if (steps.step[i].ReadsSaved()) return true;
    if (steps.step[i].op == ChainOp::kSave) return false;
  }
  return false;
}

bool IsMulBySaved(const ChainStep& s) {
  return s.op == ChainOp::kMul && s.x.source == ChainSource::kSaved;
}

// If the steps at `s` are a quantisation (rounding, optionally a zero point, clamping to the range
// of a type and the conversion to it): their number, and the one step for all of them in *joined;
// else 0. `left`: number of steps from `s` on.
int QuantizationAt(const ChainStep* s, int left, ChainStep* joined) {
  if (left < 3 || s[0].op != ChainOp::kRound) return 0;
  const bool shifts = s[1].op == ChainOp::kLinear && s[1].a == 1;
  const int clamp = shifts ? 2 : 1;
  if (left < clamp + 2 || s[clamp].op != ChainOp::kClamp) return 0;
  if (s[clamp + 1].op != ChainOp::kNarrow) return 0;
  if (s[clamp + 1].lo != s[clamp].lo || s[clamp + 1].hi != s[clamp].hi) return 0;
  *joined = s[clamp];
  joined->op = ChainOp::kQuantize;
  joined->b = shifts ? s[1].b : kUnitShift;
  return clamp + 2;
}

// The number of steps from `at` on that a single step can replace, which is stored in *joined; 0 if
// there are none.
int JoinableAt(const ChainSteps& steps, int at, ChainStep* joined) {
  const ChainStep* s = steps.step + at;
  const int left = steps.count - at;
  const bool saves = s[0].op == ChainOp::kSave;
  if (const int length = QuantizationAt(s, left, joined); length > 0) return length;
  if (left >= 3 && saves && s[1].op == ChainOp::kSigmoid && IsMulBySaved(s[2])) {
    *joined = StepOf(ChainOp::kSilu);
    return 3;
  }
  if (left >= 3 && s[0].op == ChainOp::kSwap && s[1].op == ChainOp::kLinear && IsMulBySaved(s[2])) {
    *joined = s[1];
    joined->op = ChainOp::kMulSwapped;
    return 3;
  }
  if (left < 4 || !saves || s[2].op != ChainOp::kClamp || !IsMulBySaved(s[3])) return 0;
  if (s[1].op != ChainOp::kLinear && s[1].op != ChainOp::kFma) return 0;
  *joined = s[1];
  joined->op = ChainOp::kGate;
  joined->lo = s[2].lo;
  joined->hi = s[2].hi;
  const bool scaled =
      left > 4 && s[4].op == ChainOp::kLinear && s[4].b == 0 && std::signbit(s[4].b);
  joined->x = ChainOperand{};
  joined->x.number = scaled ? s[4].a : kUnitScale;
  return scaled ? 5 : 4;
}

bool IsFunction(ChainOp op) {
  return op == ChainOp::kSigmoid || op == ChainOp::kTanh || op == ChainOp::kErf;
}

// Whether `after` is a linear step that can become part of the function step `f` (its lo and hi).
bool TakesAfter(const ChainStep& f, const ChainStep& after) {
  return IsFunction(f.op) && after.op == ChainOp::kLinear && f.lo == kUnitScale && f.hi == 0 &&
         std::signbit(f.hi);
}

void JoinFunctions(ChainSteps* steps) {
  ChainSteps out;
  for (int i = 0; i < steps->count; ++i) {
    const ChainStep& s = steps->step[i];
    ChainStep* last = out.count > 0 ? &out.step[out.count - 1] : nullptr;
    if (last != nullptr && TakesAfter(*last, s)) {
      last->lo = s.a;
      last->hi = s.b;
    } else if (last != nullptr && last->op == ChainOp::kLinear && IsFunction(s.op)) {
      const ChainStep before = *last;
      *last = s;
      last->a = before.a;
      last->b = before.b;
    } else {
      out.Push(s);
    }
  }
  *steps = out;
}

}  // namespace

void JoinSteps(ChainSteps* steps) {
  ChainSteps out;
  for (int at = 0; at < steps->count;) {
    ChainStep joined{};
    const int length = JoinableAt(*steps, at, &joined);
    if (length > 0 && !IsNeeded(*steps, at + length)) {
      out.Push(joined);
      at += length;
    } else {
      out.Push(steps->step[at++]);
    }
  }
  JoinFunctions(&out);
  *steps = out;
}

}  // namespace aicf::cpu
