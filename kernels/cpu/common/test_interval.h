/// What an expression's result may be, given the accuracy of the functions in it. For tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/common/test_ulp.h"
#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {

/// The f32 numbers that are acceptable results: a single one, as long as no function with an error
/// bound is involved.
struct Interval {
  float low = 0, high = 0;
  bool vague = false;  ///< a value between the ends may be NaN: nothing is known of the result

  bool IsPoint() const { return !vague && (low == high || (std::isnan(low) && std::isnan(high))); }
  /// Zeros are equal whatever their sign: min and max may give either one.
  bool Holds(float x) const {
    if (vague) return true;
    return std::isnan(low) ? std::isnan(x) : low <= x && x <= high;
  }
};

/// The smallest interval that holds all of `ends`. It is NaN if all of them are, vague if only some
/// are.
inline Interval Hull(const std::vector<float>& ends) {
  Interval out{ends[0], ends[0]};
  size_t nans = 0;
  for (float e : ends) {
    nans += std::isnan(e);
    out.low = std::fmin(out.low, e);
    out.high = std::fmax(out.high, e);
  }
  out.vague = nans != 0 && nans != ends.size();
  return out;
}

/// All acceptable results on an interval of an increasing function with bounded values, given the
/// error that its table row allows.
inline Interval Widened(const VectorFunction& row, const Interval& x) {
  const auto end = [&](float at, int side) {
    const double exact = FloatUnary(row.op, static_cast<double>(at), true);
    if (std::isnan(exact)) return static_cast<float>(exact);
    const double given = static_cast<double>(at);
    const bool counted = given >= row.low && given <= row.high;
    const double slack = counted ? row.ulp * UlpOf(static_cast<float>(exact)) : row.beyond;
    const double bound = exact + side * slack;
    // The f32 number next to the bound on the inner side.
    const auto y = static_cast<float>(bound);
    const bool outside = side > 0 ? static_cast<double>(y) > bound : static_cast<double>(y) < bound;
    return outside ? std::nextafter(y, side > 0 ? -INFINITY : INFINITY) : y;
  };
  return {end(x.low, -1), end(x.high, 1), x.vague};
}

inline const VectorFunction* TileFunctionOf(abi::ExprOp op) {
  for (const VectorFunction& row : kVectorFunctions) {
    if (row.home == VectorHome::kTile && row.op == op) return &row;
  }
  return nullptr;
}

/// One f32 operator on intervals; `arity` of the arguments count.
inline Interval ApplyToIntervals(abi::ExprOp op, int arity, const Interval* args) {
  const VectorFunction* row = TileFunctionOf(op);
  if (row != nullptr && row->ulp > 0) return Widened(*row, args[0]);
  bool vague = false, points = true;
  for (int k = 0; k < arity; ++k) {
    vague |= args[k].vague;
    points &= args[k].IsPoint();
  }
  // Every operator is monotone in each argument, so its ends are among those of its arguments.
  std::vector<float> ends;
  for (int corner = 0; corner < 1 << arity; ++corner) {
    double at[3] = {};
    for (int k = 0; k < arity; ++k) {
      at[k] = static_cast<double>((corner >> k & 1) != 0 ? args[k].high : args[k].low);
    }
    ends.push_back(static_cast<float>(arity == 1   ? FloatUnary(op, at[0], true)
                                      : arity == 2 ? FloatBinary(op, at[0], at[1])
                                                   : FloatFma(at[0], at[1], at[2], true)));
  }
  Interval out = Hull(ends);
  // Between ends that are not NaN, 0 times infinity or 0 / 0 may occur.
  const bool infinite = std::isinf(out.low) || std::isinf(out.high);
  out.vague |= vague || (infinite && !points);
  return out;
}

/// An expression of f32 inputs, constants and operators, the first result.
inline Interval EvalInterval(const abi::Expr& expr, const float* inputs) {
  std::vector<Interval> values;
  for (const abi::ExprNode& n : expr.nodes) {
    if (n.op == abi::ExprOp::kInput) {
      values.push_back({inputs[n.imm], inputs[n.imm]});
    } else if (n.op == abi::ExprOp::kConst) {
      const auto c = static_cast<float>(abi::BitsToFloat(n.imm));
      values.push_back({c, c});
    } else {
      const Interval args[] = {values[n.args[0]], values[n.args[1]], values[n.args[2]]};
      values.push_back(ApplyToIntervals(n.op, abi::ExprOpArity(n.op), args));
    }
  }
  return values[expr.results[0]];
}

}  // namespace aicf::cpu
