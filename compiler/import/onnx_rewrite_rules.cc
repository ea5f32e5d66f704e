// Rules that changed from one opset to another.
#include "base/scanner.h"
#include "compiler/import/onnx_rewrite_forms.h"
#include "compiler/ir/legacy.h"
#include "compiler/ir/onnx_dtype.h"

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
  if (r.node.op == ir::kCastLike) return OkStatus();
  const auto to = r.node.attrs.find("to");
  if (to == r.node.attrs.end()) return Error(Code::kBadModel, "attribute 'to' is absent");
  int64_t type = r.node.Int("to", 0);
  if (const std::string* name = std::get_if<std::string>(&to->second)) type = OnnxTypeOf(*name);
  AICF_ASSIGN_OR_RETURN(const DType dtype, DTypeOfOnnx(type));
  to->second = std::string(DTypeName(dtype));
  if (IsFloat(dtype) && IsStorageOnly(dtype)) return OkStatus();
  Drop(r, "saturate");
  Drop(r, "round_mode");
  return OkStatus();
}

Status ResizeForms(NodeRewrite& r) {
  const bool crops = r.node.Str("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  const bool antialias =
      r.node.Int("antialias", 0) != 0 && r.node.Str("mode", "nearest") != "nearest";
  if (crops || antialias) r.node.op = "ResizeGeneral";
  if (r.opset >= 11) return OkStatus();
  // Opset 10 has the inputs (x, scales), and a single rule for coordinates.
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

Status BatchNormForms(NodeRewrite& r) {
  if (r.opset < 7 && r.node.Int("is_test", 0) == 0) return Unsupported("training (is_test is 0)");
  if (r.node.Int("spatial", 1) == 0) return Unsupported("statistics per element (spatial is 0)");
  const bool training = r.node.Int("training_mode", 0) != 0;
  if (training) r.node.op = "BatchNormalizationTraining";
  if (!training) Drop(r, "momentum");
  for (std::string_view key : {"is_test", "spatial", "training_mode"}) Drop(r, key);
  return OkStatus();
}

// Whether a Dropout trains is decided later, since the values that say so may still be bound.
Status DropoutForms(NodeRewrite& r) {
  if (r.opset < 7 && r.node.Int("is_test", 0) == 0) return Unsupported("training (is_test is 0)");
  if (r.opset < 10 && r.OutputUsed(1)) return Unsupported("the mask output of opset ", r.opset);
  if (!r.OutputUsed(1) && !r.HasInput(2)) {
    r.node.op = "Identity";
    r.node.inputs.resize(1, ir::kNoValue);
  }
  r.node.attrs.clear();
  return OkStatus();
}

Status LayerNormForms(NodeRewrite& r) {
  AICF_RETURN_IF_ERROR(DropAttributes(r));
  if (r.OutputUsed(1) || r.OutputUsed(2)) r.node.op = "LayerNormalizationStatistics";
  return OkStatus();
}

Status MaxPoolForms(NodeRewrite& r) {
  if (!r.OutputUsed(1)) return DropAttributes(r);
  r.node.op = "MaxPoolIndices";
  return OkStatus();
}

// Before opset 20 the axis was an attribute, by default the second axis.
Status OldDft(NodeRewrite& r) {
  if (r.opset >= 20) return OkStatus();
  r.SetInput(2, r.AddInts("axis", {r.node.Int("axis", 1)}));
  Drop(r, "axis");
  return OkStatus();
}

// The interpolations were named after images before opset 20.
Status GridSampleMode(NodeRewrite& r) {
  const std::string mode = r.node.Str("mode", "linear");
  if (mode == "bilinear") Set(r, "mode", std::string("linear"));
  if (mode == "bicubic") Set(r, "mode", std::string("cubic"));
  return OkStatus();
}

Status OldRoiAlign(NodeRewrite& r) {
  constexpr std::string_view kKey = "coordinate_transformation_mode";
  if (r.opset < 16 && !r.node.Has(kKey)) Set(r, kKey, std::string("output_half_pixel"));
  return OkStatus();
}

Status ScatterToElements(NodeRewrite& r) {
  r.node.op = "ScatterElements";
  return OkStatus();
}

Status DropAttributes(NodeRewrite& r) {
  if (r.node.Int("stash_type", 1) != 1)
    return Unsupported("statistics in another type (stash_type)");
  for (std::string_view key : {"broadcast", "stash_type", "storage_order"}) Drop(r, key);
  return OkStatus();
}

}  // namespace aicf
