// Ops that keep as many elements as their data say: NonZero, Compress, NonMaxSuppression; and the
// shape of what they give.
#include "compiler/passes/composite/counted.h"

#include <algorithm>

#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

ir::ValueId Int(Composer& c, int64_t v) { return Number(c, static_cast<double>(v), DType::kI64); }

int64_t LengthOf(const Composer& c, ir::ValueId vector) { return c.Shape(vector)[0]; }

ir::ValueId Zeros(Composer& c, int64_t n) { return c.Filled(0, DType::kI64, {n}); }

ir::ValueId Cumulative(Composer& c, ir::ValueId v, bool exclusive) {
  return c.Op("CumSum", {v, Int(c, 0)}, {{"exclusive", int64_t{exclusive ? 1 : 0}}});
}

}  // namespace

ir::ValueId Counted(Composer& c, ir::ValueId v, int axis, ir::ValueId count) {
  if (c.ok() && c.IsConstant(count)) {
    return c.Window(v, axis, 0, c.graph().values[count].constant.IntAt(0));
  }
  return c.Op(ir::kCounted, {v, count}, {{"axis", int64_t{axis}}});
}

Chosen Choose(Composer& c, ir::ValueId flags) {
  if (!c.ok()) return {ir::kNoValue, ir::kNoValue};
  const int64_t n = LengthOf(c, flags);
  const ir::ValueId ones = c.Cast(flags, DType::kI64);
  const ir::ValueId before = Cumulative(c, ones, true);
  // The number of chosen elements is the place that the last element would take, plus one if the
  // last element is chosen itself.
  const ir::ValueId count = c.Add(c.Window(before, 0, n - 1, 1), c.Window(ones, 0, n - 1, 1));
  return {c.Op("Where", {flags, before, Int(c, n)}), count};
}

// Elements that are not chosen have the slot n, which does not exist: the scatter drops their
// update.
ir::ValueId ChosenPositions(Composer& c, const Chosen& chosen) {
  if (!c.ok()) return ir::kNoValue;
  const ir::ValueId positions = c.Op("aicf.Positions", {chosen.slot}, {{"axis", int64_t{0}}});
  return c.Op("ScatterElements", {Zeros(c, LengthOf(c, chosen.slot)), chosen.slot, positions});
}

Status ExpandNonZero(Composer& c) {
  Dims shape = c.Shape(c.In(0));
  if (shape.empty()) shape = {1};
  const int rank = shape.rank();
  const int64_t n = ElementCount(shape).value_or(0);
  if (n == 0) {
    c.Output(0, c.Reshape(Zeros(c, 0), {rank, 0}));
    return c.status();
  }
  const ir::ValueId x = c.Reshape(c.In(0), shape);
  const Chosen chosen = Choose(c, c.Cast(c.Reshape(x, {n}), DType::kBool));
  // Every element's coordinates as a row; the rows of the chosen ones come to the front.
  std::vector<ir::ValueId> columns;
  for (int d = 0; d < rank; ++d) {
    columns.push_back(c.Reshape(c.Op("aicf.Positions", {x}, {{"axis", int64_t{d}}}), {n, 1}));
  }
  const ir::ValueId zeros = c.Reshape(Zeros(c, n * rank), {n, rank});
  const ir::ValueId rows =
      c.Op("ScatterND", {zeros, c.Reshape(chosen.slot, {n, 1}), c.Concat(columns, 1)});
  c.Output(0, Counted(c, c.Transpose(rows, {1, 0}), 1, chosen.count));
  return c.status();
}

Status ExpandCompress(Composer& c) {
  ir::ValueId x = c.In(0);
  int axis = 0;
  if (c.node().Has("axis")) {
    AICF_ASSIGN_OR_RETURN(axis, ir::NormalizeAxis(c.node().Int("axis", 0), c.Shape(x).rank()));
  } else {
    x = c.Reshape(x, {ElementCount(c.Shape(x)).value_or(0)});
  }
  const Dims condition = c.Shape(c.In(1));
  if (condition.rank() != 1 || c.Type(c.In(1)) != DType::kBool) {
    return Error(Code::kBadModel, "the condition is ", DTypeName(c.Type(c.In(1))), " ",
                 ToString(condition), ", expected a bool vector");
  }
  // Elements beyond the end of a short condition are left out. Flags beyond the end of the axis
  // choose nothing.
  const int64_t n = std::min(condition[0], c.Shape(x)[axis]);
  if (n == 0) {
    c.Output(0, c.Window(x, axis, 0, 0));
    return c.status();
  }
  const Chosen chosen = Choose(c, c.Window(c.In(1), 0, 0, n));
  const ir::ValueId taken =
      c.Op("Gather", {x, ChosenPositions(c, chosen)}, {{"axis", int64_t{axis}}});
  c.Output(0, Counted(c, taken, axis, chosen.count));
  return c.status();
}

Status ExpandNonMaxSuppression(Composer& c) {
  const std::vector<ir::ValueId> made =
      c.Ops("aicf.SelectBoxes", c.node().inputs, c.node().attrs, 2);
  if (c.ok()) c.Output(0, Counted(c, made[0], 0, made[1]));
  return c.status();
}

// The shape as one number per axis; that of the counted axis is read when the program runs.
Status ExpandCountedShape(Composer& c, const ir::DynamicExtent& extent) {
  const Dims shape = c.Shape(c.In(0));
  const int64_t rank = shape.rank();
  const auto clamped = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamped(c.node().Int("start", 0));
  const int64_t end = std::max(start, clamped(c.node().Int("end", rank)));
  std::vector<ir::ValueId> parts;
  for (int64_t d = start; d < end; ++d) {
    parts.push_back(d == extent.axis ? c.Reshape(extent.count, {1})
                                     : c.Ints({shape[static_cast<int>(d)]}));
  }
  c.Output(0, parts.empty() ? Zeros(c, 0) : c.Concat(parts, 0));
  return c.status();
}

Status ExpandCountedSize(Composer& c, const ir::DynamicExtent& extent) {
  Dims shape = c.Shape(c.In(0));
  shape[extent.axis] = 1;
  const ir::ValueId others = Int(c, ElementCount(shape).value_or(0));
  c.Output(0, c.Mul(c.Reshape(extent.count, {}), others));
  return c.status();
}

}  // namespace aicf
