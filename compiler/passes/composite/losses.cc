// Losses over class scores: the target's score is picked by comparing class numbers, so that a
// target outside the classes picks nothing.
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

Status CheckLoss(const Composer& c) {
  const Dims &x = c.Shape(c.In(0)), &t = c.Shape(c.In(1));
  Dims expected = x;
  if (x.rank() >= 2) expected.erase(1);
  if (x.rank() < 2 || !(t == expected)) {
    return Error(Code::kBadModel, "targets ", ToString(t), " do not fit scores ", ToString(x));
  }
  if (c.Has(2) && !(c.Shape(c.In(2)) == Dims{x[1]})) {
    return Error(Code::kBadModel, "weights ", ToString(c.Shape(c.In(2))), " do not fit ", x[1],
                 " classes");
  }
  return OkStatus();
}

// bool [N, C, d..]: the class is the target's, and the target is not ignored.
ir::ValueId TargetHits(Composer& c, int64_t classes) {
  ir::ValueId target = c.Cast(c.In(1), DType::kI64);
  const ir::ValueId hits = Hits(c, target, 1, classes);
  if (!c.node().Has("ignore_index")) return hits;
  Dims shape = c.Shape(target);
  shape.insert(1, 1);
  const ir::ValueId ignored =
      Number(c, static_cast<double>(c.node().Int("ignore_index", 0)), DType::kI64);
  return c.Op("And", {hits, c.Op("Not", {c.Op("Equal", {c.Reshape(target, shape), ignored})})});
}

// Sum over the classes of what the target hits.
ir::ValueId PickHits(Composer& c, ir::ValueId hits, ir::ValueId values) {
  const ir::ValueId zero = Number(c, 0, c.Type(values));
  return Reduce(c, "ReduceSum", c.Op("Where", {hits, values, zero}), {1}, false);
}

ir::ValueId Total(Composer& c, ir::ValueId v) {
  return Reduce(c, "ReduceSum", v, AxesFrom(0, c.Shape(v).rank()), false);
}

// The loss of log-probabilities [N, C, d..], in their dtype.
Result<ir::ValueId> LogLoss(Composer& c, ir::ValueId log_probabilities) {
  const std::string reduction = c.node().Str("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return Error(Code::kBadModel, "reduction is '", reduction, "'");
  }
  const Dims shape = c.Shape(log_probabilities);
  const DType dtype = c.Type(log_probabilities);
  const ir::ValueId hits = TargetHits(c, shape[1]);
  const ir::ValueId weights =
      c.Has(2) ? c.Reshape(c.Cast(c.In(2), dtype), AlongAxis(shape.rank(), 1, shape[1]))
               : Number(c, 1, dtype);
  const ir::ValueId loss = PickHits(c, hits, c.Op("Neg", {c.Mul(log_probabilities, weights)}));
  if (reduction == "none") return loss;
  if (reduction == "sum") return Total(c, loss);
  const bool all_count = !c.Has(2) && !c.node().Has("ignore_index");
  if (all_count) return Reduce(c, "ReduceMean", loss, AxesFrom(0, shape.rank() - 1), false);
  return c.Op("Div", {Total(c, loss), Total(c, PickHits(c, hits, weights))});
}

}  // namespace

Status ExpandNegativeLogLikelihoodLoss(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckLoss(c));
  AICF_ASSIGN_OR_RETURN(const ir::ValueId loss, LogLoss(c, Wide(c, c.In(0))));
  c.Output(0, c.Cast(loss, c.Type(c.In(0))));
  return c.status();
}

Status ExpandSoftmaxCrossEntropyLoss(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckLoss(c));
  const ir::ValueId log_probabilities =
      c.Op("LogSoftmax", {Wide(c, c.In(0))}, {{"axis", int64_t{1}}});
  AICF_ASSIGN_OR_RETURN(const ir::ValueId loss, LogLoss(c, log_probabilities));
  c.Output(0, c.Cast(loss, c.Type(c.In(0))));
  c.Output(1, c.Cast(log_probabilities, c.Type(c.In(0))));
  return c.status();
}

}  // namespace aicf
