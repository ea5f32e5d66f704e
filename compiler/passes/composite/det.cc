// Determinants by elimination with partial pivoting, unrolled over the columns.
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

constexpr int64_t kMaxSize = 256;

// Result of eliminating the first column of a [B, n, n] matrix: the pivot's row is taken out, and
// the column is cleared in all other rows.
struct Elimination {
  ir::ValueId rest;    // [B, n - 1, n - 1]
  ir::ValueId factor;  // [B, 1, 1]: the pivot, negative where rows were swapped
};

Elimination Eliminate(Composer& c, ir::ValueId m, int64_t n) {
  const DType dtype = c.Type(m);
  const ir::ValueId column = c.Op("Abs", {c.Window(m, 2, 0, 1)});  // [B, n, 1]
  const ir::ValueId best =
      c.Op("ArgMax", {column}, {{"axis", int64_t{1}}, {"keepdims", int64_t{1}}});
  const ir::ValueId hit = c.Op("Equal", {best, c.Counting(0, {n, 1})});
  const ir::ValueId zero = c.Scalar(0, dtype), one = c.Scalar(1, dtype);
  const ir::ValueId row = Reduce(c, "ReduceSum", c.Op("Where", {hit, m, zero}), {1}, true);
  const ir::ValueId pivot = c.Window(row, 2, 0, 1);
  const ir::ValueId first = c.Op("Equal", {best, Number(c, 0, DType::kI64)});
  // The first row moves to the place of the pivot's row.
  const ir::ValueId swapped = c.Op("Where", {hit, c.Window(m, 1, 0, 1), m});
  const ir::ValueId below = c.Window(swapped, 1, 1, n - 1);
  const ir::ValueId safe = c.Op("Where", {c.Op("Equal", {pivot, zero}), one, pivot});
  const ir::ValueId scale = c.Op("Div", {c.Window(below, 2, 0, 1), safe});
  Elimination out;
  out.rest = c.Sub(c.Window(below, 2, 1, n - 1), c.Mul(scale, c.Window(row, 2, 1, n - 1)));
  out.factor = c.Op("Where", {first, pivot, c.Op("Neg", {pivot})});
  return out;
}

}  // namespace

Status ExpandDet(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return Error(Code::kBadModel, "its input ", ToString(shape), " holds no square matrices");
  }
  const int64_t size = shape[rank - 1];
  if (size > kMaxSize) {
    return Error(Code::kUnsupported, "matrices of ", size, " rows, at most ", kMaxSize,
                 " are supported");
  }
  const Dims batch(shape.span().first(static_cast<size_t>(rank - 2)));
  ir::ValueId m = Wide(c, c.In(0));
  const DType dtype = c.Type(m);
  if (size == 0) {
    c.Output(0, c.Cast(c.Filled(1, dtype, batch), c.Type(c.In(0))));
    return c.status();
  }
  m = c.Reshape(m, {ElementCount(batch).value_or(0), size, size});
  ir::ValueId product = ir::kNoValue;
  for (int64_t n = size; n > 1 && c.ok(); --n) {
    const Elimination step = Eliminate(c, m, n);
    product = product == ir::kNoValue ? step.factor : c.Mul(product, step.factor);
    m = step.rest;
  }
  if (product != ir::kNoValue) m = c.Mul(product, m);
  c.Output(0, c.Cast(c.Reshape(m, batch), c.Type(c.In(0))));
  return c.status();
}

}  // namespace aicf
