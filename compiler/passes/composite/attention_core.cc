// Attention of a composite as one node, and what its operands go through on the way there.
#include <algorithm>
#include <limits>

#include "base/scanner.h"
#include "compiler/ir/attention_node.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/graph/score_expr.h"
#include "kernels/abi/attention.h"

namespace aicf {
namespace {

// The condition that keeps attention from being one node, as "name: sentence"; empty where it can
// be one.
std::string Refusal(const Composer& c, const AttentionOperands& in, bool stages) {
  if (stages) return "outputs: the model asks for the scores or the probabilities as well";
  const DType dtype = c.Type(in.q);
  for (ir::ValueId v : {in.k, in.v}) {
    if (c.Type(v) == dtype) continue;
    return StrCat("dtype: queries are ", DTypeName(dtype), ", keys or values ",
                  DTypeName(c.Type(v)));
  }
  const DType asked = in.softmax_type.value_or(dtype), computed = abi::ComputeDType(dtype);
  if (asked == dtype || asked == computed) return "";
  return StrCat("precision: the softmax is asked for in ", DTypeName(asked), ", and attention on ",
                DTypeName(dtype), " computes it in ", DTypeName(computed));
}

uint16_t Softcapped(abi::ExprBuilder& b, uint16_t x, double cap) {
  if (cap == 0) return x;
  const uint16_t c = b.Const(cap, b.dtype(x));
  const uint16_t bent = b.Unary(abi::ExprOp::kTanh, b.Binary(abi::ExprOp::kDiv, x, c));
  return b.Binary(abi::ExprOp::kMul, bent, c);
}

// The score expression, a function of the scaled product x: cap(x) + biases, and minus infinity
// where a mask is false.
abi::Expr ScoreOf(const Composer& c, const AttentionOperands& in, ScoreExpr& score) {
  abi::ExprBuilder& b = score.builder();
  uint16_t x = Softcapped(b, score.Raw(c.Type(in.q)), in.softcap);
  for (ir::ValueId bias : in.biases) {
    x = b.Binary(abi::ExprOp::kAdd, x, b.Cast(score.Load(c.graph(), bias), b.dtype(x)));
  }
  for (ir::ValueId mask : in.allowed) {
    const uint16_t lowest = b.Const(-std::numeric_limits<double>::infinity(), b.dtype(x));
    x = b.Select(score.Load(c.graph(), mask), x, lowest);
  }
  return score.Finish(x);
}

}  // namespace

AttentionStages Attend(Composer& c, const AttentionOperands& in, bool stages) {
  if (!c.ok()) return {};
  const std::string refusal = Refusal(c, in, stages);
  c.Explain(refusal.empty() ? "one node" : "product, softmax, product", refusal);
  if (!refusal.empty()) return AttendInStages(c, in);
  ir::AttentionForm form;
  form.attrs.scale = in.scale;
  form.attrs.rows = in.rows;
  form.attrs.offset = in.offset;
  // No key is further away than kMaxPosition, so a longer window sees the same keys.
  form.attrs.window_left = std::min(in.window_left, abi::kMaxPosition);
  form.attrs.window_right = std::min(in.window_right, abi::kMaxPosition);
  ScoreExpr score;
  form.score = ScoreOf(c, in, score);
  std::vector<ir::ValueId> inputs{in.q, in.k, in.v, in.lengths, ir::kNoValue, in.origins};
  inputs.insert(inputs.end(), score.operands().begin(), score.operands().end());
  while (inputs.back() == ir::kNoValue) inputs.pop_back();
  return {c.Op(ir::kAttention, std::move(inputs), ir::AttentionAttributes(form))};
}

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

}  // namespace aicf
