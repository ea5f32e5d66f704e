// FlexAttention: attention whose scores and probabilities pass through graphs of the model.
#include <cmath>

#include "compiler/ir/onnx_dtype.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

// Half-precision scores are modified and normalised in f32 unless the model says otherwise.
Result<DType> SoftmaxType(const Composer& c) {
  const int64_t given = c.node().Int("softmax_precision", 0);
  if (given != 0) return DTypeOfOnnx(given);
  return c.Type(c.In(0)) == DType::kF64 ? DType::kF64 : DType::kF32;
}

Status CheckModified(const Composer& c, ir::ValueId before, ir::ValueId after) {
  if (!c.ok() || (c.Shape(before) == c.Shape(after) && c.Type(before) == c.Type(after))) {
    return c.status();
  }
  return Error(Code::kBadModel, "a modification turns ", ToString(c.Shape(before)), " into ",
               ToString(c.Shape(after)), ", or changes the dtype");
}

}  // namespace

Status ExpandFlexAttention(Composer& c) {
  const ir::ValueId q = c.In(0), k = c.In(1), v = c.In(2);
  AICF_RETURN_IF_ERROR(CheckAttentionHeads(c, q, k, v));
  AICF_ASSIGN_OR_RETURN(const DType dtype, SoftmaxType(c));
  const double size = static_cast<double>(c.Shape(q)[3]);
  const double scale = c.node().Has("scale") ? c.node().Float("scale", 1) : 1 / std::sqrt(size);
  const ir::ValueId scores = c.Cast(AttentionScores(c, q, k, scale), dtype);
  const ir::ValueId modified = c.Apply("score_mod", scores);
  AICF_RETURN_IF_ERROR(CheckModified(c, scores, modified));
  const ir::ValueId probabilities = c.Op("Softmax", {modified}, {{"axis", int64_t{-1}}});
  const ir::ValueId weights = c.Apply("prob_mod", probabilities);
  AICF_RETURN_IF_ERROR(CheckModified(c, probabilities, weights));
  c.Output(0, WeightedValues(c, weights, v));
  return c.status();
}

}  // namespace aicf
