#include "compiler/import/onnx_rewrites.h"

#include <set>

#include "compiler/import/onnx_rewrite_forms.h"
#include "compiler/ir/legacy.h"
#include "compiler/ir/op_table.h"

namespace aicf {
namespace {

struct RewriteRow {
  std::string_view op;
  Status (*rewrite)(NodeRewrite&);
};

// Ops without a row are the same in every opset.
constexpr RewriteRow kRewrites[] = {
    {"Add", OldBroadcast},
    {"And", OldBroadcast},
    {"BatchNormalization", BatchNormForms},
    {"BitCast", CastTarget},
    {"Cast", CastTarget},
    {ir::kCastLike, CastTarget},
    {"Clip", ClipToInputs},
    {"Concat", OldConcat},
    {"DFT", OldDft},
    {"DequantizeLinear", QuantizeForms},
    {"Div", OldBroadcast},
    {"Dropout", DropoutForms},
    {"Equal", OldBroadcast},
    {"Gemm", DropAttributes},
    {"Greater", OldBroadcast},
    {"GridSample", GridSampleMode},
    {"GroupNormalization", DropAttributes},
    {"Hardmax", OldSoftmax},
    {"LayerNormalization", LayerNormForms},
    {"Less", OldBroadcast},
    {"LogSoftmax", OldSoftmax},
    {"LpPool", OldLpPool},
    {"MaxPool", MaxPoolForms},
    {"Mul", OldBroadcast},
    {"Or", OldBroadcast},
    {"PRelu", OldPRelu},
    {"Pad", PadToInputs},
    {"Pow", OldBroadcast},
    {"QuantizeLinear", QuantizeForms},
    {"ReduceL1", AxesToInput},
    {"ReduceL2", AxesToInput},
    {"ReduceLogSum", AxesToInput},
    {"ReduceLogSumExp", AxesToInput},
    {"ReduceMax", AxesToInput},
    {"ReduceMean", AxesToInput},
    {"ReduceMin", AxesToInput},
    {"ReduceProd", AxesToInput},
    {"ReduceSum", AxesToInput},
    {"ReduceSumSquare", AxesToInput},
    {"RMSNormalization", DropAttributes},
    {"Reshape", ShapeToInput},
    {"Resize", ResizeForms},
    {"RoiAlign", OldRoiAlign},
    {"Scatter", ScatterToElements},
    {"Selu", OldSelu},
    {"Slice", BoundsToInputs},
    {"Softmax", OldSoftmax},
    {"Split", SplitToInput},
    {"Squeeze", AxesToInput},
    {"Sub", OldBroadcast},
    {"Tile", OldTile},
    {"TopK", KToInput},
    {"Unsqueeze", AxesToInput},
    {"Upsample", UpsampleToResize},
    {"Xor", OldBroadcast},
    {"com.microsoft.DequantizeLinear", QuantizeForms},
    {"com.microsoft.QuantizeLinear", QuantizeForms},
};

const RewriteRow* FindRewrite(std::string_view op) {
  for (const RewriteRow& row : kRewrites) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

Status CheckInputs(const ir::Node& node, int min_inputs, int max_inputs) {
  const int count = static_cast<int>(node.inputs.size());
  if (count < min_inputs || (max_inputs >= 0 && count > max_inputs)) {
    return Error(Code::kBadModel, "has ", count, " inputs, expected ",
                 max_inputs == min_inputs ? StrCat(min_inputs)
                 : max_inputs < 0         ? StrCat("at least ", min_inputs)
                                          : StrCat(min_inputs, " to ", max_inputs));
  }
  for (int i = 0; i < count; ++i) {
    // In a list of inputs that may be empty (Loop, Scan), every one is optional.
    const bool optional = max_inputs >= 0 ? i >= min_inputs : min_inputs == 0;
    if (node.inputs[i] == ir::kNoValue && !optional) {
      return Error(Code::kBadModel, "input ", i, " is absent, but required");
    }
  }
  return OkStatus();
}

// Drops outputs that the op does not have in the IR. An error where something reads one.
Status TrimOutputs(NodeRewrite& r, int outputs) {
  ir::Node& node = r.node;
  const size_t keep = outputs < 0 ? node.outputs.size() : static_cast<size_t>(outputs);
  for (size_t i = keep; i < node.outputs.size(); ++i) {
    if (!r.OutputUsed(i)) continue;
    return Error(Code::kUnsupported, "output ", i, " of ", node.op, " is not computed");
  }
  node.outputs.resize(keep, ir::kNoValue);
  for (ir::ValueId v : node.outputs) {
    if (v != ir::kNoValue) return OkStatus();
  }
  return Error(Code::kBadModel, "has no outputs");
}

}  // namespace

ir::ValueId NodeRewrite::AddConstant(std::string_view what, ir::Tensor tensor) {
  ir::Value value;
  std::string base = StrCat(node.name, ".", what);
  for (size_t i = node.outputs.size(); i-- > 0;) {
    if (node.outputs[i] == ir::kNoValue) continue;
    base = StrCat(graph.values[node.outputs[i]].name, ".", what);
  }
  value.name = base;
  for (int i = 1; names.contains(value.name); ++i) value.name = StrCat(base, ".", i);
  value.dtype = tensor.dtype();
  value.shape = tensor.shape();
  value.shape_known = true;
  value.constant = std::move(tensor);
  const ir::ValueId id = static_cast<ir::ValueId>(graph.values.size());
  names.emplace(value.name, id);
  return graph.AddValue(std::move(value));
}

ir::ValueId NodeRewrite::AddInts(std::string_view what, const std::vector<int64_t>& values) {
  return AddConstant(
      what, ir::Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(values.size())},
                                            std::span<const int64_t>(values)));
}

