#include "kernels/abi/attention.h"

#include <limits>

namespace aicf::abi {
namespace {

/// Sum of min(max(first + i, 0), limit) over i in [0, count).
double SumOfClamped(double first, double count, double limit) {
  // Terms before `begin` are clamped to 0 and add nothing. Those in [begin, end) are an arithmetic
  // series. Those from `end` on are `limit` each.
  const double begin = std::clamp(-first, 0.0, count);
  const double end = std::clamp(limit - first, begin, count);
  return (end - begin) * (2 * first + begin + end - 1) / 2 + (count - end) * limit;
}

/// max(s1, s2), and exp(s - max) of both; an empty part has weight 0, not NaN.
struct Weights {
  uint16_t max, first, second;
};
Weights WeightsOf(ExprBuilder& b, uint16_t s1, uint16_t s2) {
  const DType dtype = b.dtype(s1);
  const uint16_t most = b.Binary(ExprOp::kMax, s1, s2);
  const uint16_t none = b.Const(-std::numeric_limits<double>::infinity(), dtype);
  const uint16_t empty = b.Binary(ExprOp::kEq, most, none);
  const uint16_t max = b.Select(empty, b.Const(0, dtype), most);
  const auto weight = [&](uint16_t s) {
    return b.Unary(ExprOp::kExp, b.Binary(ExprOp::kSub, s, max));
  };
  return {max, weight(s1), weight(s2)};
}

}  // namespace

AttentionShape AttentionShapeOf(const Problem& p) {
  const auto& a = p.as<AttentionAttrs>();
  const Dims &q = p.inputs[0].shape, &k = p.inputs[1].shape;
  AttentionShape s;
  s.batch = q[0];
  s.query_heads = q[1];
  s.rows = q[2];
  s.head = q[3];
  s.key_heads = k[1];
  s.keys = k[2];
  s.value_head = p.inputs[2].shape[3];
  if (a.lengths) s.lengths = s.core_inputs++;
  if (a.pages) {
    s.table = s.core_inputs++;
    s.pool = k[0];
    s.page = k[2];
    s.keys = p.inputs[static_cast<size_t>(s.table)].shape[1] * s.page;
  }
  if (a.rows == RowOrigin::kOperand) s.origins = s.core_inputs++;
  if (a.append_pairs != 0) {
    for (int* operand : {&s.new_keys, &s.new_values, &s.places, &s.cosine, &s.sine}) {
      *operand = s.core_inputs++;
    }
  }
  return s;
}

double ScoreCount(const Problem& p) {
  const auto& a = p.as<AttentionAttrs>();
  const AttentionShape s = AttentionShapeOf(p);
  const auto rows = static_cast<double>(s.rows), keys = static_cast<double>(s.keys);
  // Where an operand gives the origin, its value is not known here: the last row is then taken to
  // be at the last key.
  const int64_t first = (a.rows == RowOrigin::kFixed ? 0 : s.keys - s.rows) +
                        (a.rows == RowOrigin::kOperand ? 0 : a.offset);
  double pairs = rows * keys;
  if (a.window_right >= 0) {
    pairs = SumOfClamped(static_cast<double>(first + a.window_right + 1), rows, keys);
  }
  if (a.window_left >= 0) {
    pairs -= SumOfClamped(static_cast<double>(first - a.window_left), rows, keys);
  }
  return std::max(pairs, 0.0) * static_cast<double>(s.batch * s.query_heads);
}

Expr MergedOutput(DType dtype) {
  ExprBuilder b;
  const uint16_t o1 = b.Input(0, dtype), o2 = b.Input(1, dtype);
  const Weights w = WeightsOf(b, b.Input(2, dtype), b.Input(3, dtype));
  const uint16_t total = b.Binary(ExprOp::kAdd, w.first, w.second);
  const uint16_t empty = b.Binary(ExprOp::kEq, total, b.Const(0, dtype));
  const uint16_t sum = b.Binary(ExprOp::kAdd, b.Binary(ExprOp::kMul, w.first, o1),
                                b.Binary(ExprOp::kMul, w.second, o2));
  return b.Finish({b.Binary(ExprOp::kDiv, sum, b.Select(empty, b.Const(1, dtype), total))});
}

Expr MergedLogSum(DType dtype) {
  ExprBuilder b;
  const Weights w = WeightsOf(b, b.Input(0, dtype), b.Input(1, dtype));
  const uint16_t total = b.Binary(ExprOp::kAdd, w.first, w.second);
  return b.Finish({b.Binary(ExprOp::kAdd, w.max, b.Unary(ExprOp::kLog, total))});
}

}  // namespace aicf::abi
