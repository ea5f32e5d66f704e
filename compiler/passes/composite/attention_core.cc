#include <cmath>
#include <limits>

#include "base/scanner.h"
#include "compiler/passes/composite/attention.h"

namespace aicf {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// [B, H, L, x] so that it multiplies a key operand of G heads: the heads of a group become rows of
// one product where there is one query each, and an axis of their own otherwise.
ir::ValueId GroupRows(Composer& c, ir::ValueId v, int64_t groups) {
  const Dims s = c.Shape(v);
  if (s[1] == groups) return v;
  const int64_t share = s[1] / groups;
  return c.Reshape(
      v, s[2] == 1 ? Dims{s[0], groups, share, s[3]} : Dims{s[0], groups, share, s[2], s[3]});
}

// [B, G, x, y] of keys or values beside what GroupRows makes of [B, H, L, x].
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

// bool [.., L, 1]: no key is left. kNoValue when that is known to happen nowhere.
ir::ValueId EmptyRows(Composer& c, ir::ValueId bias, ir::ValueId allowed, DType dtype) {
  if (bias == ir::kNoValue && allowed == ir::kNoValue) return ir::kNoValue;
  const ir::ValueId lowest = c.Scalar(kMinusInfinity, dtype);
  ir::ValueId total = bias != ir::kNoValue ? bias : c.Scalar(0, dtype);
  if (allowed != ir::kNoValue) total = c.Op("Where", {allowed, total, lowest});
  const ir::ValueId best = c.Op("ReduceMax", {total, c.Ints({-1})});
  const ir::ValueId empty = c.Op("Equal", {best, lowest});
  return IsAll(c, empty, false) ? ir::kNoValue : empty;
}

// The masks together; those that are true everywhere are dropped.
ir::ValueId Conjunction(Composer& c, const std::vector<ir::ValueId>& masks) {
  std::vector<ir::ValueId> kept;
  for (ir::ValueId m : masks) {
    if (!IsAll(c, m, true)) kept.push_back(m);
  }
  return Sum(c, kept, "And");
}

}  // namespace

Status CheckAttentionHeads(const Composer& c, ir::ValueId q, ir::ValueId k, ir::ValueId v) {
  const Dims &a = c.Shape(q), &b = c.Shape(k), &d = c.Shape(v);
  const bool ranks = a.rank() == 4 && b.rank() == 4 && d.rank() == 4;
  const bool fits = ranks && a[0] == b[0] && b[0] == d[0] && b[1] == d[1] && b[2] == d[2] &&
                    a[3] == b[3] && (b[1] == 0 ? a[1] == 0 : a[1] % b[1] == 0);
  if (fits) return OkStatus();
  return Error(Code::kBadModel, "query ", ToString(a), ", key ", ToString(b), " and value ",
               ToString(d), " do not fit together (as batch, heads, sequence, head size)");
}

ir::ValueId SplitHeads(Composer& c, ir::ValueId x, int64_t heads) {
  const Dims s = c.Shape(x);
  if (s.rank() == 4) return x;
  if (s.rank() != 3 || heads <= 0 || s[2] % heads != 0) {
    c.Fail(Error(Code::kBadModel, "an input of shape ", ToString(s), " does not divide into ",
                 heads, " heads"));
    return ir::kNoValue;
  }
  const ir::ValueId split = c.Reshape(x, {s[0], s[1], heads, s[2] / heads});
  return c.Transpose(split, {0, 2, 1, 3});
}

ir::ValueId MergeHeads(Composer& c, ir::ValueId x) {
  const Dims s = c.Shape(x);
  if (s.rank() != 4) return ir::kNoValue;
  return c.Reshape(c.Transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

ir::ValueId CausalMask(Composer& c, int64_t rows, int64_t keys, int64_t offset) {
  if (offset >= keys - 1) return ir::kNoValue;
  return c.Op("LessOrEqual", {c.Counting(0, {keys}), c.Counting(offset, {rows, 1})});
}

ir::ValueId AttentionScores(Composer& c, ir::ValueId q, ir::ValueId k, double scale) {
  return c.Scaled(GroupedProduct(c, q, c.Transpose(k, {0, 1, 3, 2})), scale);
}

ir::ValueId WeightedValues(Composer& c, ir::ValueId probabilities, ir::ValueId v) {
  return GroupedProduct(c, c.Cast(probabilities, c.Type(v)), v);
}

AttentionStages Attend(Composer& c, const AttentionOperands& in) {
  AttentionStages out;
  if (!c.ok()) return out;
  const DType dtype = c.Type(in.q);
  out.product = AttentionScores(c, in.q, in.k, in.scale);
  out.capped = out.biased = Softcapped(c, out.product, in.softcap);
  const ir::ValueId bias = Sum(c, in.biases, "Add");
  if (bias != ir::kNoValue) out.biased = c.Add(out.capped, bias);
  const ir::ValueId allowed = Conjunction(c, in.allowed);
  if (allowed != ir::kNoValue) {
    out.biased = c.Op("Where", {allowed, out.biased, c.Scalar(kMinusInfinity, dtype)});
  }
  const ir::ValueId exact = c.Cast(out.biased, in.softmax_type.value_or(dtype));
  out.probabilities = c.Cast(c.Op("Softmax", {exact}, {{"axis", int64_t{-1}}}), dtype);
  const ir::ValueId empty =
      in.rows_may_be_empty ? EmptyRows(c, bias, allowed, dtype) : ir::kNoValue;
  if (empty != ir::kNoValue) {
    out.probabilities = c.Op("Where", {empty, c.Scalar(0, dtype), out.probabilities});
  }
  out.y = WeightedValues(c, out.probabilities, in.v);
  return out;
}

}  // namespace aicf