ir::ValueId NodeRewrite::AddScalar(std::string_view what, double value) {
  const float single = static_cast<float>(value);
  return AddConstant(what, ir::Tensor::FromValues<float>(DType::kF32, {}, std::span(&single, 1)));
}

void NodeRewrite::SetInput(size_t i, ir::ValueId value) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, ir::kNoValue);
  node.inputs[i] = value;
}

bool CanImport(const std::string& op) {
  return op == "Constant" || FindRewrite(op) != nullptr || ir::FindOp(op) != nullptr;
}

std::vector<std::string> ImportableOps() {
  // Forms that importing and expansion make for themselves.
  static constexpr std::string_view kInternal[] = {"BatchNormalizationTraining",
                                                   "LayerNormalizationStatistics", "MaxPoolIndices",
                                                   "ResizeGeneral"};
  std::set<std::string> ops = {"Constant"};
  for (const RewriteRow& row : kRewrites) ops.emplace(row.op);
  for (const ir::OpInfo& op : ir::AllOps()) ops.emplace(op.name);
  for (std::string_view op : kInternal) ops.erase(std::string(op));
  std::erase_if(ops, [](const std::string& op) { return op.starts_with("aicf."); });
  return {ops.begin(), ops.end()};
}

Status RewriteToNewest(NodeRewrite& r) {
  if (const RewriteRow* row = FindRewrite(r.node.op)) AICF_RETURN_IF_ERROR(row->rewrite(r));
  while (!r.node.inputs.empty() && r.node.inputs.back() == ir::kNoValue) r.node.inputs.pop_back();
  if (r.node.op == ir::kCastLike) {
    AICF_RETURN_IF_ERROR(CheckInputs(r.node, 2, 2));
    return TrimOutputs(r, 1);
  }
  const ir::OpInfo* op = ir::FindOp(r.node.op);
  AICF_RETURN_IF_ERROR(CheckInputs(r.node, op->min_inputs, op->max_inputs));
  return TrimOutputs(r, op->outputs);
}

}  // namespace aicf
