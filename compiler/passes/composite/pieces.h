/// What several expansions need on top of Composer.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/passes/composite/composer.h"

namespace aicf {

/// Most elements of a constant that an expansion computes: filters, windows, matrices of a
/// transform.
inline constexpr int64_t kMaxTableElements = int64_t{1} << 26;
/// Checks a shape before a constant of that shape is made. Errors: kResource for more than
/// kMaxTableElements elements.
Status CheckTable(const Dims& shape);

/// f16 and bf16 as f32, so that intermediate results are not rounded; everything else as it is.
ir::ValueId Wide(Composer& c, ir::ValueId v);

/// A rank-0 constant of any dtype.
ir::ValueId Number(Composer& c, double value, DType dtype);
/// A constant of a float dtype from values in double.
ir::ValueId Floats(Composer& c, const std::vector<double>& values, const Dims& shape, DType dtype);

/// ReduceSum and its like over the given axes.
ir::ValueId Reduce(Composer& c, std::string_view op, ir::ValueId v,
                   const std::vector<int64_t>& axes, bool keepdims);

/// `shape` with another extent at an axis.
Dims WithExtent(Dims shape, int axis, int64_t extent);
/// 1 everywhere but `extent` at an axis: the shape of a per-axis vector that broadcasts.
Dims AlongAxis(int rank, int axis, int64_t extent);

/// The axes [first, rank).
std::vector<int64_t> AxesFrom(int64_t first, int rank);

/// bool, true where v is one of 0, 1, .. along a new axis of `count`: one-hot of indices.
ir::ValueId Hits(Composer& c, ir::ValueId indices, int axis, int64_t count);

/// An attribute of integers; where it is absent, `n` times `value`.
std::vector<int64_t> IntsOr(const ir::Node& node, std::string_view key, size_t n, int64_t value);

/// The scalar of a constant input of any number dtype. Errors: kUnsupported naming `what` when it
/// is computed at run time; kBadModel when it is no scalar.
Result<double> ConstantNumber(const Composer& c, size_t input, std::string_view what);
/// The same as an integer.
Result<int64_t> ConstantInt(const Composer& c, size_t input, std::string_view what);

}  // namespace aicf
