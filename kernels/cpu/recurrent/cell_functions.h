/// The activation functions of recurrent cells on a vector in registers. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/common/tile_functions.h"
#include "kernels/cpu/recurrent/step.h"

AICF_ISA_BEGIN

/// Functions that hardly any model uses, evaluated one lane at a time.
inline Vec ScalarLanes(const StepFunction& f, Vec x) {
  float lanes[kLanes];
  Store(lanes, x);
  for (float& v : lanes) {
    v = static_cast<float>(
        ApplyCellFunction({f.kind, static_cast<double>(f.alpha), static_cast<double>(f.beta)},
                          static_cast<double>(v)));
  }
  return Load(lanes);
}

AICF_INLINE Vec ApplyFunction(const StepFunction& f, Vec x) {
  using enum abi::CellActivation;
  const Vec zero = Broadcast(0.0f), a = Broadcast(f.alpha), b = Broadcast(f.beta);
  switch (f.kind) {
    case kSigmoid:
      return Sigmoid(x);
    case kTanh:
      return Tanh(x);
    case kRelu:
      return Max(zero, x);
    case kAffine:
      return Fma(a, x, b);
    case kLeakyRelu:
      return x < zero ? a * x : x;
    case kScaledTanh:
      return a * Tanh(b * x);
    case kHardSigmoid:
      return Min(Broadcast(1.0f), Max(zero, Fma(a, x, b)));
    default:
      return ScalarLanes(f, x);
  }
}

AICF_ISA_END
