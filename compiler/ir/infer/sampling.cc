// Ops that read a feature map at computed places: GridSample, RoiAlign, MaxRoiPool, and the choice
// of boxes.
#include <algorithm>

#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Status CheckOneOf(std::string_view what, const std::string& value,
                  std::initializer_list<std::string_view> known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return OkStatus();
  return BadNode(what, " is '", value, "'");
}

Status CheckBoxes(const Graph& graph, const Node& node, int64_t columns) {
  const Dims &x = InShape(graph, node, 0), &boxes = InShape(graph, node, 1);
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kFloats));
  if (x.rank() != 4 || boxes.rank() != 2 || boxes[1] != columns) {
    return BadNode("x has shape ", ToString(x), " and rois ", ToString(boxes),
                   ", expected rank 4 and R x ", columns);
  }
  return OkStatus();
}

Status SetPooled(Graph& graph, const Node& node, int64_t height, int64_t width) {
  if (height < 1 || width < 1) return BadNode("pooled shape is ", height, " x ", width);
  const Dims out = {InShape(graph, node, 1)[0], InShape(graph, node, 0)[1], height, width};
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

// The most boxes that one class of one batch entry can give.
int64_t MostBoxesPerClass(const Graph& graph, const Node& node) {
  const int64_t boxes = InShape(graph, node, 0)[1];
  if (!HasInput(node, 2)) return 0;
  const Value& limit = In(graph, node, 2);
  if (!limit.is_constant() || limit.constant.count() != 1) return boxes;
  return std::clamp<int64_t>(limit.constant.IntAt(0), 0, boxes);
}

}  // namespace

Status InferGridSample(Graph& graph, const Node& node) {
  const Dims &x = InShape(graph, node, 0), &grid = InShape(graph, node, 1);
  const int spatial = x.rank() - 2;
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kFloats));
  const std::string mode = node.Str("mode", "linear");
  AICF_RETURN_IF_ERROR(CheckOneOf("mode", mode, {"linear", "nearest", "cubic"}));
  AICF_RETURN_IF_ERROR(CheckOneOf("padding_mode", node.Str("padding_mode", "zeros"),
                                  {"zeros", "border", "reflection"}));
  if (spatial < 1 || grid.rank() != x.rank() || grid.back() != spatial || grid[0] != x[0]) {
    return BadNode("grid ", ToString(grid), " does not fit x ", ToString(x));
  }
  if (spatial > 3) return Error(Code::kUnsupported, spatial, " spatial axes, the limit is 3");
  if (spatial == 3 && mode == "cubic") return BadNode("mode 'cubic' with 3 spatial axes");
  Dims out = {x[0], x[1]};
  for (int d = 0; d < spatial; ++d) out.push_back(grid[d + 1]);
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferRoiAlign(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckBoxes(graph, node, 4));
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 2, kIntegers));
  AICF_RETURN_IF_ERROR(CheckOneOf("mode", node.Str("mode", "avg"), {"avg", "max"}));
  AICF_RETURN_IF_ERROR(CheckOneOf("coordinate_transformation_mode",
                                  node.Str("coordinate_transformation_mode", "half_pixel"),
                                  {"half_pixel", "output_half_pixel"}));
  if (InShape(graph, node, 2) != Dims{InShape(graph, node, 1)[0]}) {
    return BadNode("batch_indices have shape ", ToString(InShape(graph, node, 2)));
  }
  if (node.Int("sampling_ratio", 0) < 0) return BadNode("sampling_ratio is negative");
  return SetPooled(graph, node, node.Int("output_height", 1), node.Int("output_width", 1));
}

Status InferMaxRoiPool(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckBoxes(graph, node, 5));
  const std::vector<int64_t> pooled = node.Ints("pooled_shape");
  if (pooled.size() != 2) return BadNode("pooled_shape has ", pooled.size(), " entries");
  return SetPooled(graph, node, pooled[0], pooled[1]);
}

Status InferSelectBoxes(Graph& graph, const Node& node) {
  const Dims &boxes = InShape(graph, node, 0), &scores = InShape(graph, node, 1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2]) {
    return BadNode("boxes ", ToString(boxes), " do not fit scores ", ToString(scores));
  }
  for (size_t i = 0; i < 5; ++i) {
    if (!HasInput(node, i)) continue;
    const Value& v = In(graph, node, i);
    if (v.dtype != (i == 2 ? DType::kI64 : DType::kF32)) {
      return BadNode("input ", i, " is ", DTypeName(v.dtype));
    }
    if (i > 1 && ElementCount(v.shape) != 1) return BadNode("input ", i, " is no scalar");
  }
  const int64_t most = MostBoxesPerClass(graph, node);
  int64_t rows = 0;
  if (!CheckedMul(scores[0] * scores[1], most, &rows)) return BadNode("too many boxes");
  AICF_RETURN_IF_ERROR(SetOutput(graph, node, 0, DType::kI64, {rows, 3}));
  return SetOutput(graph, node, 1, DType::kI64, {1});
}

}  // namespace aicf::ir
