/// The activation functions of recurrent cells on a vector in registers. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/gemm/vec_math.h"
#include "kernels/cpu/recurrent/step.h"

AICF_ISA_BEGIN

/// tanh(x) = -m / (2 + m) with m = e^-2|x| - 1, formed without cancellation; within 4 ULP.
AICF_INLINE Vec TanhOf(Vec x) {
  const Vec zero = Broadcast(0.0f);
  const Vec size = x < zero ? -x : x;
  // Beyond 10 the result is 1 in f32. Written so that NaN passes.
  const Vec y = Min(Broadcast(10.0f), size) * Broadcast(-2.0f);
  const Vec n = RoundNearest(y * Broadcast(1.44269504f));
  Vec r = Fma(n, Broadcast(-0.693359375f), y);
  r = Fma(n, Broadcast(2.12194440e-4f), r);
  Vec p = Broadcast(1.0f / 5040);
  p = Fma(p, r, Broadcast(1.0f / 720));
  p = Fma(p, r, Broadcast(1.0f / 120));
  p = Fma(p, r, Broadcast(1.0f / 24));
  p = Fma(p, r, Broadcast(1.0f / 6));
  p = Fma(p, r, Broadcast(0.5f));
  const Vec small = Fma(p, r * r, r);  // e^r - 1
  const Vec scale = ScaleByPowerOfTwo(Broadcast(1.0f), n);
  const Vec m = Fma(small, scale, scale - Broadcast(1.0f));
  const Vec t = -m / (Broadcast(2.0f) + m);
  return x < zero ? -t : t;
}

/// Functions that no model of note uses a lane at a time.
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
      return TanhOf(x);
    case kRelu:
      return Max(zero, x);
    case kAffine:
      return Fma(a, x, b);
    case kLeakyRelu:
      return x < zero ? a * x : x;
    case kScaledTanh:
      return a * TanhOf(b * x);
    case kHardSigmoid:
      return Min(Broadcast(1.0f), Max(zero, Fma(a, x, b)));
    default:
      return ScalarLanes(f, x);
  }
}

AICF_ISA_END
