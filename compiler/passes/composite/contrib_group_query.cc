// com.microsoft GroupQueryAttention with an ordinary cache: rotation, cache update and attention.
#include <algorithm>

#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/contrib_masks.h"
#include "compiler/passes/composite/key_cache.h"
#include "compiler/passes/composite/rotary.h"

namespace aicf {
namespace {

enum Input : size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kAttentionBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};
enum Output : size_t { kY, kPresentKey, kPresentValue, kScores };

Status Refuse(const Composer& c) {
  for (std::string_view name :
       {"smooth_softmax", "kv_cache_bit_width", "sliding_window_cache", "qk_output"}) {
    AICF_RETURN_IF_ERROR(RefuseAttribute(c, name));
  }
  for (std::string_view name : {"k_quant_type", "v_quant_type"}) {
    const std::string type = c.node().Str(name, "NONE");
    if (type != "NONE") return Error(Code::kUnsupported, "attribute '", name, "' of ", Quote(type));
  }
  if (c.node().Int("causal", 1) != 1) {
    return Error(Code::kUnsupported, "attribute 'causal' of ", c.node().Int("causal", 1));
  }
  constexpr std::pair<size_t, std::string_view> kRefused[] = {{kSink, "head_sink"},
                                                              {kKeyScale, "k_scale"},
                                                              {kValueScale, "v_scale"},
                                                              {kQueryNorm, "q_norm_weight"},
                                                              {kKeyNorm, "k_norm_weight"}};
  for (const auto& [input, name] : kRefused) AICF_RETURN_IF_ERROR(RefuseInput(c, input, name));
  return OkStatus();
}

Status CheckInputs(const Composer& c) {
  AICF_RETURN_IF_ERROR(Refuse(c));
  AICF_RETURN_IF_ERROR(RequireInput(c, kLengths, "seqlens_k"));
  AICF_RETURN_IF_ERROR(RequireInput(c, kTotal, "total_sequence_length"));
  if (c.Has(kPastKey) != c.Has(kPastValue) || c.Has(kKey) != c.Has(kValue) ||
      c.Has(kCos) != c.Has(kSin)) {
    return Error(Code::kBadModel, "has one of a pair of inputs only");
  }
  const int64_t heads = c.node().Int("num_heads", 0), groups = c.node().Int("kv_num_heads", 0);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (heads <= 0 || groups <= 0 || heads % groups != 0 || heads > kMost) {
    return Error(Code::kBadModel, "has ", heads, " heads and ", groups, " key heads");
  }
  if (c.Shape(c.In(kQuery)).rank() != 3) {
    return Error(Code::kBadModel, "query has rank ", c.Shape(c.In(kQuery)).rank(), ", expected 3");
  }
  if (c.Has(kPastKey) && c.Shape(c.In(kPastKey)).rank() != 4) {
    return Error(Code::kBadModel, "past_key has rank ", c.Shape(c.In(kPastKey)).rank(),
                 ", expected 4");
  }
  return OkStatus();
}

struct Parts {
  ir::ValueId q = ir::kNoValue, k = ir::kNoValue, v = ir::kNoValue;
};

Parts SplitInputs(Composer& c, int64_t heads, int64_t groups) {
  const ir::ValueId query = c.In(kQuery);
  if (c.Has(kKey)) {
    return {SplitHeads(c, query, heads), SplitHeads(c, c.In(kKey), groups),
            SplitHeads(c, c.In(kValue), groups)};
  }
  const int64_t width = c.Shape(query)[2], size = width / (heads + 2 * groups);
  return {SplitHeads(c, c.Window(query, 2, 0, heads * size), heads),
          SplitHeads(c, c.Window(query, 2, heads * size, groups * size), groups),
          SplitHeads(c, c.Window(query, 2, (heads + groups) * size, groups * size), groups)};
}

// [1 or B, L, R / 2]: the rows of a table for each query's position.
ir::ValueId TableRows(Composer& c, size_t table, const KeyCache& cache) {
  if (c.Has(kPositions)) return c.Op("Gather", {c.In(table), c.In(kPositions)});
  const ir::ValueId positions = cache.Positions(c);
  return c.Op("Gather", {c.In(table), c.Reshape(positions, {c.Shape(positions)[0], cache.rows})});
}

// A query sees the keys up to its own position; where `local_window_size` is set, only that many of
// them.
Status AddPositions(Composer& c, const KeyCache& cache, AttentionOperands& operands) {
  const int64_t window = c.node().Int("local_window_size", -1);
  if (window == 0) return Error(Code::kBadModel, "attribute 'local_window_size' is 0");
  operands.window_left = window < 0 ? -1 : window - 1;
  operands.window_right = 0;
  operands.offset = std::max<int64_t>(cache.filled, 0);
  if (cache.filled >= 0) return OkStatus();
  operands.rows = abi::RowOrigin::kOperand;
  operands.origins = c.Reshape(cache.fill, {cache.batch});
  return OkStatus();
}

}  // namespace

Status ExpandGroupQueryAttention(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckInputs(c));
  const int64_t heads = c.node().Int("num_heads", 0);
  Parts parts = SplitInputs(c, heads, c.node().Int("kv_num_heads", 0));
  AICF_RETURN_IF_ERROR(c.status());
  AICF_ASSIGN_OR_RETURN(const auto total,
                        ir::ConstantInts(c.graph(), c.node(), kTotal, "total_sequence_length"));
  const int64_t past = c.Has(kPastKey) ? c.Shape(c.In(kPastKey))[2] : 0;
  AICF_ASSIGN_OR_RETURN(const KeyCache cache,
                        KeyCache::Make(c, c.In(kLengths), c.Shape(parts.q)[2], past,
                                       total->empty() ? 0 : total->at(0)));
  if (c.node().Int("do_rotary", 0) != 0) {
    AICF_RETURN_IF_ERROR(RequireInput(c, kCos, "cos_cache"));
    const bool interleaved = c.node().Int("rotary_interleaved", 0) != 0;
    const ir::ValueId cos = TableRows(c, kCos, cache), sin = TableRows(c, kSin, cache);
    parts.q = Rotate(c, parts.q, cos, sin, interleaved);
    parts.k = Rotate(c, parts.k, cos, sin, interleaved);
  }
  const ir::ValueId keys = cache.Updated(c, c.In(kPastKey), parts.k);
  const ir::ValueId values = cache.Updated(c, c.In(kPastValue), parts.v);
  AICF_RETURN_IF_ERROR(c.status());
  AttentionOperands operands;
  operands.q = parts.q;
  operands.k = c.Window(keys, 2, 0, cache.total);
  operands.v = c.Window(values, 2, 0, cache.total);
  AICF_RETURN_IF_ERROR(c.status());
  AICF_RETURN_IF_ERROR(CheckAttentionHeads(c, operands.q, operands.k, operands.v));
  operands.scale = AttentionScale(c, c.Shape(parts.q)[3]);
  operands.softcap = c.node().Float("softcap", 0);
  if (c.Has(kAttentionBias)) operands.biases.push_back(c.In(kAttentionBias));
  AICF_RETURN_IF_ERROR(AddPositions(c, cache, operands));
  c.Output(kY, MergeHeads(c, Attend(c, operands).y));
  c.Output(kPresentKey, keys);
  c.Output(kPresentValue, values);
  if (c.Wants(kScores)) return Error(Code::kUnsupported, "output 3 (output_qk)");
  return c.status();
}

}  // namespace aicf
