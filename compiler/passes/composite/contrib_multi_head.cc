// com.microsoft MultiHeadAttention: query, key and value in any of the packings it knows.
#include "base/scanner.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/contrib_masks.h"

namespace aicf {
namespace {

enum Input : size_t {
  kQuery,
  kKey,
  kValue,
  kBias,
  kPaddingMask,
  kAttentionBias,
  kPastKey,
  kPastValue,
  kPastLength,
  kIndirection
};
enum Output : size_t { kY, kPresentKey, kPresentValue, kScores };

// x [B, S, N, parts, H]: part i as [B, N, S, H].
ir::ValueId Unpacked(Composer& c, ir::ValueId x, int64_t part) {
  const Dims s = c.Shape(x);
  const ir::ValueId one = c.Reshape(c.Window(x, 3, part, 1), {s[0], s[1], s[2], s[4]});
  return c.Transpose(one, {0, 2, 1, 3});
}

// `width` elements of the bias from `first` on, added to x [B, S, width].
ir::ValueId Biased(Composer& c, ir::ValueId x, int64_t first) {
  if (!c.Has(kBias)) return x;
  const Dims s = c.Shape(x);
  if (s.rank() != 3) {
    c.Fail(Error(Code::kUnsupported, "input 3 (bias) with packed or cached inputs"));
    return ir::kNoValue;
  }
  return c.Add(x, c.Window(c.In(kBias), 0, first, s[2]));
}

struct Parts {
  ir::ValueId q = ir::kNoValue, k = ir::kNoValue, v = ir::kNoValue;
};

Result<Parts> Packed(Composer& c, int64_t heads) {
  const ir::ValueId query = c.In(kQuery);
  if (c.Shape(query).rank() == 5) {
    if (c.Shape(query)[3] != 3) return Error(Code::kBadModel, "a packed query needs three parts");
    return Parts{Unpacked(c, query, 0), Unpacked(c, query, 1), Unpacked(c, query, 2)};
  }
  if (c.Shape(query).rank() != 3) {
    return Error(Code::kBadModel, "query has rank ", c.Shape(query).rank(), ", expected 3 or 5");
  }
  AICF_RETURN_IF_ERROR(RequireInput(c, kKey, "key"));
  const ir::ValueId key = c.In(kKey);
  const int64_t width = c.Shape(query)[2];
  Parts out;
  out.q = SplitHeads(c, Biased(c, query, 0), heads);
  if (c.Shape(key).rank() == 5) {
    if (c.Shape(key)[3] != 2) return Error(Code::kBadModel, "a packed key needs two parts");
    out.k = Unpacked(c, key, 0);
    out.v = Unpacked(c, key, 1);
    return out;
  }
  AICF_RETURN_IF_ERROR(RequireInput(c, kValue, "value"));
  // Keys and values of rank 4 come from a cache, after bias and split.
  const bool cached = c.Shape(key).rank() == 4;
  out.k = cached ? key : SplitHeads(c, Biased(c, key, width), heads);
  out.v = cached ? c.In(kValue) : SplitHeads(c, Biased(c, c.In(kValue), 2 * width), heads);
  return out;
}

Status CheckInputs(const Composer& c) {
  AICF_RETURN_IF_ERROR(RefuseInput(c, kPastLength, "past_sequence_length"));
  AICF_RETURN_IF_ERROR(RefuseInput(c, kIndirection, "cache_indirection"));
  if (c.node().Int("num_heads", 0) <= 0) {
    return Error(Code::kBadModel, "attribute 'num_heads' is ", c.node().Int("num_heads", 0));
  }
  if (c.Has(kPastKey) != c.Has(kPastValue)) {
    return Error(Code::kBadModel, "has one of past_key and past_value only");
  }
  return OkStatus();
}

void AddMasks(Composer& c, int64_t past, AttentionOperands& operands) {
  const Dims q = c.Shape(operands.q);
  const Dims scores{q[0], q[1], q[2], c.Shape(operands.k)[2]};
  if (c.Has(kPaddingMask)) {
    operands.biases.push_back(PaddingBias(c, c.In(kPaddingMask), scores, past, c.Type(operands.q)));
  }
  if (c.Has(kAttentionBias)) operands.biases.push_back(c.In(kAttentionBias));
  if (c.node().Int("unidirectional", 0) == 0) return;
  operands.window_right = 0;
  operands.offset = past;
}

}  // namespace

Status ExpandMultiHeadAttention(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckInputs(c));
  AICF_ASSIGN_OR_RETURN(const Parts parts, Packed(c, c.node().Int("num_heads", 0)));
  AICF_RETURN_IF_ERROR(c.status());
  AttentionOperands operands;
  operands.q = parts.q;
  operands.k = c.Has(kPastKey) ? c.Concat({c.In(kPastKey), parts.k}, 2) : parts.k;
  operands.v = c.Has(kPastKey) ? c.Concat({c.In(kPastValue), parts.v}, 2) : parts.v;
  AICF_RETURN_IF_ERROR(c.status());
  AICF_RETURN_IF_ERROR(CheckAttentionHeads(c, operands.q, operands.k, operands.v));
  operands.scale = AttentionScale(c, c.Shape(operands.q)[3]);
  AddMasks(c, c.Has(kPastKey) ? c.Shape(c.In(kPastKey))[2] : 0, operands);
  const AttentionStages stages = Attend(c, operands, c.Wants(kScores));
  c.Output(kY, MergeHeads(c, stages.y));
  c.Output(kPresentKey, operands.k);
  c.Output(kPresentValue, operands.v);
  if (c.Wants(kScores)) c.Output(kScores, stages.biased);
  return c.status();
}

}  // namespace aicf
