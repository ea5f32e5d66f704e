/// Scaled dot-product attention, the part that the standard's op and the contrib ops share.
#pragma once

#include <optional>
#include <vector>

#include "compiler/passes/composite/composer.h"
#include "kernels/abi/attrs.h"

namespace aicf {

/// Operands of softmax(cap(q k^T * scale) + biases) v. A key counts where `allowed` is true and the
/// query sees it by its position. The number of heads H is a multiple of the heads G of k and v:
/// query head h reads key head h / (H / G). Biases and masks broadcast to [B, H, L, S] from the
/// right. A query that sees no key, or all of whose scores are minus infinity, gives 0.
struct AttentionOperands {
  ir::ValueId q = ir::kNoValue;        ///< [B, H, L, D]
  ir::ValueId k = ir::kNoValue;        ///< [B, G, S, D]
  ir::ValueId v = ir::kNoValue;        ///< [B, G, S, Dv]
  ir::ValueId lengths = ir::kNoValue;  ///< integers [B]: keys that count; absent: all
  ir::ValueId origins = ir::kNoValue;  ///< i64 [B]: position of query 0, with RowOrigin::kOperand
  double scale = 1;
  double softcap = 0;                ///< c * tanh(x / c) of the scaled product; 0: none
  std::vector<ir::ValueId> biases;   ///< of a float dtype
  std::vector<ir::ValueId> allowed;  ///< bool: where it is false, the score is minus infinity
  abi::RowOrigin rows = abi::RowOrigin::kFixed;  ///< this and the next three: abi::AttentionAttrs
  int64_t offset = 0;
  int64_t window_left = -1;
  int64_t window_right = -1;
  std::optional<DType> softmax_type;  ///< dtype of the softmax, that of q when absent
};

/// Each of shape [B, H, L, S], but for y: [B, H, L, Dv].
struct AttentionStages {
  ir::ValueId y = ir::kNoValue;
  ir::ValueId product = ir::kNoValue;  ///< q k^T * scale
  ir::ValueId capped = ir::kNoValue;   ///< after the softcap; `product` itself without one
  ir::ValueId biased = ir::kNoValue;   ///< with biases and masks: what the softmax reads
  ir::ValueId probabilities = ir::kNoValue;
};

/// Adds attention to the graph. Where one aicf.Attention node can express it, only y is set.
/// Otherwise it becomes a product, a softmax and a product, and the condition that failed is
/// recorded. `stages`: the caller wants the stages before y as well, which one node cannot give.
/// REQUIRES: q, k and v of rank 4 whose extents agree as above (CheckAttentionHeads).
AttentionStages Attend(Composer& c, const AttentionOperands& operands, bool stages = false);

/// Like Attend, but always as a product, a softmax and a product (attention_stages.cc).
AttentionStages AttendInStages(Composer& c, const AttentionOperands& operands);

/// q k^T * scale: [B, H, L, S]. REQUIRES, here and for WeightedValues: extents that fit.
ir::ValueId AttentionScores(Composer& c, ir::ValueId q, ir::ValueId k, double scale);
/// probabilities [B, H, L, S], in any float dtype, times v: [B, H, L, Dv].
ir::ValueId WeightedValues(Composer& c, ir::ValueId probabilities, ir::ValueId v);

/// Errors: kBadModel when the extents of q, k and v do not fit together.
Status CheckAttentionHeads(const Composer& c, ir::ValueId q, ir::ValueId k, ir::ValueId v);

/// [B, L, heads * D] as [B, heads, L, D]; a value of rank 4 stays as it is.
/// Errors: kBadModel when heads does not divide the last extent.
ir::ValueId SplitHeads(Composer& c, ir::ValueId x, int64_t heads);
/// [B, H, L, D] as [B, L, H * D].
ir::ValueId MergeHeads(Composer& c, ir::ValueId x);

/// bool [L, S]: key j is at most query i + offset. kNoValue when that is so everywhere.
ir::ValueId CausalMask(Composer& c, int64_t rows, int64_t keys, int64_t offset);

}  // namespace aicf
