// Attention as a product, a softmax and a product: for models that look at what is between them.
#include <algorithm>
#include <limits>

#include "base/scanner.h"
#include "compiler/passes/composite/attention.h"

namespace aicf {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Reshapes v [B, H, L, x] so that it multiplies an operand of `groups` key heads. The query heads
// that share a key head become the rows of one product where each has a single query; otherwise
// they become an axis of their own.
ir::ValueId GroupRows(Composer& c, ir::ValueId v, int64_t groups) {
  const Dims s = c.Shape(v);
  if (s[1] == groups) return v;
  const int64_t share = s[1] / groups;
  return c.Reshape(
      v, s[2] == 1 ? Dims{s[0], groups, share, s[3]} : Dims{s[0], groups, share, s[2], s[3]});
}

// Reshapes keys or values [B, G, x, y] to match what GroupRows makes of an operand of shape `rows`,
// [B, H, L, x]: where that has an axis for the heads of a group, this gets an axis of extent 1.
ir::ValueId GroupKeys(Composer& c, ir::ValueId v, const Dims& rows) {
  const Dims s = c.Shape(v);
  if (rows[1] == s[1] || rows[2] == 1) return v;
  return c.Reshape(v, {s[0], s[1], 1, s[2], s[3]});
}

// a [B, H, L, x] times b [B, G, x, y] as [B, H, L, y].
ir::ValueId GroupedProduct(Composer& c, ir::ValueId a, ir::ValueId b) {
  if (!c.ok()) return ir::kNoValue;
  const Dims rows = c.Shape(a), keys = c.Shape(b);
  const ir::ValueId y = c.MatMul(GroupRows(c, a, keys[1]), GroupKeys(c, b, rows));
  return c.Reshape(y, {rows[0], rows[1], rows[2], keys[3]});
}

bool IsAll(const Composer& c, ir::ValueId mask, bool wanted) {
  if (!c.IsConstant(mask)) return false;
  const ir::Tensor& t = c.graph().values[mask].constant;
  for (int64_t i = 0; i < t.count(); ++i) {
    if ((t.IntAt(i) != 0) != wanted) return false;
  }
  return true;
}

ir::ValueId Sum(Composer& c, const std::vector<ir::ValueId>& terms, std::string_view op) {
  ir::ValueId sum = ir::kNoValue;
  for (ir::ValueId term : terms) sum = sum == ir::kNoValue ? term : c.Op(op, {sum, term});
  return sum;
}

ir::ValueId Softcapped(Composer& c, ir::ValueId x, double cap) {
  if (cap == 0) return x;
  return c.Scaled(c.Op("Tanh", {c.Op("Div", {x, c.Scalar(cap, c.Type(x))})}), cap);
}

// bool [.., L, 1]: true for queries that have no key left. kNoValue when it is known that there are
// none.
ir::ValueId EmptyRows(Composer& c, ir::ValueId bias, ir::ValueId allowed, DType dtype) {
  if (bias == ir::kNoValue && allowed == ir::kNoValue) return ir::kNoValue;
  const ir::ValueId lowest = c.Scalar(kMinusInfinity, dtype);
  ir::ValueId total = bias != ir::kNoValue ? bias : c.Scalar(0, dtype);
  if (allowed != ir::kNoValue) total = c.Op("Where", {allowed, total, lowest});
  const ir::ValueId best = c.Op("ReduceMax", {total, c.Ints({-1})});
  const ir::ValueId empty = c.Op("Equal", {best, lowest});
  return IsAll(c, empty, false) ? ir::kNoValue : empty;
}

// Joins all masks with And and leaves out those that are true everywhere; kNoValue if none remains.
ir::ValueId Conjunction(Composer& c, const std::vector<ir::ValueId>& masks) {
  std::vector<ir::ValueId> kept;
  for (ir::ValueId m : masks) {
    if (!IsAll(c, m, true)) kept.push_back(m);
  }
  return Sum(c, kept, "And");
}

// i64, broadcasting to [B, 1, L, 1]: the position of every query among the keys, plus `shift`.
ir::ValueId QueryPositions(Composer& c, const AttentionOperands& in, int64_t shift) {
  const Dims q = c.Shape(in.q);
  const auto column = [&](ir::ValueId v) {
    return c.Reshape(c.Cast(v, DType::kI64), {q[0], 1, 1, 1});
  };
  const int64_t keys = c.Shape(in.k)[2], first = in.offset + shift;
  if (in.rows == abi::RowOrigin::kOperand) {
    return c.Add(column(in.origins), c.Counting(first, {q[2], 1}));
  }
  if (in.rows == abi::RowOrigin::kFixed) return c.Counting(first, {q[2], 1});
  if (in.lengths == ir::kNoValue) return c.Counting(first + keys - q[2], {q[2], 1});
  return c.Add(column(in.lengths), c.Counting(first - q[2], {q[2], 1}));
}

// The given masks, and one more for the lengths and for each window that is set.
std::vector<ir::ValueId> WithPositions(Composer& c, const AttentionOperands& in) {
  std::vector<ir::ValueId> allowed = in.allowed;
  const int64_t keys = c.Shape(in.k)[2], most = c.Shape(in.q)[2] + keys;  // reaches every key
  const ir::ValueId places = c.Counting(0, {keys});
  if (in.lengths != ir::kNoValue) {
    const ir::ValueId ends =
        c.Reshape(c.Cast(in.lengths, DType::kI64), {c.Shape(in.q)[0], 1, 1, 1});
    allowed.push_back(c.Op("Less", {places, ends}));
  }
  if (in.window_right >= 0) {
    const ir::ValueId last = QueryPositions(c, in, std::min(in.window_right, most));
    allowed.push_back(c.Op("LessOrEqual", {places, last}));
  }
  if (in.window_left >= 0) {
    const ir::ValueId first = QueryPositions(c, in, -std::min(in.window_left, most));
    allowed.push_back(c.Op("LessOrEqual", {first, places}));
  }
  return allowed;
}

std::vector<ir::ValueId> InType(Composer& c, std::vector<ir::ValueId> values, DType dtype) {
  for (ir::ValueId& v : values) v = c.Cast(v, dtype);
  return values;
}

}  // namespace

