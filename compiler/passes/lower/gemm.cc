#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/passes/lower/products.h"

namespace aicf {

namespace {

// A with leading axes folded into its rows, when B is one matrix for all of them: one large product
// instead of many small ones.
bool FoldBatch(abi::View& a, abi::View& b, abi::View& out) {
  const int rank = out.shape.rank();
  if (rank == 2) return false;
  for (int i = 0; i < rank - 2; ++i) {
    if (b.shape[i] != 1 && b.strides[i] != 0) return false;
  }
  int64_t rows = 1;
  for (int i = 0; i < rank - 1; ++i) rows *= out.shape[i];
  const auto a2 = ir::Reshape(a, {rows, a.shape[rank - 1]});
  const auto out2 = ir::Reshape(out, {rows, out.shape[rank - 1]});
  if (!a2 || !out2) return false;
  b = {b.dtype,
       {b.shape[rank - 2], b.shape[rank - 1]},
       {b.strides[rank - 2], b.strides[rank - 1]},
       b.offset};
  a = *a2;
  out = *out2;
  return true;
}

abi::View WithoutUnitBatch(const abi::View& v, const Dims& keep) {
  abi::View out{v.dtype, {}, {}, v.offset};
  for (int64_t axis : keep) {
    out.shape.push_back(v.shape[static_cast<int>(axis)]);
    out.strides.push_back(v.strides[static_cast<int>(axis)]);
  }
  return out;
}

// [.., M, K] of a MatMul operand: a vector becomes a row or a column, batches are broadcast.
abi::View MatrixOf(abi::View v, bool left, const Dims& batch) {
  if (v.shape.rank() == 1) {
    v.shape.insert(left ? 0 : 1, 1);
    v.strides.insert(left ? 0 : 1, 0);
  }
  Dims shape = batch;
  shape.push_back(v.shape[v.shape.rank() - 2]);
  shape.push_back(v.shape[v.shape.rank() - 1]);
  return ir::BroadcastTo(v, shape);
}

Dims BatchOf(const Dims& a, const Dims& b) {
  auto lead = [](const Dims& d) {
    return Dims(d.span().first(static_cast<size_t>(std::max(d.rank() - 2, 0))));
  };
  return *BroadcastShapes(lead(a), lead(b));
}

}  // namespace

abi::View MatMulViews::Follow(const abi::View& parameter) const {
  const abi::View all = ir::BroadcastTo(parameter, full);
  if (!folded) return WithoutUnitBatch(all, kept);
  return {all.dtype, result.shape, {0, all.strides.back()}, all.offset};
}

MatMulViews MatMulOf(const abi::View& a, const abi::View& b, const abi::View& out, bool may_fold) {
  const Dims batch = BatchOf(a.shape, b.shape);
  MatMulViews m;
  m.left = MatrixOf(a, true, batch);
  m.right = MatrixOf(b, false, batch);
  m.full = batch;
  m.full.push_back(m.left.shape[batch.rank()]);
  m.full.push_back(m.right.shape[batch.rank() + 1]);
  m.result = *ir::Reshape(out, m.full);
  m.folded = may_fold && FoldBatch(m.left, m.right, m.result);
  if (m.folded) return m;
  for (int i = 0; i < m.full.rank(); ++i) {
    if (i >= batch.rank() || m.full[i] != 1) m.kept.push_back(i);
  }
  m.left = WithoutUnitBatch(m.left, m.kept);
  m.right = WithoutUnitBatch(m.right, m.kept);
  m.result = WithoutUnitBatch(m.result, m.kept);
  return m;
}

Status LowerMatMul(LowerContext& ctx, const ir::Node& node) {
  const ValueView a = ctx.Get(node.inputs[0]);
  const ValueView b = ctx.Get(node.inputs[1]);
  const ValueView out = ctx.Define(node.outputs[0]);
  const MatMulViews views = MatMulOf(a.view, b.view, out.view);
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {views.left, views.right};
  EmitPlain(ctx, node, std::move(p), {a.buffer, b.buffer}, {out.buffer, views.result});
  return OkStatus();
}

Status LowerGemm(LowerContext& ctx, const ir::Node& node) {
  ValueView a = ctx.Get(node.inputs[0]);
  ValueView b = ctx.Get(node.inputs[1]);
  if (node.Int("transA", 0) != 0) a.view = ir::Permute(a.view, {1, 0});
  if (node.Int("transB", 0) != 0) b.view = ir::Permute(b.view, {1, 0});
  const ValueView out = ctx.Define(node.outputs[0]);
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {a.view, b.view};
  OperandExpr expr(1);
  abi::ExprBuilder& build = expr.builder();
  uint16_t value = expr.Raw(a.view.dtype);
  auto scaled = [&](uint16_t x, double by) {
    return by == 1 ? x : build.Binary(abi::ExprOp::kMul, x, build.Const(by, build.dtype(x)));
  };
  value = scaled(value, node.Float("alpha", 1));
  const double beta = node.Float("beta", 1);
  if (node.input(2) != ir::kNoValue && beta != 0) {
    const uint16_t c = LoadValue(ctx, expr, node.inputs[2], out.view.shape);
    value = build.Binary(abi::ExprOp::kAdd, value, scaled(c, beta));
  }
  EmitWithEpilogue(ctx, node, std::move(p), {a.buffer, b.buffer}, expr, value, out);
  return OkStatus();
}

}  // namespace aicf
