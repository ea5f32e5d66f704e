/// aicf.Attention: attention as one node, for every form in which models write it.
///
/// Its meaning is that of abi::AttentionAttrs (kernels/abi/attrs.h): softmax over the keys of
/// score(scale * q k^T), where a key is visible, times v. Passes see operands and a score
/// expression; how a target computes it is decided after lowering.
#pragma once

#include <string_view>

#include "compiler/ir/graph.h"
#include "kernels/abi/attrs.h"
#include "kernels/abi/expr.h"

namespace aicf::ir {

inline constexpr std::string_view kAttention = "aicf.Attention";

/// Inputs of the node; lengths, table and origins may be absent. The operands of the score
/// expression follow: input n of the expression is operand n - 1, broadcast to [B, Hq, Tq, Tk].
enum AttentionInput : size_t {
  kAttentionQ,        ///< [B, Hq, Tq, D]
  kAttentionK,        ///< [B, Hkv, Tk, D], Hkv a divisor of Hq
  kAttentionV,        ///< [B, Hkv, Tk, Dv]
  kAttentionLengths,  ///< i32 or i64 [B]: valid keys of each request
  kAttentionTable,    ///< i32 [B, N]: then k and v are pools of pages [P, Hkv, page, D or Dv]
  kAttentionOrigins,  ///< i32 or i64 [B]: position of row 0, with RowOrigin::kOperand only
  kAttentionOperands
};

/// What the node's attributes say; each is absent where it has the default.
///   scale, offset, window_left, window_right   as in abi::AttentionAttrs
///   rows     "fixed", "last-keys" or "operand"
///   score    the expression's text (kernels/abi/expr.h)
struct AttentionForm {
  abi::AttentionAttrs attrs;  ///< `lengths` and `pages` follow from the inputs
  abi::Expr score;            ///< empty: the scaled product
};

/// Reads the attributes of the node. Errors: kBadModel for one with an impossible value.
Result<AttentionForm> ReadAttention(const Node& node);
/// The attributes that express this form.
AttrMap AttentionAttributes(const AttentionForm& form);

/// The shape of the scores, [B, Hq, Tq, Tk]. REQUIRES: operands as above.
Dims AttentionDomain(const Graph& graph, const Node& node);

}  // namespace aicf::ir