ir::ValueId AttentionScores(Composer& c, ir::ValueId q, ir::ValueId k, double scale) {
  return c.Scaled(GroupedProduct(c, q, c.Transpose(k, {0, 1, 3, 2})), scale);
}

ir::ValueId WeightedValues(Composer& c, ir::ValueId probabilities, ir::ValueId v) {
  return GroupedProduct(c, c.Cast(probabilities, c.Type(v)), v);
}

AttentionStages AttendInStages(Composer& c, const AttentionOperands& in) {
  AttentionStages out;
  if (!c.ok()) return out;
  const DType dtype = c.Type(in.q);
  out.product = AttentionScores(c, in.q, in.k, in.scale);
  out.capped = out.biased = Softcapped(c, out.product, in.softcap);
  const ir::ValueId bias = Sum(c, InType(c, in.biases, dtype), "Add");
  if (bias != ir::kNoValue) out.biased = c.Add(out.capped, bias);
  const ir::ValueId allowed = Conjunction(c, WithPositions(c, in));
  if (allowed != ir::kNoValue) {
    out.biased = c.Op("Where", {allowed, out.biased, c.Scalar(kMinusInfinity, dtype)});
  }
  const ir::ValueId exact = c.Cast(out.biased, in.softmax_type.value_or(dtype));
  out.probabilities = c.Cast(c.Op("Softmax", {exact}, {{"axis", int64_t{-1}}}), dtype);
  const ir::ValueId empty = EmptyRows(c, bias, allowed, dtype);
  if (empty != ir::kNoValue) {
    out.probabilities = c.Op("Where", {empty, c.Scalar(0, dtype), out.probabilities});
  }
  out.y = WeightedValues(c, out.probabilities, in.v);
  return out;
}

}  // namespace aicf
