// com.microsoft Attention: the projection of one input to query, key and value comes with it.
#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/passes/composite/attention.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/contrib_masks.h"

namespace aicf {
namespace {

enum Input : size_t { kX, kWeights, kBias, kMask, kPast, kAttentionBias, kPastLength };
enum Output : size_t { kY, kPresent };

struct Sizes {
  int64_t q = 0, k = 0, v = 0;  ///< widths of the three parts
  int64_t heads = 0;
};

Result<Sizes> SizesOf(const Composer& c) {
  const Dims &x = c.Shape(c.In(kX)), &w = c.Shape(c.In(kWeights));
  if (x.rank() != 3 || w.rank() != 2 || x[2] != w[0]) {
    return Error(Code::kBadModel, "input ", ToString(x), " and weights ", ToString(w),
                 " do not multiply");
  }
  Sizes out{w[1] / 3, w[1] / 3, w[1] / 3, c.node().Int("num_heads", 0)};
  const std::vector<int64_t> given = c.node().Ints("qkv_hidden_sizes");
  if (given.size() == 3) out = {given[0], given[1], given[2], out.heads};
  const bool fits = out.q == out.k && out.q > 0 && out.v > 0 &&
                    Checked(out.q) + out.k + out.v == w[1] && out.heads > 0 &&
                    out.q % out.heads == 0 && out.v % out.heads == 0;
  if (fits) return out;
  return Error(Code::kBadModel, "weights ", ToString(w),
               " do not divide into query, key and value of ", out.heads, " heads");
}

Status CheckInputs(const Composer& c) {
  for (std::string_view name : {"do_rotary", "past_present_share_buffer"}) {
    AICF_RETURN_IF_ERROR(RefuseAttribute(c, name));
  }
  AICF_RETURN_IF_ERROR(RefuseInput(c, kPastLength, "past_sequence_length"));
  if (!c.Has(kPast)) return OkStatus();
  const Dims& past = c.Shape(c.In(kPast));
  if (past.rank() == 5 && past[0] == 2) return OkStatus();
  return Error(Code::kBadModel, "past has shape ", ToString(past), ", expected [2, B, N, P, H]");
}

// Keys (part 0) or values (part 1) of the cache: [B, N, P, H].
ir::ValueId PastPart(Composer& c, int64_t part) {
  const Dims s = c.Shape(c.In(kPast));
  return c.Reshape(c.Window(c.In(kPast), 0, part, 1), {s[1], s[2], s[3], s[4]});
}

ir::ValueId Stacked(Composer& c, ir::ValueId k, ir::ValueId v) {
  const Dims s = c.Shape(k);
  if (s.rank() != 4) return ir::kNoValue;
  const Dims one{1, s[0], s[1], s[2], s[3]};
  return c.Concat({c.Reshape(k, one), c.Reshape(v, one)}, 0);
}

}  // namespace

Status ExpandContribAttention(Composer& c) {
  AICF_RETURN_IF_ERROR(CheckInputs(c));
  AICF_ASSIGN_OR_RETURN(const Sizes sizes, SizesOf(c));
  ir::ValueId all = c.MatMul(c.In(kX), c.In(kWeights));
  if (c.Has(kBias)) all = c.Add(all, c.In(kBias));
  AttentionOperands operands;
  operands.q = SplitHeads(c, c.Window(all, 2, 0, sizes.q), sizes.heads);
  operands.k = SplitHeads(c, c.Window(all, 2, sizes.q, sizes.k), sizes.heads);
  operands.v = SplitHeads(c, c.Window(all, 2, sizes.q + sizes.k, sizes.v), sizes.heads);
  int64_t past = 0;
  if (c.Has(kPast)) {
    past = c.Shape(c.In(kPast))[3];
    operands.k = c.Concat({PastPart(c, 0), operands.k}, 2);
    operands.v = c.Concat({PastPart(c, 1), operands.v}, 2);
  }
  AICF_RETURN_IF_ERROR(c.status());
  const Dims q = c.Shape(operands.q);
  const Dims scores{q[0], q[1], q[2], c.Shape(operands.k)[2]};
  operands.scale = AttentionScale(c, q[3]);
  if (c.Has(kMask)) {
    operands.biases.push_back(PaddingBias(c, c.In(kMask), scores, past, c.Type(operands.q)));
  }
  if (c.Has(kAttentionBias)) operands.biases.push_back(c.In(kAttentionBias));
  if (c.node().Int("unidirectional", 0) != 0) {
    operands.window_right = 0;
    operands.offset = past;
  }
  c.Output(kY, MergeHeads(c, Attend(c, operands).y));
  if (c.Wants(kPresent)) c.Output(kPresent, Stacked(c, operands.k, operands.v));
  return c.status();
}

}  // namespace aicf
