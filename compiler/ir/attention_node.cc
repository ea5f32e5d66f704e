#include "compiler/ir/attention_node.h"

#include <algorithm>

#include "base/scanner.h"

namespace aicf::ir {
namespace {

constexpr std::string_view kOrigins[] = {"fixed", "last-keys", "operand"};

Result<abi::RowOrigin> ReadOrigin(const Node& node) {
  const std::string name = node.Str("rows", kOrigins[0]);
  const auto* found = std::ranges::find(kOrigins, name);
  if (found != std::end(kOrigins)) {
    return static_cast<abi::RowOrigin>(found - std::begin(kOrigins));
  }
  return Error(Code::kBadModel, "attribute 'rows' is ", Quote(name),
               ", expected fixed, last-keys or operand");
}

}  // namespace

Result<AttentionForm> ReadAttention(const Node& node) {
  AttentionForm form;
  abi::AttentionAttrs& a = form.attrs;
  a.scale = node.Float("scale", 1);
  a.lengths = node.input(kAttentionLengths) != kNoValue;
  a.pages = node.input(kAttentionTable) != kNoValue;
  AICF_ASSIGN_OR_RETURN(a.rows, ReadOrigin(node));
  a.offset = node.Int("offset", 0);
  a.window_left = node.Int("window_left", -1);
  a.window_right = node.Int("window_right", -1);
  if (std::min(a.window_left, a.window_right) < -1) {
    return Error(Code::kBadModel, "a window of ", std::min(a.window_left, a.window_right), " keys");
  }
  if (node.Has("score")) {
    AICF_ASSIGN_OR_RETURN(form.score, abi::ParseExpr(node.Str("score", "")));
  }
  return form;
}

AttrMap AttentionAttributes(const AttentionForm& form) {
  const abi::AttentionAttrs& a = form.attrs;
  AttrMap out;
  if (a.scale != 1) out["scale"] = a.scale;
  if (a.rows != abi::RowOrigin::kFixed) {
    out["rows"] = std::string(kOrigins[static_cast<size_t>(a.rows)]);
  }
  if (a.offset != 0) out["offset"] = a.offset;
  if (a.window_left != -1) out["window_left"] = a.window_left;
  if (a.window_right != -1) out["window_right"] = a.window_right;
  if (!form.score.empty()) out["score"] = abi::ToString(form.score);
  return out;
}

Dims AttentionDomain(const Graph& graph, const Node& node) {
  const Dims& q = graph.values[node.inputs[kAttentionQ]].shape;
  const Dims& k = graph.values[node.inputs[kAttentionK]].shape;
  const ValueId table = node.input(kAttentionTable);
  const int64_t pages = table == kNoValue ? 1 : graph.values[table].shape[1];
  return {q[0], q[1], q[2], pages * k[2]};
}

}  // namespace aicf::ir
