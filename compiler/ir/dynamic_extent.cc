#include "compiler/ir/dynamic_extent.h"

#include <algorithm>
#include <optional>

#include "base/scanner.h"
#include "compiler/ir/attention_node.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/op_table.h"

namespace aicf {
Status LowerElementwise(LowerContext& ctx, const ir::Node& node);
}

namespace aicf::ir {
namespace {

/// One counted input of a node. A rule gives the axis of the node's outputs that has the same
/// count; nullopt where the op would mix positions.
struct Use {
  const Graph& graph;
  const Node& node;
  size_t input;
  int axis;

  const Dims& Shape(size_t i) const { return graph.values[node.inputs[i]].shape; }
  const Dims& In() const { return Shape(input); }
  const Dims& Out(size_t i = 0) const { return graph.values[node.outputs[i]].shape; }
  int64_t extent() const { return In()[axis]; }
};
using MaybeAxis = std::optional<int>;
using Rule = MaybeAxis (*)(const Use&);

MaybeAxis Same(const Use& u) { return u.axis; }

// Shapes are aligned at the right. The result must have the extent of the counted operand.
MaybeAxis Broadcast(const Use& u) {
  const int axis = u.axis + u.Out().rank() - u.In().rank();
  return axis >= 0 && u.Out()[axis] == u.extent() ? MaybeAxis(axis) : std::nullopt;
}

MaybeAxis Transposed(const Use& u) {
  const Result<Dims> perm = ResolvePerm(u.graph, u.node);
  if (!perm.ok()) return std::nullopt;
  const auto at = std::find(perm->begin(), perm->end(), u.axis);
  return at == perm->end() ? std::nullopt : MaybeAxis(static_cast<int>(at - perm->begin()));
}

// The axis is still there if the result has an axis of the same extent with as many elements in
// front of it.
MaybeAxis Reshaped(const Use& u) {
  int64_t before = 1;
  for (int d = 0; d < u.axis; ++d) before *= u.In()[d];
  MaybeAxis found;
  int64_t prefix = 1;
  for (int d = 0; d < u.Out().rank(); ++d) {
    if (prefix == before && u.Out()[d] == u.extent()) {
      if (found) return std::nullopt;  // several axes of one element: which it is cannot be told
      found = d;
    }
    prefix *= u.Out()[d];
  }
  return found;
}

MaybeAxis Squeezed(const Use& u) {
  const Result<Dims> axes = ResolveAxes(u.graph, u.node);
  if (!axes.ok() || std::find(axes->begin(), axes->end(), u.axis) != axes->end()) {
    return std::nullopt;
  }
  int axis = u.axis;
  for (int64_t a : *axes) axis -= a < u.axis ? 1 : 0;
  return axis;
}

MaybeAxis Unsqueezed(const Use& u) {
  const Result<Dims> axes = ResolveAxes(u.graph, u.node);
  if (!axes.ok()) return std::nullopt;
  int axis = u.axis;
  for (int64_t a : *axes) axis += a <= axis ? 1 : 0;  // ascending
  return axis;
}

// Indices may be counted along any axis, data along the axes that are not gathered.
MaybeAxis Gathered(const Use& u) {
  const Result<int> axis = NormalizeAxis(u.node.Int("axis", 0), u.Shape(0).rank());
  if (!axis.ok()) return std::nullopt;
  if (u.input == 1) return *axis + u.axis;
  if (u.axis == *axis) return std::nullopt;
  return u.axis < *axis ? u.axis : u.axis + u.Shape(1).rank() - 1;
}

MaybeAxis GatheredElements(const Use& u) { return u.input == 1 ? MaybeAxis(u.axis) : std::nullopt; }

MaybeAxis GatheredPoints(const Use& u) {
  const bool tuple = u.axis == u.In().rank() - 1;
  return u.input == 1 && !tuple && u.axis >= u.node.Int("batch_dims", 0) ? MaybeAxis(u.axis)
                                                                         : std::nullopt;
}

// The slice has to take all positions of the axis, in their order.
MaybeAxis Sliced(const Use& u) {
  const Result<SliceSpec> spec = ResolveSlice(u.graph, u.node);
  const bool whole = u.input == 0 && spec.ok() && spec->starts[u.axis] == 0 &&
                     spec->steps[u.axis] == 1 && spec->extents[u.axis] == u.extent();
  return whole ? MaybeAxis(u.axis) : std::nullopt;
}

// All parts have the same count (Visit compares them) and are put beside each other, along another
// axis.
MaybeAxis Concatenated(const Use& u) {
  const Result<int> axis = NormalizeAxis(u.node.Int("axis", 0), u.In().rank());
  return axis.ok() && *axis != u.axis ? MaybeAxis(u.axis) : std::nullopt;
}

// For ops that mix positions along the axis that the attribute `axis` names (`fallback`: its
// default), and along no other axis.
MaybeAxis AcrossAxis(const Use& u, int64_t fallback) {
  const Result<int> axis = NormalizeAxis(u.node.Int("axis", fallback), u.In().rank());
  return u.input == 0 && axis.ok() && *axis != u.axis ? MaybeAxis(u.axis) : std::nullopt;
}
MaybeAxis AcrossLast(const Use& u) { return AcrossAxis(u, -1); }
MaybeAxis AcrossFirst(const Use& u) { return AcrossAxis(u, 0); }

MaybeAxis Reduced(const Use& u, const Dims& axes) {
  if (u.input != 0 || std::find(axes.begin(), axes.end(), u.axis) != axes.end()) {
    return std::nullopt;
  }
  int axis = u.axis;
  if (u.Out().rank() < u.In().rank()) {
    for (int64_t a : axes) axis -= a < u.axis ? 1 : 0;
  }
  return axis;
}
MaybeAxis ReducedAxes(const Use& u) {
  const Result<Dims> axes = ResolveAxes(u.graph, u.node);
  return axes.ok() ? Reduced(u, *axes) : std::nullopt;
}
MaybeAxis ReducedArg(const Use& u) {
  const Result<int> axis = NormalizeAxis(u.node.Int("axis", 0), u.In().rank());
  return axis.ok() ? Reduced(u, {*axis}) : std::nullopt;
}

// A running sum reads only what comes before a position, so positions beyond the count change none
// within it.
MaybeAxis Scanned(const Use& u) {
  const Result<int> axis = ResolveScanAxis(u.graph, u.node);
  if (u.input != 0 || !axis.ok()) return std::nullopt;
  const bool reverse = u.node.Int("reverse", 0) != 0;
  return *axis != u.axis || !reverse ? MaybeAxis(u.axis) : std::nullopt;
}

// Rows of A, columns of B, or the batch of one of them may be counted.
MaybeAxis Multiplied(const Use& u) {
  const int rank = u.In().rank();
  if (rank == 1) return std::nullopt;
  const int summed = u.input == 0 ? rank - 1 : rank - 2;
  if (u.input > 1 || u.axis == summed || u.Shape(1 - u.input).rank() == 1) return std::nullopt;
  return Broadcast(u);
}

MaybeAxis GemmRows(const Use& u) {
  const bool rows = u.input == 0 && u.axis == 0 && u.node.Int("transA", 0) == 0;
  return rows ? MaybeAxis(0) : std::nullopt;
}

// For ops that normalise over all axes from `axis` on: an axis in front of it may be counted.
MaybeAxis BeforeAxis(const Use& u) {
  const Result<int> axis = NormalizeAxis(u.node.Int("axis", -1), u.In().rank());
  return u.input == 0 && axis.ok() && u.axis < *axis ? MaybeAxis(u.axis) : std::nullopt;
}

MaybeAxis Batch(const Use& u) { return u.input == 0 && u.axis == 0 ? MaybeAxis(0) : std::nullopt; }

// Requests and rows of queries may be counted. Operands of the score are aligned with
// [B, Hq, Tq, Tk] at the right.
MaybeAxis Attended(const Use& u) {
  const bool operand = u.input >= kAttentionOperands;
  const int axis = operand ? u.axis + 4 - u.In().rank() : u.axis;
  const bool rows = axis == 2 && (u.input == kAttentionQ || operand);
  return (axis == 0 || rows) && u.Out()[axis] == u.extent() ? MaybeAxis(axis) : std::nullopt;
}

// Boxes and their batch indices may be counted, since each gives one result.
MaybeAxis PerBox(const Use& u) { return u.input > 0 && u.axis == 0 ? MaybeAxis(0) : std::nullopt; }

/// Whether an input that is not counted may stand beside a counted one; here Use::axis is the axis
/// of the result that is counted.
using Partner = bool (*)(const Use&);

// The input, aligned at the right, has to repeat along the counted axis.
bool Repeats(const Use& u) {
  const int axis = u.axis + u.In().rank() - u.Out().rank();
  return axis < 0 || u.In()[axis] == 1;
}
// The last two axes belong to the product itself, so that only the batch has to repeat.
bool RepeatsBatch(const Use& u) { return u.axis >= u.Out().rank() - 2 || Repeats(u); }
bool RepeatsAddend(const Use& u) { return u.input != 2 || Repeats(u); }
// Along the requests, every input that is not counted has to repeat. Along the rows, only inputs
// that have rows do: queries and operands of the score.
bool RepeatsScores(const Use& u) {
  if (u.axis != 0 && u.input != kAttentionQ && u.input < kAttentionOperands) return true;
  const int axis = u.input < kAttentionOperands ? u.axis : u.axis + u.In().rank() - 4;
  return axis < 0 || u.In()[axis] == 1;
}
bool IsMap(const Use& u) { return u.input == 0; }
bool Never(const Use&) { return false; }

struct OpRule {
  std::string_view op;
  Rule rule;
  Partner partner = nullptr;  ///< nullptr: other inputs do not matter
};

constexpr OpRule kElementwise = {"", Broadcast, Repeats};

// Elementwise ops need no row. All other ops without a row are refused.
constexpr OpRule kOpRules[] = {
    {kAttention, Attended, RepeatsScores},
    {"ArgMax", ReducedArg},
    {"ArgMin", ReducedArg},
    {"AveragePool", Batch},
    {"BitCast", Same},
    {"Cast", Same},
    {"Concat", Concatenated, Never},
    {"Conv", Batch},
    {"ConvTranspose", Batch},
    {"CumProd", Scanned},
    {"CumSum", Scanned},
    {"Expand", Broadcast},
    {"Flatten", Reshaped},
    {"Gather", Gathered},
    {"GatherElements", GatheredElements},
    {"GatherND", GatheredPoints},
    {"Gemm", GemmRows, RepeatsAddend},
    {"GlobalAveragePool", Batch},
    {"GlobalMaxPool", Batch},
    {"Identity", Same},
    {"LayerNormalization", BeforeAxis},
    {"LogSoftmax", AcrossLast},
    {"MatMul", Multiplied, RepeatsBatch},
    {"MaxPool", Batch},
    {"MaxRoiPool", PerBox},
    {"ReduceL1", ReducedAxes},
    {"ReduceL2", ReducedAxes},
    {"ReduceLogSum", ReducedAxes},
    {"ReduceLogSumExp", ReducedAxes},
    {"ReduceMax", ReducedAxes},
    {"ReduceMean", ReducedAxes},
    {"ReduceMin", ReducedAxes},
    {"ReduceProd", ReducedAxes},
    {"ReduceSum", ReducedAxes},
    {"ReduceSumSquare", ReducedAxes},
    {"Reshape", Reshaped},
    {"RoiAlign", PerBox, IsMap},
    {"Slice", Sliced},
    {"Softmax", AcrossLast},
    {"Split", AcrossFirst},
    {"Squeeze", Squeezed},
    {"TopK", AcrossLast},
    {"Transpose", Transposed},
    {"Unsqueeze", Unsqueezed},
};

const OpRule* FindOpRule(const Node& node) {
  const OpInfo* op = FindOp(node.op);
  if (op != nullptr && op->lower == LowerElementwise) return &kElementwise;
  const auto* row = std::find_if(std::begin(kOpRules), std::end(kOpRules),
                                 [&](const OpRule& r) { return r.op == node.op; });
  return row == std::end(kOpRules) ? nullptr : row;
}

Status Refused(const Graph& graph, const Node& node, ValueId value, const DynamicExtent& extent) {
  const Value& v = graph.values[value];
  return Error(Code::kUnsupported, node.op, " node ", Quote(node.name), ": value ", Quote(v.name),
               " has at most ", v.shape[extent.axis], " positions along axis ", extent.axis,
               ", how many is known only at run time, and ", node.op,
               " would read those that hold no data");
}

}  // namespace

const DynamicExtent* DynamicExtents::Of(ValueId value) const {
  const auto it = extents_.find(value);
  return it == extents_.end() ? nullptr : &it->second;
}

Status DynamicExtents::Visit(const Graph& graph, const Node& node) {
  std::optional<DynamicExtent> out;
  if (node.op == kCounted) {
    out = DynamicExtent{static_cast<int>(node.Int("axis", 0)), node.inputs[1]};
  }
  const OpRule* row = FindOpRule(node);
  ValueId counted = kNoValue;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const DynamicExtent* in = node.inputs[i] == kNoValue ? nullptr : Of(node.inputs[i]);
    if (in == nullptr) continue;
    counted = node.inputs[i];
    const MaybeAxis axis = row == nullptr ? std::nullopt : row->rule({graph, node, i, in->axis});
    if (!axis || (out && *out != DynamicExtent{*axis, in->count})) {
      return Refused(graph, node, counted, *in);
    }
    out = DynamicExtent{*axis, in->count};
  }
  for (size_t i = 0; counted != kNoValue && i < node.inputs.size(); ++i) {
    const bool other = node.inputs[i] != kNoValue && Of(node.inputs[i]) == nullptr;
    if (!other || row->partner == nullptr || row->partner({graph, node, i, out->axis})) continue;
    return Refused(graph, node, counted, *Of(counted));
  }
  for (ValueId v : node.outputs) {
    if (out && v != kNoValue) extents_[v] = *out;
  }
  return OkStatus();
}

Result<DynamicExtents> FindDynamicExtents(const Graph& graph) {
  DynamicExtents extents;
  for (const Node& node : graph.nodes) AICF_RETURN_IF_ERROR(extents.Visit(graph, node));
  return extents;
}

}  // namespace aicf::ir
