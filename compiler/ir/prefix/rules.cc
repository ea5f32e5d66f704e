// The table, and the rules of ops that compute positions apart from each other or move them.
#include "compiler/ir/prefix/rules.h"

#include <algorithm>

#include "compiler/ir/attention_node.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/op_table.h"
#include "compiler/ir/prefix/conditions.h"
#include "compiler/ir/prefix/mixing_rules.h"

namespace aicf {

Status LowerElementwise(LowerContext&, const ir::Node&);  // see ops.def

namespace ir {
namespace {

std::string Always(const NodePair&) { return ""; }

// Every operand is broadcast to the result, position by position.
std::string Elementwise(const NodePair& p) {
  for (size_t i = 0; i < p.inputs(); ++i) {
    if (!p.has(i)) continue;
    std::string why = RequireSameBroadcast(p.L(i), p.S(i), p.OutL(0), p.OutS(0));
    if (!why.empty()) return why;
  }
  return "";
}

std::string Expand(const NodePair& p) {
  return RequireSameBroadcast(p.L(0), p.S(0), p.OutL(0), p.OutS(0));
}

std::string Reshape(const NodePair& p) {
  return RequireReshape(p.L(0), p.S(0), p.OutL(0), p.OutS(0));
}

// Along the concatenated axis only the last operand may shrink: everything before it keeps its
// place then.
std::string Concat(const NodePair& p) {
  const int axis = AxisOf(p, "axis", 0);
  for (size_t i = 0; i + 1 < p.inputs(); ++i) {
    std::string why = RequireSame(p, i, axis, "appends to");
    if (!why.empty()) return why;
  }
  return "";
}

std::string Split(const NodePair& p) { return RequireSame(p, 0, AxisOf(p, "axis", 0), "splits"); }

// Element i is element start + i * step of the input, in both.
std::string Slice(const NodePair& p) {
  const auto large = ResolveSlice(p.large_graph, p.large);
  const auto small = ResolveSlice(p.small_graph, p.small);
  if (!large.ok() || !small.ok()) return "its bounds are not known";
  if (std::ranges::find(small->extents, 0) != small->extents.end()) return "";  // no element
  for (int d = 0; d < p.L(0).rank(); ++d) {
    if (large->starts[d] != small->starts[d] || large->steps[d] != small->steps[d]) {
      return StrCat("its slice of axis ", d, " starts at ", large->starts[d],
                    " and, for smaller inputs, at ", small->starts[d]);
    }
  }
  return "";
}

// Elements that are added at the end of a padded axis would have another place in the small graph.
std::string Pad(const NodePair& p) {
  const auto large = ResolvePad(p.large_graph, p.large);
  const auto small = ResolvePad(p.small_graph, p.small);
  if (!large.ok() || !small.ok()) return "its pads are not known";
  const bool constant = p.large.Str("mode", "constant") == "constant";
  for (int d = 0; d < p.L(0).rank(); ++d) {
    const bool same = large->begin[d] == small->begin[d] && large->end[d] == small->end[d];
    const bool none = large->begin[d] == 0 && large->end[d] == 0;
    const bool padded = p.L(0)[d] != p.S(0)[d];
    if (!same || (padded && !none && (!constant || large->end[d] != 0))) {
      return StrCat("it adds to the end of axis ", d, ", which is padded");
    }
  }
  return p.has(2) ? RequireSameShape(p, 2) : "";
}

std::string Tile(const NodePair& p) {
  for (int d = 0; d < p.L(0).rank(); ++d) {
    const bool whole = p.L(0)[d] == p.OutL(0)[d] && p.S(0)[d] == p.OutS(0)[d];
    if (p.L(0)[d] == p.S(0)[d] || whole) continue;
    return RequireSame(p, 0, d, "repeats");
  }
  return "";
}

// Whether no index counts from the end. Constant indices are looked at; others may do so.
bool CountFromStart(const Value& indices, int64_t extent) {
  if (!indices.is_constant()) return false;
  for (int64_t i = 0; i < indices.constant.count(); ++i) {
    const int64_t at = indices.constant.IntAt(i);
    if (at < 0 || at >= extent) return false;
  }
  return true;
}

std::string Gather(const NodePair& p) {
  const int axis = AxisOf(p, "axis", 0);
  if (CountFromStart(p.small_graph.values[p.small.inputs[1]], p.S(0)[axis])) return "";
  return RequireSame(p, 0, axis, "picks from");
}

std::string GatherElements(const NodePair& p) {
  return RequireSame(p, 0, AxisOf(p, "axis", 0), "picks from");
}

std::string GatherND(const NodePair& p) {
  std::string why = RequireSame(p, 1, p.L(1).rank() - 1, "reads coordinates of");
  const int batch = static_cast<int>(p.large.Int("batch_dims", 0));
  for (int64_t d = batch; why.empty() && d < batch + p.L(1).back(); ++d) {
    why = RequireSame(p, 0, static_cast<int>(d), "picks from");
  }
  return why;
}

// One scale for all, or one per index of an axis that is whole.
std::string Quantize(const NodePair& p) {
  const auto spec = ResolveQuantize(p.large_graph, p.large);
  if (!spec.ok() || spec->block > 1) return "it quantises in blocks";
  std::string why = RequireSameShapes(p, 1);
  if (why.empty() && spec->block == 1 && p.L(0).rank() > 0) {
    why = RequireSame(p, 0, spec->axis, "quantises by");
  }
  return why;
}

constexpr PrefixRule kRules[] = {
    {"Identity", Always},
    {"Transpose", Always},
    {"Trilu", Always},
    {"Expand", Expand, 1u << 1},
    {"Reshape", Reshape, 1u << 1},
    {"Squeeze", Reshape, 1u << 1},
    {"Unsqueeze", Reshape, 1u << 1},
    {"Flatten", Reshape},
    {"Concat", Concat},
    {"Split", Split, 1u << 1},
    {"Slice", Slice, 0b11110},
    {"Pad", Pad, 0b1010},
    {"Tile", Tile, 1u << 1},
    {"Gather", Gather},
    {"GatherElements", GatherElements},
    {"GatherND", GatherND},
    {"QuantizeLinear", Quantize},
    {"DequantizeLinear", Quantize},
    {kAttention, Attention},
    {"MatMul", MatMul},
    {"MatMulInteger", MatMul},
    {"QLinearMatMul", QLinearMatMul},
    {"Gemm", Gemm},
    {"Conv", PerBatch},
    {"ConvTranspose", PerBatch},
    {"ConvInteger", PerBatch},
    {"QLinearConv", PerBatch},
    {"AveragePool", PerBatch},
    {"MaxPool", PerBatch},
    {"LpPool", PerBatch},
    {"GlobalAveragePool", PerBatch},
    {"GlobalMaxPool", PerBatch},
    {"InstanceNormalization", PerBatch},
    {"aicf.GroupNormalization", PerBatch},
    {"DepthToSpace", PerBatch},
    {"SpaceToDepth", PerBatch},
    {"GridSample", GridSample},
    {"Resize", Resize, 0b1100},
    {"BatchNormalization", BatchNormalization},
    {"Softmax", Softmax},
    {"LogSoftmax", Softmax},
    {"LayerNormalization", LayerNormalization},
    {"RMSNormalization", LayerNormalization},
    {"ArgMax", ArgExtreme},
    {"ArgMin", ArgExtreme},
    {"ReduceL1", Reduce, 1u << 1},
    {"ReduceL2", Reduce, 1u << 1},
    {"ReduceLogSum", Reduce, 1u << 1},
    {"ReduceLogSumExp", Reduce, 1u << 1},
    {"ReduceMax", Reduce, 1u << 1},
    {"ReduceMean", Reduce, 1u << 1},
    {"ReduceMin", Reduce, 1u << 1},
    {"ReduceProd", Reduce, 1u << 1},
    {"ReduceSum", Reduce, 1u << 1},
    {"ReduceSumSquare", Reduce, 1u << 1},
    {"CumSum", Cumulative, 1u << 1},
    {"CumProd", Cumulative, 1u << 1},
    {"TopK", TopK, 1u << 1},
    {"GRU", Recurrent},
    {"LSTM", Recurrent},
    {"RNN", Recurrent},
};

constexpr PrefixRule kElementwise = {"", Elementwise};

}  // namespace

const PrefixRule* FindPrefixRule(std::string_view op) {
  const auto* found = std::ranges::find(kRules, op, &PrefixRule::op);
  if (found != std::end(kRules)) return found;
  const OpInfo* info = FindOp(op);
  return info != nullptr && info->lower == &LowerElementwise ? &kElementwise : nullptr;
}

}  // namespace ir
}  // namespace aicf
