// LinearAttention: a state matrix per head that each position decays, corrects, writes and reads:
//   S = exp(decay_t) * S;  S += k_t (beta_t * (v_t - k_t S))^T, or k_t v_t^T without a delta rule;
//   y_t = scale * q_t S.
#include <cmath>

#include "base/scanner.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

// Longest sequence that is unrolled position by position; a position takes a few steps. Longer
// sequences would make artifacts of many thousand steps. The op has chunked forms for them, which
// are not built here.
constexpr int64_t kMaxUnrolled = 512;

struct Recipe {
  bool gated = false, delta = false;
  int64_t heads = 0, groups = 0;
  Dims q, k, v;  ///< [B, T, H * D] each
};

Result<Recipe> ReadRecipe(const Composer& c) {
  Recipe f;
  const std::string rule = c.node().Str("update_rule", "gated_delta");
  f.gated = rule == "gated" || rule == "gated_delta";
  f.delta = rule == "delta" || rule == "gated_delta";
  if (!f.gated && !f.delta && rule != "linear") {
    return Error(Code::kBadModel, "attribute 'update_rule' is ", Quote(rule));
  }
  f.heads = c.node().Int("q_num_heads", 0);
  f.groups = c.node().Int("kv_num_heads", 0);
  f.q = c.Shape(c.In(kQuery));
  f.k = c.Shape(c.In(kKey));
  f.v = c.Shape(c.In(kValue));
  if (f.gated && !c.Has(kDecay)) return Error(Code::kBadModel, "decay is absent, but required");
  if (f.delta && !c.Has(kBeta)) return Error(Code::kBadModel, "beta is absent, but required");
  const bool fits = f.q.rank() == 3 && f.k.rank() == 3 && f.v.rank() == 3 && f.heads > 0 &&
                    f.groups > 0 && f.heads % f.groups == 0 && f.q[0] == f.k[0] &&
                    f.q[1] == f.k[1] && f.k[0] == f.v[0] && f.k[1] == f.v[1] &&
                    f.q[2] % f.heads == 0 && f.k[2] % f.groups == 0 && f.v[2] % f.groups == 0 &&
                    f.q[2] / f.heads == f.k[2] / f.groups;
  if (fits) return f;
  return Error(Code::kBadModel, "query ", ToString(f.q), ", key ", ToString(f.k), " and value ",
               ToString(f.v), " do not divide into ", f.heads, " and ", f.groups, " heads");
}

// One walk over the sequence. Everything is in f32 or wider: errors of a state add up.
class Recurrence {
 public:
  Recurrence(Composer& c, const Recipe& form, DType dtype) : c_(c), form_(form) {
    auto heads = [&](size_t input, int64_t count) {
      return SplitHeads(c, c.Cast(c.In(input), dtype), count);
    };
    q_ = heads(kQuery, form.heads);
    k_ = heads(kKey, form.groups);
    v_ = heads(kValue, form.groups);
    if (form.gated) decay_ = c.Op("Exp", {heads(kDecay, form.groups)});
    if (form.delta) beta_ = heads(kBeta, c.Shape(c.In(kBeta)).back() == 1 ? 1 : form.groups);
  }

  // Advance gives the state [B, G, Dk, Dv] after position t, Read what the query at position t
  // reads from it: [B, H, 1, Dv].
  ir::ValueId Advance(ir::ValueId state, int64_t t) {
    if (form_.gated) state = c_.Mul(state, Column(decay_, t));
    ir::ValueId written = Row(v_, t);
    if (form_.delta) {
      const ir::ValueId retrieved = c_.MatMul(Row(k_, t), state);
      written = c_.Mul(Row(beta_, t), c_.Sub(written, retrieved));
    }
    return c_.Add(state, c_.Mul(Column(k_, t), written));
  }
  ir::ValueId Read(ir::ValueId state, int64_t t) { return WeightedValues(c_, Row(q_, t), state); }
  ir::ValueId query() const { return q_; }
  ir::ValueId key() const { return k_; }
  ir::ValueId value() const { return v_; }

 private:
  // x [B, G, T, D] at position t as [B, G, 1, D], and as [B, G, D, 1].
  ir::ValueId Row(ir::ValueId x, int64_t t) { return c_.Window(x, 2, t, 1); }
  ir::ValueId Column(ir::ValueId x, int64_t t) { return c_.Transpose(Row(x, t), {0, 1, 3, 2}); }

  Composer& c_;
  const Recipe& form_;
  ir::ValueId q_, k_, v_;
  ir::ValueId decay_ = ir::kNoValue, beta_ = ir::kNoValue;
};

struct Walked {
  ir::ValueId y, state;
};

Walked Unroll(Composer& c, Recurrence& recurrence, ir::ValueId state, int64_t length) {
  std::vector<ir::ValueId> rows;
  for (int64_t t = 0; t < length && c.ok(); ++t) {
    state = recurrence.Advance(state, t);
    rows.push_back(recurrence.Read(state, t));
  }
  return {rows.size() == 1 ? rows[0] : c.Concat(std::move(rows), 2), state};
}

// Without decay and correction the states add up, so the result of the whole sequence is three
// products: what the queries read from the past state, and the product of queries and keys, with
// later keys masked out, times the values. A fourth product gives the new state.
Walked InOneGo(Composer& c, const Recurrence& r, ir::ValueId state, int64_t length) {
  const ir::ValueId scores = AttentionScores(c, r.query(), r.key(), 1);
  const ir::ValueId seen = CausalMask(c, length, length, 0);
  const ir::ValueId weights =
      seen == ir::kNoValue ? scores : c.Op("Where", {seen, scores, c.Scalar(0, c.Type(scores))});
  const ir::ValueId now = WeightedValues(c, weights, r.value());
  const ir::ValueId before = WeightedValues(c, r.query(), state);
  const ir::ValueId written = c.MatMul(c.Transpose(r.key(), {0, 1, 3, 2}), r.value());
  return {c.Add(now, before), c.Add(state, written)};
}

}  // namespace

Status ExpandLinearAttention(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const Recipe form, ReadRecipe(c));
  const int64_t length = form.q[1];
  const bool whole = !form.gated && !form.delta;
  if (!whole && length > kMaxUnrolled) {
    return Error(Code::kUnsupported, "a sequence of ", length, " positions with update rule ",
                 Quote(c.node().Str("update_rule", "gated_delta")), "; at most ", kMaxUnrolled,
                 " are unrolled");
  }
  const int64_t size = form.q[2] / form.heads;
  const Dims states{form.q[0], form.groups, size, form.v[2] / form.groups};
  if (c.Has(kPast) && c.Shape(c.In(kPast)) != states) {
    return Error(Code::kBadModel, "past_state is ", ToString(c.Shape(c.In(kPast))), ", expected ",
                 ToString(states));
  }
  const DType given = c.Type(c.In(kQuery));
  const DType dtype = given == DType::kF64 ? given : DType::kF32;
  const ir::ValueId past = c.Has(kPast) ? c.Cast(c.In(kPast), dtype) : c.Filled(0, dtype, states);
  Recurrence recurrence(c, form, dtype);
  AICF_RETURN_IF_ERROR(c.status());
  const Walked walked = whole || length == 0 ? InOneGo(c, recurrence, past, length)
                                             : Unroll(c, recurrence, past, length);
  const double scale = c.node().Float("scale", 0);
  const double factor = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size));
  c.Output(0, c.Cast(MergeHeads(c, c.Scaled(walked.y, factor)), given));
  c.Output(1, c.Cast(walked.state, given));
  return c.status();
}

}  // namespace aicf
