// The standard's Attention (opset 23 on): heads, caches and masks brought into one form.
#include "compiler/passes/composite/attention.h"

#include <algorithm>
#include <cmath>

#include "base/scanner.h"
#include "compiler/ir/onnx_dtype.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

template <class... Pieces>
Status Bad(const Pieces&... pieces) {
  return Error(Code::kBadModel, pieces...);
}

enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };
enum Output : size_t { kY, kPresentKey, kPresentValue, kScores };

Status CheckInputs(const Composer& c) {
  const int rank = c.Shape(c.In(kQ)).rank();
  if (rank != 3 && rank != 4) return Bad("Q has rank ", rank, ", expected 3 or 4");
  for (size_t i : {kK, kV}) {
    if (c.Shape(c.In(i)).rank() == rank) continue;
    return Bad("Q has rank ", rank, " and input ", i, " rank ", c.Shape(c.In(i)).rank());
  }
  for (std::string_view heads : {"q_num_heads", "kv_num_heads"}) {
    if (rank == 3 && c.node().Int(heads, 0) <= 0) {
      return Bad("attribute '", heads, "' is ", c.node().Int(heads, 0),
                 ", expected at least 1 with inputs of rank 3");
    }
  }
  if (c.Has(kPastKey) != c.Has(kPastValue)) return Bad("has one of past_key and past_value only");
  if (c.Has(kLengths) && c.Has(kPastKey)) return Bad("has both nonpad_kv_seqlen and past_key");
  if (!c.Has(kLengths)) return OkStatus();
  const Dims lengths = c.Shape(c.In(kLengths)), batch{c.Shape(c.In(kQ))[0]};
  if (lengths == batch && c.Type(c.In(kLengths)) == DType::kI64) return OkStatus();
  return Bad("nonpad_kv_seqlen is ", DTypeName(c.Type(c.In(kLengths))), " ", ToString(lengths),
             ", expected i64 ", ToString(batch));
}

// Adds the mask, as a bool or in the scores' dtype, extended to all keys: keys beyond its end are
// masked out.
void AddMask(Composer& c, int64_t keys, AttentionOperands& operands) {
  if (!c.Has(kMask)) return;
  ir::ValueId mask = c.In(kMask);
  Dims rest = c.Shape(mask);
  if (rest.rank() < 1 || rest.rank() > 4 || rest.back() > keys) {
    return c.Fail(Bad("attn_mask of shape ", ToString(rest), " does not fit ", keys, " keys"));
  }
  const DType dtype = c.Type(operands.q);
  const bool flags = c.Type(mask) == DType::kBool;
  if (!flags) mask = c.Cast(mask, dtype);
  // A last axis that is shorter than the keys is filled up with masked keys. That includes an axis
  // of one element, which does not broadcast.
  rest[rest.rank() - 1] = keys - rest.back();
  if (rest.back() > 0) {
    const ir::ValueId outside = flags ? c.Cast(c.Filled(0, DType::kF32, rest), DType::kBool)
                                      : c.Filled(-INFINITY, dtype, rest);
    mask = c.Concat({mask, outside}, -1);
  }
  (flags ? operands.allowed : operands.biases).push_back(mask);
}

// Sets which keys a query sees by its position: those within the windows, and where is_causal is
// set none after the query. The queries come after the cached keys; where lengths are given, the
// last query is at the last valid key.
Status AddPositions(Composer& c, AttentionOperands& operands) {
  operands.window_left = c.node().Int("left_window_size", -1);
  operands.window_right = c.node().Int("right_window_size", -1);
  const int64_t least = std::min(operands.window_left, operands.window_right);
  if (least < -1) return Bad("a window of ", least, " keys");
  if (c.node().Int("is_causal", 0) != 0) operands.window_right = 0;
  if (c.Has(kLengths)) {
    operands.lengths = c.In(kLengths);
    operands.rows = abi::RowOrigin::kLastKeys;
  } else if (c.Has(kPastKey)) {
    operands.offset = c.Shape(c.In(kPastKey))[2];
  }
  return OkStatus();
}

// A key or value input as [B, H, L, D], with the cached rows in front where there is a cache.
ir::ValueId WithPast(Composer& c, size_t input, size_t past, int64_t heads) {
  const ir::ValueId now = SplitHeads(c, c.In(input), heads);
  return c.Has(past) ? c.Concat({c.In(past), now}, 2) : now;
}

Status ReadAttributes(Composer& c, AttentionOperands& operands) {
  const ir::Node& node = c.node();
  const double size = static_cast<double>(c.Shape(operands.q)[3]);
  operands.scale = node.Has("scale") ? node.Float("scale", 1) : 1 / std::sqrt(size);
  operands.softcap = node.Float("softcap", 0);
  if (operands.softcap < 0) return Bad("attribute 'softcap' is negative");
  const int64_t mode = node.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) return Bad("attribute 'qk_matmul_output_mode' is ", mode);
  if (node.Int("softmax_precision", 0) == 0) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const DType dtype, DTypeOfOnnx(node.Int("softmax_precision", 0)));
  if (!IsFloat(dtype)) return Bad("attribute 'softmax_precision' is ", DTypeName(dtype));
  operands.softmax_type = dtype;
  return OkStatus();
}

}  // namespace

Status ExpandAttention(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckInputs(c));
  AttentionOperands operands;
  operands.q = SplitHeads(c, c.In(kQ), c.node().Int("q_num_heads", 0));
  operands.k = WithPast(c, kK, kPastKey, c.node().Int("kv_num_heads", 0));
  operands.v = WithPast(c, kV, kPastValue, c.node().Int("kv_num_heads", 0));
  AICF_RETURN_IF_ERROR(c.status());
  AICF_RETURN_IF_ERROR(CheckAttentionHeads(c, operands.q, operands.k, operands.v));
  AICF_RETURN_IF_ERROR(ReadAttributes(c, operands));
  AddMask(c, c.Shape(operands.k)[2], operands);
  AICF_RETURN_IF_ERROR(AddPositions(c, operands));
  const AttentionStages stages = Attend(c, operands, c.Wants(kScores));
  c.Output(kY, c.Shape(c.In(kQ)).rank() == 3 ? MergeHeads(c, stages.y) : stages.y);
  c.Output(kPresentKey, operands.k);
  c.Output(kPresentValue, operands.v);
  if (!c.Wants(kScores)) return c.status();
  const ir::ValueId scores[] = {stages.product, stages.capped, stages.biased, stages.probabilities};
  c.Output(kScores, scores[c.node().Int("qk_matmul_output_mode", 0)]);
  return c.status();
}

}  // namespace aicf
