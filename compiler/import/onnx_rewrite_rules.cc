// Rules that changed from one opset to another.
#include "base/scanner.h"
#include "compiler/import/onnx_dtype.h"
#include "compiler/import/onnx_rewrite_forms.h"
#include "compiler/ir/legacy.h"

namespace aicf {
namespace {

template <class... Pieces>
Status Unsupported(const Pieces&... pieces) {
  return Error(Code::kUnsupported, pieces...);
}

void Drop(NodeRewrite& r, std::string_view key) {
  const auto it = r.node.attrs.find(key);
  if (it != r.node.attrs.end()) r.node.attrs.erase(it);
}

void Set(NodeRewrite& r, std::string_view key, ir::AttrValue value) {
  r.node.attrs.insert_or_assign(std::string(key), std::move(value));
}

}  // namespace

Status OldBroadcast(NodeRewrite& r) {
  const bool broadcast = r.node.Int("broadcast", 0) != 0;
  const bool has_axis = r.node.Has("axis");
  const int64_t axis = r.node.Int("axis", 0);
  Drop(r, "broadcast");
  Drop(r, "axis");
  // Without an axis the old rule lines up the last axes, as the new one does.
  if (broadcast && has_axis) Set(r, ir::kLegacyAxis, axis);
  return OkStatus();
}

Status OldPRelu(NodeRewrite& r) {
  if (r.opset < 7) Set(r, ir::kLegacyChannelSlope, int64_t{1});
  return OkStatus();
}

Status OldSoftmax(NodeRewrite& r) {
  if (r.opset >= 13) return OkStatus();
  Set(r, "axis", r.node.Int("axis", 1));
  Set(r, ir::kLegacyFlatten, int64_t{1});
  return OkStatus();
}

Status OldConcat(NodeRewrite& r) {
  if (r.opset < 4 && !r.node.Has("axis")) Set(r, "axis", int64_t{1});
  return OkStatus();
}

Status OldSelu(NodeRewrite& r) {
  if (r.opset >= 6) return OkStatus();
  if (!r.node.Has("alpha")) Set(r, "alpha", static_cast<double>(1.6732f));
  if (!r.node.Has("gamma")) Set(r, "gamma", static_cast<double>(1.0507f));
  return OkStatus();
}

Status OldLpPool(NodeRewrite& r) {
  const auto p = r.node.attrs.find("p");
  if (p == r.node.attrs.end() || !std::holds_alternative<double>(p->second)) return OkStatus();
  const double value = std::get<double>(p->second);
  if (value != 1 && value != 2) return Unsupported("exponent p that is neither 1 nor 2");
  p->second = static_cast<int64_t>(value);
  return OkStatus();
}

Status OldTile(NodeRewrite& r) {
  return r.opset < 6 ? Unsupported("the form of opset ", r.opset, " (tiles and axis)") : OkStatus();
}

Status CastTarget(NodeRewrite& r) {
  Drop(r, "saturate");    // only 8-bit floats saturate
  Drop(r, "round_mode");  // only 8-bit scales round otherwise
  if (r.node.op == ir::kCastLike) return OkStatus();
  const auto to = r.node.attrs.find("to");
  if (to == r.node.attrs.end()) return Error(Code::kBadModel, "attribute 'to' is absent");
  int64_t type = r.node.Int("to", 0);
  if (const std::string* name = std::get_if<std::string>(&to->second)) type = OnnxTypeOf(*name);
  AICF_ASSIGN_OR_RETURN(const DType dtype, DTypeOfOnnx(type));
  to->second = std::string(DTypeName(dtype));
  return OkStatus();
}

Status ResizeForms(NodeRewrite& r) {
  if (r.opset >= 11) return OkStatus();
  // (x, scales), and one coordinate rule.
  if (r.node.inputs.size() != 2)
    return Error(Code::kBadModel, "has ", r.node.inputs.size(), " inputs");
  r.node.inputs = {r.node.inputs[0], ir::kNoValue, r.node.inputs[1]};
  Set(r, "coordinate_transformation_mode", std::string("asymmetric"));
  Set(r, ir::kLegacyNearest, int64_t{1});
  return OkStatus();
}

Status UpsampleToResize(NodeRewrite& r) {
  r.node.op = "Resize";
  const auto scales = r.node.attrs.find("scales");
  if (scales != r.node.attrs.end()) {
    if (r.node.inputs.size() != 1)
      return Error(Code::kBadModel, "has scales as attribute and input");
    const auto& given = std::get<std::vector<double>>(scales->second);
    const std::vector<float> values(given.begin(), given.end());
    r.SetInput(1, r.AddConstant("scales", ir::Tensor::FromValues<float>(
                                              DType::kF32, {static_cast<int64_t>(values.size())},
                                              std::span<const float>(values))));
    Drop(r, "scales");
  }
  if (r.node.inputs.size() != 2) return Unsupported("the form of opset ", r.opset);
  r.node.inputs = {r.node.inputs[0], ir::kNoValue, r.node.inputs[1]};
  const std::string mode = r.node.Str("mode", "nearest");
  Set(r, "mode", mode == "bilinear" || mode == "trilinear" ? std::string("linear") : mode);
  Set(r, "coordinate_transformation_mode", std::string("asymmetric"));
  Set(r, "nearest_mode", std::string("floor"));
  return OkStatus();
}

Status BatchNormInference(NodeRewrite& r) {
  if (r.opset < 7 && r.node.Int("is_test", 0) == 0) return Unsupported("training (is_test is 0)");
  if (r.node.Int("training_mode", 0) != 0) return Unsupported("training (training_mode is 1)");
  if (r.node.Int("spatial", 1) == 0) return Unsupported("statistics per element (spatial is 0)");
  for (std::string_view key : {"is_test", "momentum", "spatial", "training_mode"}) Drop(r, key);
  return OkStatus();
}

Status DropoutToIdentity(NodeRewrite& r) {
  if (r.opset < 7 && r.node.Int("is_test", 0) == 0) return Unsupported("training (is_test is 0)");
  if (r.HasInput(2)) {
    const ir::Value& training = r.graph.values[r.node.inputs[2]];
    if (!training.is_constant() || training.constant.count() != 1 ||
        training.constant.IntAt(0) != 0) {
      return Unsupported("training (training_mode is not the constant false)");
    }
  }
  if (r.OutputUsed(1)) return Unsupported("the mask output");
  r.node.op = "Identity";
  r.node.attrs.clear();
  r.node.inputs.resize(1, ir::kNoValue);
  return OkStatus();
}

Status DropAttributes(NodeRewrite& r) {
  if (r.node.Int("stash_type", 1) != 1)
    return Unsupported("statistics in another type (stash_type)");
  for (std::string_view key : {"broadcast", "stash_type", "storage_order"}) Drop(r, key);
  return OkStatus();
}

}  // namespace aicf
