// Resize: scales and sizes of the axes it names, completed to all axes.
#include <algorithm>
#include <cmath>

#include "compiler/ir/infer/common.h"
#include "compiler/ir/infer/not_constant.h"

namespace aicf::ir {
namespace {

// Older exporters write an empty tensor for an absent input.
bool HasElements(const Graph& graph, const Node& node, size_t i) {
  return HasInput(node, i) && ElementCount(InShape(graph, node, i)) != 0;
}

Result<std::vector<int>> NamedAxes(const Node& node, int rank) {
  std::vector<int> out;
  if (!node.Has("axes")) {
    for (int i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  const std::vector<int64_t> given = node.Ints("axes");
  AICF_RETURN_IF_ERROR(NormalizeAxes(given, rank).status());
  for (int64_t a : given) out.push_back(static_cast<int>(a < 0 ? a + rank : a));
  return out;
}

Status FromScales(const Graph& graph, const Node& node, const std::vector<int>& axes,
                  ResizeSpec& spec) {
  const Value& v = In(graph, node, 2);
  if (!IsFloat(v.dtype)) return BadNode("scales is ", DTypeName(v.dtype));
  if (ElementCount(v.shape) != static_cast<int64_t>(axes.size()) || v.shape.rank() != 1) {
    return BadNode("scales has shape ", ToString(v.shape), ", expected ", axes.size());
  }
  if (!v.is_constant()) return NotConstant(graph, node.inputs[2], "scales");
  for (size_t i = 0; i < axes.size(); ++i) {
    const double scale = v.constant.FloatAt(static_cast<int64_t>(i));
    if (!(scale > 0) || scale > 0x1p31) return BadNode("scales holds ", scale);
    // The standard multiplies in single precision.
    const float extent = static_cast<float>(spec.output[axes[i]]) * static_cast<float>(scale);
    if (!(extent < 0x1p62f)) return BadNode("its extents overflow");
    spec.output[axes[i]] = static_cast<int64_t>(std::floor(extent));
    spec.scales[axes[i]] = scale;
  }
  return OkStatus();
}

// Uses one scale for all axes: the smallest or the largest of those that sizes asks for.
Status KeepAspectRatio(const std::string& policy, const Dims& in, const std::vector<int>& axes,
                       ResizeSpec& spec) {
  if (policy != "not_larger" && policy != "not_smaller") {
    return BadNode("keep_aspect_ratio_policy is ", Quote(policy));
  }
  if (axes.empty()) return OkStatus();
  double scale = spec.scales[axes[0]];
  for (int a : axes) {
    scale =
        policy == "not_larger" ? std::min(scale, spec.scales[a]) : std::max(scale, spec.scales[a]);
  }
  for (int a : axes) {
    const double extent = std::round(scale * static_cast<double>(in[a]));
    if (!(extent < 0x1p62)) return BadNode("its extents overflow");
    spec.scales[a] = scale;
    spec.output[a] = static_cast<int64_t>(extent);
  }
  return OkStatus();
}

Status FromSizes(const Graph& graph, const Node& node, const std::vector<int>& axes,
                 ResizeSpec& spec) {
  AICF_ASSIGN_OR_RETURN(const auto sizes, RequiredInts(graph, node, 3, "sizes"));
  if (sizes.size() != axes.size()) {
    return BadNode("sizes has ", sizes.size(), " entries, expected ", axes.size());
  }
  const Dims in = spec.output;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t from = in[axes[i]];
    if (sizes[i] < 1 && !(sizes[i] == 0 && from == 0)) return BadNode("sizes holds ", sizes[i]);
    if (from == 0 && sizes[i] != 0) return BadNode("it resizes an axis of extent 0");
    spec.output[axes[i]] = sizes[i];
    spec.scales[axes[i]] = from == 0 ? 1 : static_cast<float>(sizes[i]) / static_cast<float>(from);
  }
  const std::string policy = node.Str("keep_aspect_ratio_policy", "stretch");
  return policy == "stretch" ? OkStatus() : KeepAspectRatio(policy, in, axes, spec);
}

Status CheckModes(const Node& node) {
  const std::string mode = node.Str("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return BadNode("mode is ", Quote(mode));
  constexpr std::string_view kCoordinates[] = {"half_pixel",           "pytorch_half_pixel",
                                               "align_corners",        "asymmetric",
                                               "half_pixel_symmetric", "tf_half_pixel_for_nn"};
  const std::string coordinates = node.Str("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_crop_and_resize") {
    return Error(Code::kUnsupported, "coordinate_transformation_mode tf_crop_and_resize");
  }
  if (std::ranges::find(kCoordinates, coordinates) == std::end(kCoordinates)) {
    return BadNode("coordinate_transformation_mode is ", Quote(coordinates));
  }
  constexpr std::string_view kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil"};
  const std::string nearest = node.Str("nearest_mode", "round_prefer_floor");
  if (std::ranges::find(kNearest, nearest) == std::end(kNearest)) {
    return BadNode("nearest_mode is ", Quote(nearest));
  }
  if (node.Int("antialias", 0) == 0 || mode == "nearest") return OkStatus();
  return Error(Code::kUnsupported, "antialias");
}

}  // namespace

Result<ResizeSpec> ResolveResize(const Graph& graph, const Node& node) {
  const Dims& in = InShape(graph, node, 0);
  ResizeSpec spec{in, std::vector<double>(in.rank(), 1)};
  AICF_ASSIGN_OR_RETURN(const std::vector<int> axes, NamedAxes(node, in.rank()));
  const bool scales = HasElements(graph, node, 2);
  if (scales == HasElements(graph, node, 3)) {
    return BadNode(scales ? "both scales and sizes are given"
                          : "neither scales nor sizes is given");
  }
  AICF_RETURN_IF_ERROR(scales ? FromScales(graph, node, axes, spec)
                              : FromSizes(graph, node, axes, spec));
  return spec;
}

Status InferResize(Graph& graph, const Node& node) {
  const bool copies = node.Str("mode", "nearest") == "nearest";  // bools too: nothing is blended
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, copies ? kNumbers | kBools : kNumbers));
  AICF_RETURN_IF_ERROR(CheckModes(node));
  AICF_ASSIGN_OR_RETURN(const ResizeSpec spec, ResolveResize(graph, node));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, spec.output);
}

}  // namespace aicf::ir
