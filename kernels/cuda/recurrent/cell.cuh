// What a recurrent instance computes: its operands by name, and its activation functions.
#pragma once

#include "common/block.cuh"
#include "common/enums.cuh"

namespace aicf {

typedef raw_t value_t;  ///< float, or double for double

constexpr bool kIsRnn = attr_cell == kCellRnn, kIsLstm = attr_cell == kCellLstm;
constexpr bool kIsGru = attr_cell == kCellGru;
constexpr int kGates = kIsRnn ? 1 : kIsGru ? 3 : 4;
constexpr int kFunctions = kIsRnn ? 1 : kIsGru ? 2 : 3;
/// Whether this is a GRU that resets the state before multiplying it. The hidden gate then takes a
/// second product.
constexpr bool kResetsFirst = kIsGru && !attr_linear_before_reset;

constexpr index_t kSteps = In0::extent(0), kDirections = In0::extent(1), kBatch = In0::extent(2);
constexpr index_t kHidden = In1::extent(2);

// Which inputs exist depends on the attributes. The types of those that do not exist stay
// undefined.
struct In3;
struct In4;
struct In5;
constexpr int kBiasInput = 3;              // In3
constexpr int kPeepholeInput = 4;          // In4
constexpr int kLengthInput = kInputs - 1;  // the last one

/// Element of an operand of any rank; views' offsets are added here.
template <class X>
AICF_DEVICE const typename X::S* ElementOf(const void* base, index_t i, index_t j = 0,
                                           index_t k = 0, index_t l = 0) {
  index_t at = X::kOffset + i * X::stride(0);
  if constexpr (X::kRank > 1) at += j * X::stride(1);
  if constexpr (X::kRank > 2) at += k * X::stride(2);
  if constexpr (X::kRank > 3) at += l * X::stride(3);
  return static_cast<const typename X::S*>(base) + at;
}
template <class X>
AICF_DEVICE void StoreTo(void* base, value_t value, index_t i, index_t j, index_t k,
                         index_t l = 0) {
  typedef typename X::S S;
  *const_cast<S*>(ElementOf<X>(base, i, j, k, l)) = Narrow<S>::Of(value);
}
/// 0 for an operand that the instance does not have.
template <bool kHas, class X>
AICF_DEVICE value_t OptionalAt(const void* base, index_t i, index_t j, index_t k = 0) {
  if constexpr (kHas) {
    return Widen(*ElementOf<X>(base, i, j, k));
  } else {
    return value_t(0);
  }
}

template <bool kHas, class X>
AICF_DEVICE index_t LengthOf(const void* base, index_t b) {
  if constexpr (kHas) {
    const i32 length = *ElementOf<X>(base, b);
    return length < 0 ? 0 : length < kSteps ? static_cast<index_t>(length) : kSteps;
  } else {
    return kSteps;
  }
}
AICF_DEVICE index_t SequenceLength(const Args& args, index_t b) {
  const void* base = args.in[kLengthInput];
  if constexpr (kInputs == 4) return LengthOf<attr_lengths, In3>(base, b);
  if constexpr (kInputs == 5) return LengthOf<attr_lengths, In4>(base, b);
  if constexpr (kInputs == 6) return LengthOf<attr_lengths, In5>(base, b);
  return kSteps;
}

AICF_DEVICE float ExpMinusOne(float x) { return expm1f(x); }
AICF_DEVICE double ExpMinusOne(double x) { return expm1(x); }

AICF_DEVICE value_t ApplyFunction(index_t direction, int function, value_t x) {
  const int at = static_cast<int>(direction) * kFunctions + function;
  const value_t alpha = static_cast<value_t>(attr_alpha(at));
  const value_t beta = static_cast<value_t>(attr_beta(at));
  const value_t zero = 0, one = 1;
  if (x != x) return x;
  switch (static_cast<int>(attr_activations(at))) {
    case kTanhFunction:
      return OpTanh(x);
    case kSigmoidFunction:
      return OpSigmoid(x);
    case kReluFunction:
      return x > zero ? x : zero;
    case kAffineFunction:
      return OpFma(alpha, x, beta);
    case kLeakyReluFunction:
      return x < zero ? alpha * x : x;
    case kThresholdedReluFunction:
      return x > alpha ? x : zero;
    case kScaledTanhFunction:
      return alpha * OpTanh(beta * x);
    case kHardSigmoidFunction: {
      const value_t y = OpFma(alpha, x, beta);
      return y < zero ? zero : y < one ? y : one;
    }
    case kEluFunction:
      return x < zero ? alpha * ExpMinusOne(x) : x;
    case kSoftsignFunction: {
      const value_t size = OpAbs(x);
      // Also right for infinities.
      return size > value_t(1e30) ? (x < zero ? -one : one) : x / (one + size);
    }
    default:
      return OpSoftplus(x);
  }
}

/// Applies activation f (function 0) or g (function 1) to its clipped input.
AICF_DEVICE value_t ApplyGate(index_t direction, int function, value_t x) {
  if constexpr (attr_clip > 0) {
    const value_t bound = static_cast<value_t>(attr_clip);
    x = x > bound ? bound : x < -bound ? -bound : x;
  }
  return ApplyFunction(direction, function, x);
}

}  // namespace aicf
