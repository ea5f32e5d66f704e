// Transcendental functions of f32, and the roundings and predicates of floats.
#include <cmath>

#include "kernels/cpu/common/loop_functions.h"
#include "kernels/cpu/expr/block_loops.h"
#include "kernels/cpu/expr/half.h"

AICF_ISA_BEGIN
namespace {

using abi::ExprOp;

/// Elements of a stretch. Where the vector function is not accurate for some of its elements, the
/// stretch is walked again to replace their results; it is short so that this costs little.
constexpr int64_t kStretch = 64;

struct ExpOp {
  static float Do(float a) { return Exp(a); }
};
struct LogOp {
  static float Do(float a) { return Log(a); }
};
struct SigmoidOp {
  static float Do(float a) { return Sigmoid(a); }
};
struct SoftplusOp {
  static float Do(float a) { return Softplus(a); }
};
struct TanhOp {
  static float Do(float a) { return Tanh(a); }
};
struct ErfOp {
  static float Do(float a) { return Erf(a); }
};
struct SinOp {
  static float Do(float a) { return Sin(a); }
  static float Exact(float a) { return static_cast<float>(std::sin(static_cast<double>(a))); }
};
struct CosOp {
  static float Do(float a) { return Cos(a); }
  static float Exact(float a) { return static_cast<float>(std::cos(static_cast<double>(a))); }
};

struct SqrtOp {
  static float Do(float a) { return __builtin_sqrtf(a); }
  static double Do(double a) { return __builtin_sqrt(a); }
};
struct RsqrtOp {
  template <class T>
  static T Do(T a) {
    return T{1} / SqrtOp::Do(a);
  }
};
struct RecipOp {
  template <class T>
  static T Do(T a) {
    return T{1} / a;
  }
};
struct SignOp {
  template <class T>
  static T Do(T a) {
    return a > 0 ? T{1} : a < 0 ? T{-1} : a;
  }
};
struct FloorOp {
  static float Do(float a) { return __builtin_floorf(a); }
  static double Do(double a) { return __builtin_floor(a); }
};
struct CeilOp {
  static float Do(float a) { return __builtin_ceilf(a); }
  static double Do(double a) { return __builtin_ceil(a); }
};
struct RoundOp {
  static float Do(float a) { return __builtin_rintf(a); }
  static double Do(double a) { return __builtin_rint(a); }
};
struct TruncOp {
  static float Do(float a) { return __builtin_truncf(a); }
  static double Do(double a) { return __builtin_trunc(a); }
};
struct IsNanOp {
  template <class T>
  static bool Do(T a) {
    return a != a;
  }
};
struct IsInfOp {
  template <class T>
  static bool Do(T a) {
    return (a > 0 ? a : -a) == static_cast<T>(__builtin_inf());
  }
};

/// Op::Do where TrigHolds, else Op::Exact. The result is staged, since out may be the operand.
template <class Op>
void TrigLoop(int64_t n, const BlockOperand* args, void* out) {
  const float* a = static_cast<const float*>(args[0].data);
  float* r = static_cast<float*>(out);
  for (int64_t first = 0; first < n; first += kStretch) {
    const int64_t count = n - first < kStretch ? n - first : kStretch;
    float staged[kStretch];
    int outside = 0;
    for (int64_t i = 0; i < count; ++i) {
      staged[i] = Op::Do(a[first + i]);
      outside |= !TrigHolds(a[first + i]);
    }
    for (int64_t i = 0; outside != 0 && i < count; ++i) {
      if (!TrigHolds(a[first + i])) staged[i] = Op::Exact(a[first + i]);
    }
    for (int64_t i = 0; i < count; ++i) r[first + i] = staged[i];
  }
}

void PowLoop(int64_t n, const BlockOperand* args, void* out) {
  float* r = static_cast<float*>(out);
  for (int64_t first = 0; first < n; first += kStretch) {
    const int64_t count = n - first < kStretch ? n - first : kStretch;
    float x[kStretch], y[kStretch], staged[kStretch];
    const float* from_x = static_cast<const float*>(args[0].data) + first * args[0].step;
    const float* from_y = static_cast<const float*>(args[1].data) + first * args[1].step;
    for (int64_t i = 0; i < count; ++i) x[i] = from_x[i * args[0].step];
    for (int64_t i = 0; i < count; ++i) y[i] = from_y[i * args[1].step];
    int outside = 0;
    for (int64_t i = 0; i < count; ++i) {
      staged[i] = Pow(x[i], y[i]);
      outside |= !PowHolds(x[i], y[i]);
    }
    for (int64_t i = 0; outside != 0 && i < count; ++i) {
      if (PowHolds(x[i], y[i])) continue;
      staged[i] =
          static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
    }
    for (int64_t i = 0; i < count; ++i) r[first + i] = staged[i];
  }
}

template <void (*kNarrow)(const float*, uint16_t*, int64_t),
          void (*kWiden)(const uint16_t*, float*, int64_t)>
void RoundHalfLoop(int64_t n, const BlockOperand* args, void* out) {
  const float* a = static_cast<const float*>(args[0].data);
  float* r = static_cast<float*>(out);
  uint16_t half[kStretch];
  for (int64_t first = 0; first < n; first += kStretch) {
    const int64_t count = n - first < kStretch ? n - first : kStretch;
    kNarrow(a + first, half, count);
    kWiden(half, r + first, count);
  }
}

#if !defined(AICF_ISA_baseline)  // without the instruction, fma is a library call: the slow path
float FmaOf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double FmaOf(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <class T>
void FmaLoop(int64_t n, const BlockOperand* args, void* out) {
  const T* a = static_cast<const T*>(args[0].data);
  const T* b = static_cast<const T*>(args[1].data);
  const T* c = static_cast<const T*>(args[2].data);
  const int64_t a_step = args[0].step, b_step = args[1].step, c_step = args[2].step;
  T* r = static_cast<T*>(out);
  if (a_step == 1 && b_step == 1 && c_step == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = FmaOf(a[i], b[i], c[i]);
  } else if (a_step == 1 && b_step == 0 && c_step == 0) {
    const T scale = *b, shift = *c;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = FmaOf(a[i], scale, shift);
  } else if (a_step == 1 && b_step == 1) {
    const T shift = *c;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = FmaOf(a[i], b[i], shift);
  } else if (a_step == 1 && c_step == 1) {
    const T scale = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = FmaOf(a[i], scale, c[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) r[i] = FmaOf(a[i * a_step], b[i * b_step], c[i * c_step]);
  }
}
#endif

/// Operators that need no more than the hardware's own instructions.
template <class T>
BlockFn FindExact(ExprOp op) {
  switch (op) {
#if !defined(AICF_ISA_baseline)
    case ExprOp::kFma:
      return &FmaLoop<T>;
#endif
    case ExprOp::kSqrt:
      return &UnaryLoop<T, T, SqrtOp>;
    case ExprOp::kRsqrt:
      return &UnaryLoop<T, T, RsqrtOp>;
    case ExprOp::kRecip:
      return &UnaryLoop<T, T, RecipOp>;
    case ExprOp::kSign:
      return &UnaryLoop<T, T, SignOp>;
    case ExprOp::kFloor:
      return &UnaryLoop<T, T, FloorOp>;
    case ExprOp::kCeil:
      return &UnaryLoop<T, T, CeilOp>;
    case ExprOp::kRound:
      return &UnaryLoop<T, T, RoundOp>;
    case ExprOp::kTrunc:
      return &UnaryLoop<T, T, TruncOp>;
    case ExprOp::kIsNan:
      return &UnaryLoop<T, uint8_t, IsNanOp>;
    case ExprOp::kIsInf:
      return &UnaryLoop<T, uint8_t, IsInfOp>;
    default:
      return nullptr;
  }
}

BlockFn FindTranscendental(ExprOp op) {
  switch (op) {
    case ExprOp::kExp:
      return &UnaryLoop<float, float, ExpOp>;
    case ExprOp::kLog:
      return &UnaryLoop<float, float, LogOp>;
    case ExprOp::kSigmoid:
      return &UnaryLoop<float, float, SigmoidOp>;
    case ExprOp::kSoftplus:
      return &UnaryLoop<float, float, SoftplusOp>;
    case ExprOp::kTanh:
      return &UnaryLoop<float, float, TanhOp>;
    case ExprOp::kErf:
      return &UnaryLoop<float, float, ErfOp>;
    case ExprOp::kSin:
      return &TrigLoop<SinOp>;
    case ExprOp::kCos:
      return &TrigLoop<CosOp>;
    case ExprOp::kPow:
      return &PowLoop;
    case ExprOp::kRoundF16:
      return &RoundHalfLoop<NarrowF16, WidenF16>;
    case ExprOp::kRoundBF16:
      return &RoundHalfLoop<NarrowBF16, WidenBF16>;
    default:
      return nullptr;
  }
}

}  // namespace

BlockFn FindMath(const BlockStep& step) {
  if (step.operand == DType::kF64) return FindExact<double>(step.node.op);
  if (step.operand != DType::kF32) return nullptr;
  const BlockFn fn = FindExact<float>(step.node.op);
  return fn != nullptr ? fn : FindTranscendental(step.node.op);
}

BlockFn FindBlockFn(const BlockStep& step) {
  if (step.node.op == abi::ExprOp::kCast) return FindCast(step);
  const BlockFn fn = FindArithmetic(step);
  return fn != nullptr ? fn : FindMath(step);
}

AICF_ISA_END
