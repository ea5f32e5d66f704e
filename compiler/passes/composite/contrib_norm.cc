// Layer normalisations of com.microsoft: with the residual, the bias or the embeddings in front.
#include "base/scanner.h"
#include "compiler/passes/composite/composer.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

double Epsilon(const Composer& c, double fallback) { return c.node().Float("epsilon", fallback); }

ir::ValueId LayerNorm(Composer& c, ir::ValueId x, ir::ValueId scale, ir::ValueId bias,
                      double epsilon) {
  std::vector<ir::ValueId> inputs{x, scale};
  if (bias != ir::kNoValue) inputs.push_back(bias);
  return c.Op("LayerNormalization", std::move(inputs),
              {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
}

ir::ValueId RmsNorm(Composer& c, ir::ValueId x, ir::ValueId scale, int64_t axis, double epsilon) {
  return c.Op("RMSNormalization", {x, scale}, {{"axis", axis}, {"epsilon", epsilon}});
}

ir::ValueId MeanOf(Composer& c, ir::ValueId x) { return c.Op("ReduceMean", {x, c.Ints({-1})}); }

// 1 / sqrt(mean(x^2) + epsilon) over the last axis.
ir::ValueId InverseRoot(Composer& c, ir::ValueId x, double epsilon) {
  const ir::ValueId square = MeanOf(c, c.Mul(x, x));
  const ir::ValueId root = c.Op("Sqrt", {c.Add(square, c.Scalar(epsilon, c.Type(x)))});
  return c.Op("Reciprocal", {root});
}

// input + skip [+ bias]; a skip without the batch axis, or with one of extent 1, is shared.
ir::ValueId SkipSum(Composer& c, size_t bias) {
  const ir::ValueId sum = c.Add(c.In(0), c.In(1));
  return c.Has(bias) ? c.Add(sum, c.In(bias)) : sum;
}

Status CheckSkip(const Composer& c) {
  const Dims &x = c.Shape(c.In(0)), &skip = c.Shape(c.In(1));
  const auto both = BroadcastShapes(x, skip);
  if (both && *both == x && x.rank() >= 2) return OkStatus();
  return Error(Code::kBadModel, "skip ", ToString(skip), " does not broadcast to ", ToString(x));
}

}  // namespace

Status ExpandSkipLayerNormalization(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckSkip(c));
  const double epsilon = Epsilon(c, 1e-12f);
  const ir::ValueId sum = SkipSum(c, 4);
  c.Output(0, LayerNorm(c, sum, c.In(2), c.In(3), epsilon));
  c.Output(3, sum);
  if (c.Wants(1) || c.Wants(2)) {
    const ir::ValueId mean = MeanOf(c, sum);
    c.Output(1, mean);
    c.Output(2, InverseRoot(c, c.Sub(sum, mean), epsilon));
  }
  return c.status();
}

Status ExpandSkipSimplifiedLayerNormalization(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckSkip(c));
  if (c.Wants(1)) return Error(Code::kUnsupported, "output 1: there is no mean");
  const double epsilon = Epsilon(c, 1e-12f);
  const ir::ValueId sum = SkipSum(c, 3);
  c.Output(0, RmsNorm(c, sum, c.In(2), -1, epsilon));
  c.Output(3, sum);
  if (c.Wants(2)) c.Output(2, InverseRoot(c, sum, epsilon));
  return c.status();
}

Status ExpandSimplifiedLayerNormalization(Composer& c) {
  if (c.node().Int("stash_type", 1) != 1) {
    return Error(Code::kUnsupported, "statistics in another type (stash_type)");
  }
  const int64_t axis = c.node().Int("axis", -1);
  const int rank = c.Shape(c.In(0)).rank();
  c.Output(0, RmsNorm(c, c.In(0), c.In(1), axis, Epsilon(c, 1e-5f)));
  if (c.Wants(1)) {
    if (axis != -1 && axis != rank - 1) {
      return Error(Code::kUnsupported, "output 1 over several axes");
    }
    c.Output(1, InverseRoot(c, c.In(0), Epsilon(c, 1e-5f)));
  }
  return c.status();
}

namespace {

enum Embed : size_t {
  kIds,
  kSegments,
  kWords,
  kPositions,
  kSegmentTable,
  kGamma,
  kBeta,
  kMask,
  kPositionIds
};

Status CheckEmbed(const Composer& c) {
  for (size_t i : {kWords, kPositions, kGamma, kBeta}) {
    if (!c.Has(i)) return Error(Code::kBadModel, "input ", i, " is absent, but required");
  }
  if (c.Has(kSegments) != c.Has(kSegmentTable)) {
    return Error(Code::kBadModel, "has one of segment_ids and segment_embedding only");
  }
  const Dims ids = c.Shape(c.In(kIds));
  if (ids.rank() == 2) return OkStatus();
  return Error(Code::kBadModel, "input_ids is ", ToString(ids), ", expected rank 2");
}

ir::ValueId Rows(Composer& c, size_t table, ir::ValueId ids) {
  return c.Op("Gather", {c.In(table), ids}, {{"axis", int64_t{0}}});
}

// How many elements of each row of the mask are set.
ir::ValueId MaskIndex(Composer& c) {
  const Dims ids = c.Shape(c.In(kIds));
  if (!c.Has(kMask) || c.node().Int("mask_index_type", 1) == 0) {
    return c.Cast(c.Filled(0, DType::kF32, {ids[0]}), DType::kI32);
  }
  return c.Op("ReduceSum", {c.In(kMask), c.Ints({1})}, {{"keepdims", int64_t{0}}});
}

}  // namespace

Status ExpandEmbedLayerNormalization(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckEmbed(c));
  const int64_t length = c.Shape(c.In(kIds))[1];
  const ir::ValueId words = Rows(c, kWords, c.In(kIds));
  const ir::ValueId places = c.Has(kPositionIds) ? Rows(c, kPositions, c.In(kPositionIds))
                                                 : c.Window(c.In(kPositions), 0, 0, length);
  ir::ValueId sum = c.Add(words, places);
  if (c.Has(kSegments)) sum = c.Add(sum, Rows(c, kSegmentTable, c.In(kSegments)));
  c.Output(0, LayerNorm(c, sum, c.In(kGamma), c.In(kBeta), Epsilon(c, 1e-12f)));
  if (c.Wants(1)) c.Output(1, MaskIndex(c));
  c.Output(2, sum);
  return c.status();
}

}  // namespace aicf
