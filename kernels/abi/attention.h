/// An attention problem's extents, the places of its operands and which keys a row sees, for
/// kernels, verification and lowering alike; and how partial results are merged.
#pragma once

#include <algorithm>

#include "kernels/abi/problem.h"

namespace aicf::abi {

struct AttentionShape {
  int64_t batch = 0, query_heads = 0, key_heads = 1, rows = 0, keys = 0;
  int64_t head = 0, value_head = 0;  ///< elements of a query (and key), of a value
  int64_t page = 0, pool = 0;        ///< keys per page, pages of the pool; 0 without `pages`
  // Operand numbers; -1: absent.
  int lengths = -1, table = -1, origins = -1;
  // Operands of a step that appends.
  int new_keys = -1, new_values = -1, places = -1, cosine = -1, sine = -1;
  int core_inputs = 3;
  /// Query heads that read one key head.
  int64_t group() const { return query_heads / key_heads; }
};

/// Outputs of a step that appends, behind its result.
enum AttentionOutput : size_t { kAttentionNextKeys = 1, kAttentionNextValues = 2 };

/// REQUIRES: a valid problem of the attention family.
AttentionShape AttentionShapeOf(const Problem& problem);

/// Largest magnitude of an offset and of a window. An origin that the operand `origins` gives is
/// clamped to this range, so that positions never overflow.
inline constexpr int64_t kMaxPosition = int64_t{1} << 40;

/// Keys [begin, end) among the valid ones that the windows let a row at `position` see, whatever
/// the score expression does with them afterwards; empty where begin == end.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;
};
inline KeyRange VisibleKeys(const AttentionAttrs& a, int64_t valid_keys, int64_t position) {
  KeyRange r{0, valid_keys};
  if (a.window_left >= 0) r.begin = std::max<int64_t>(0, position - a.window_left);
  if (a.window_right >= 0) r.end = std::min(valid_keys, position + a.window_right + 1);
  r.begin = std::min(r.begin, valid_keys);
  r.end = std::max(r.begin, r.end);
  return r;
}

/// Position of a request's row 0. `origin`: the operand's value, ignored where there is none.
inline int64_t FirstPosition(const AttentionAttrs& a, const AttentionShape& s, int64_t valid_keys,
                             int64_t origin) {
  switch (a.rows) {
    case RowOrigin::kLastKeys:
      return a.offset + valid_keys - s.rows;
    case RowOrigin::kOperand:
      return a.offset + std::clamp(origin, -kMaxPosition, kMaxPosition);
    default:
      return a.offset;
  }
}

/// Number of pairs of a row and a key that the row sees, for predictions of time. A problem does
/// not know the values of its operands, so every request is taken to have its full length.
double ScoreCount(const Problem& problem);

/// Partial results over disjoint keys merge element by element; both are expressions of elementwise
/// steps, with outputs o1, o2 and logarithms s1, s2 (views of [B, Hq, Tq] repeated along Dv).
/// Two empty parts merge to the output 0 with the logarithm -inf. A part whose logarithm is -inf
/// and whose output is finite does not change the other part.
/// The merged output, of the inputs 0..3 = o1, o2, s1, s2. `dtype`: f32 or f64.
Expr MergedOutput(DType dtype);
/// The merged logarithm, of the inputs 0 and 1 = s1, s2.
Expr MergedLogSum(DType dtype);

}  // namespace aicf::abi
