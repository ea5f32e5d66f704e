#include "compiler/passes/composite/rotary.h"

#include <algorithm>
#include <limits>

#include "base/scanner.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/contrib_masks.h"

namespace aicf {
namespace {

// (a, b) -> (a cos - b sin, b cos + a sin) as x * cos + (-1, 1) * swapped(x) * sin: one elementwise
// step, since the swapped pair is a view of x that walks one axis backwards.
ir::ValueId RotateWhole(Composer& c, ir::ValueId x, ir::ValueId cos, ir::ValueId sin,
                        bool interleaved) {
  const Dims s = c.Shape(x);
  const int64_t half = s[3] / 2;
  const Dims pairs =
      interleaved ? Dims{s[0], s[1], s[2], half, 2} : Dims{s[0], s[1], s[2], 2, half};
  const int64_t axis = interleaved ? 4 : 3;
  const Dims table = interleaved ? Dims{c.Shape(cos)[0], 1, s[2], half, 1}
                                 : Dims{c.Shape(cos)[0], 1, s[2], 1, half};
  const float signs[] = {-1, 1};
  const ir::ValueId sign =
      c.Cast(c.Constant(ir::Tensor::FromValues<float>(
                 DType::kF32, interleaved ? Dims{2} : Dims{2, 1}, std::span<const float>(signs))),
             c.Type(x));
  const ir::ValueId split = c.Reshape(x, pairs);
  const ir::ValueId swapped = c.Slice(split, axis, -1, std::numeric_limits<int64_t>::min(), -1);
  const ir::ValueId kept = c.Mul(split, c.Reshape(cos, table));
  const ir::ValueId crossed = c.Mul(c.Mul(swapped, sign), c.Reshape(sin, table));
  return c.Reshape(c.Add(kept, crossed), s);
}

Status CheckTables(const Composer& c, ir::ValueId x, ir::ValueId cos, ir::ValueId sin) {
  const Dims &s = c.Shape(x), &t = c.Shape(cos);
  const bool fits = s.rank() == 4 && t.rank() == 3 && t == c.Shape(sin) &&
                    (t[0] == 1 || t[0] == s[0]) && t[1] == s[2] && t[2] * 2 <= s[3];
  if (fits) return OkStatus();
  return Error(Code::kBadModel, "cosines ", ToString(t), " and sines ", ToString(c.Shape(sin)),
               " do not fit an input of shape ", ToString(s),
               " (as batch, heads, sequence, head size)");
}

}  // namespace

ir::ValueId Rotate(Composer& c, ir::ValueId x, ir::ValueId cos, ir::ValueId sin, bool interleaved) {
  if (!c.ok()) return ir::kNoValue;
  c.Fail(CheckTables(c, x, cos, sin));
  if (!c.ok()) return ir::kNoValue;
  const int64_t size = c.Shape(x)[3], rotated = c.Shape(cos)[2] * 2;
  if (rotated == size) return RotateWhole(c, x, cos, sin, interleaved);
  const ir::ValueId turned = RotateWhole(c, c.Window(x, 3, 0, rotated), cos, sin, interleaved);
  return c.Concat({turned, c.Window(x, 3, rotated, size - rotated)}, 3);
}

Status ExpandRotaryEmbedding(Composer& c) {
  const Dims given = c.Shape(c.In(0));
  if (given.rank() != 3 && given.rank() != 4) {
    return Error(Code::kBadModel, "its input has rank ", given.rank(), ", expected 3 or 4");
  }
  const ir::ValueId x = SplitHeads(c, c.In(0), c.node().Int("num_heads", 0));
  AICF_RETURN_IF_ERROR(c.status());
  // [B, L, R / 2]: rows of the table, picked by position where positions are given, else the input
  // as it is.
  auto table = [&](size_t input) {
    return c.Has(3) ? c.Op("Gather", {c.In(input), c.In(3)}, {{"axis", int64_t{0}}}) : c.In(input);
  };
  const ir::ValueId cos = table(1), sin = table(2);
  AICF_RETURN_IF_ERROR(c.status());
  const int64_t rotary = c.node().Int("rotary_embedding_dim", 0);
  const int64_t expected = rotary > 0 ? rotary : c.Shape(x)[3];
  if (c.Shape(cos).rank() == 0 || c.Shape(cos).back() * 2 != expected) {
    return Error(Code::kBadModel, "cosines of shape ", ToString(c.Shape(cos)), " do not rotate ",
                 expected, " elements of a head");
  }
  const ir::ValueId y = Rotate(c, x, cos, sin, c.node().Int("interleaved", 0) != 0);
  c.Output(0, given.rank() == 3 ? MergeHeads(c, y) : y);
  return c.status();
}

namespace {

// Positions of com.microsoft's op, where they are input 1, in front of the tables. A single number
// is the position of the first row of every batch entry.
ir::ValueId PositionRows(Composer& c, int64_t batch, int64_t length) {
  const ir::ValueId given = c.In(1);
  if (ElementCount(c.Shape(given)) != 1 || batch * length == 1) {
    return c.Reshape(given, {batch, length});
  }
  return c.Add(c.Reshape(given, {1, 1}), c.Counting(0, {1, length}));
}

// Number of heads that an input of rank 3 divides into. Without the attribute, a head is as wide as
// what the tables rotate.
int64_t HeadsOf(const Composer& c, const Dims& given) {
  const int64_t heads = c.node().Int("num_heads", 0);
  if (heads > 0 || given.rank() != 3 || c.Shape(c.In(2)).rank() != 2) return heads;
  return given[2] / std::max<int64_t>(c.Shape(c.In(2))[1] * 2, 1);
}

}  // namespace

Status ExpandContribRotaryEmbedding(Composer& c) {
  AICF_RETURN_IF_ERROR(RefuseAttribute(c, "is_packed_batching"));
  if (c.node().Float("scale", 1) != 1) return Error(Code::kUnsupported, "attribute 'scale'");
  const Dims given = c.Shape(c.In(0));
  if (given.rank() != 3 && given.rank() != 4) {
    return Error(Code::kBadModel, "its input has rank ", given.rank(), ", expected 3 or 4");
  }
  const ir::ValueId x = SplitHeads(c, c.In(0), HeadsOf(c, given));
  AICF_RETURN_IF_ERROR(c.status());
  const ir::ValueId positions = PositionRows(c, c.Shape(x)[0], c.Shape(x)[2]);
  const ir::ValueId cos = c.Op("Gather", {c.In(2), positions});
  const ir::ValueId sin = c.Op("Gather", {c.In(3), positions});
  const ir::ValueId y = Rotate(c, x, cos, sin, c.node().Int("interleaved", 0) != 0);
  c.Output(0, given.rank() == 3 ? MergeHeads(c, y) : y);
  return c.status();
}

}  // namespace aicf
