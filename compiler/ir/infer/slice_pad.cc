// Slice and Pad: bounds clamped and axes filled in, once, for the shape rules and the lowerings.
#include <algorithm>
#include <limits>

#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

// The axes a Slice or Pad names, in the order given; all of them when it names none.
Result<std::vector<int>> AxesInOrder(const Graph& graph, const Node& node, size_t input, int rank,
                                     size_t count) {
  AICF_ASSIGN_OR_RETURN(const auto axes, ConstantInts(graph, node, input, "axes"));
  std::vector<int> out;
  if (!axes) {
    if (count > static_cast<size_t>(rank)) {
      return BadNode("bounds for ", count, " axes of an input of rank ", rank);
    }
    for (size_t i = 0; i < count; ++i) out.push_back(static_cast<int>(i));
    return out;
  }
  if (axes->size() != count)
    return BadNode("axes has ", axes->size(), " entries, expected ", count);
  AICF_RETURN_IF_ERROR(NormalizeAxes(*axes, rank).status());
  for (int64_t a : *axes) out.push_back(static_cast<int>(a < 0 ? a + rank : a));
  return out;
}

// Python's slice(start, end, step) of an axis, but for one thing: a start that lies before the
// first element is the first element, also where the steps go backwards and Python selects nothing.
void SliceAxis(int64_t extent, int64_t start, int64_t end, int64_t step, SliceSpec& spec,
               int axis) {
  const auto wrap = [&](int64_t v) { return v < 0 && v >= -extent ? v + extent : v; };
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? extent : extent - 1;
  const int64_t least = std::min<int64_t>(0, high);
  const int64_t first = std::clamp(start < -extent ? least : wrap(start), least, high);
  const int64_t last = std::clamp(end < -extent ? low : wrap(end), low, high);
  const int64_t span = step > 0 ? last - first : first - last;
  // The magnitude of the most negative step does not fit into an int64. The step next to it selects
  // the same elements, since no axis is longer.
  const int64_t stride = std::max(step, -std::numeric_limits<int64_t>::max());
  const int64_t count = span <= 0 ? 0 : (span - 1) / (stride > 0 ? stride : -stride) + 1;
  spec.extents[axis] = count;
  spec.starts[axis] = count > 0 ? first : 0;
  // A step that is never taken is 1, so that it cannot overflow a stride.
  spec.steps[axis] = count > 1 ? stride : 1;
}

}  // namespace

Result<SliceSpec> ResolveSlice(const Graph& graph, const Node& node) {
  const Dims& in = InShape(graph, node, 0);
  AICF_ASSIGN_OR_RETURN(const auto starts, RequiredInts(graph, node, 1, "starts"));
  AICF_ASSIGN_OR_RETURN(const auto ends, RequiredInts(graph, node, 2, "ends"));
  AICF_ASSIGN_OR_RETURN(const auto steps, ConstantInts(graph, node, 4, "steps"));
  if (ends.size() != starts.size() || (steps && steps->size() != starts.size())) {
    return BadNode("starts, ends and steps have different lengths");
  }
  AICF_ASSIGN_OR_RETURN(const auto axes, AxesInOrder(graph, node, 3, in.rank(), starts.size()));
  SliceSpec spec{Dims::Filled(in.rank(), 0), Dims::Filled(in.rank(), 1), in};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) return BadNode("steps holds 0");
    SliceAxis(in[axes[i]], starts[i], ends[i], step, spec, axes[i]);
  }
  return spec;
}

Status InferSlice(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const SliceSpec spec, ResolveSlice(graph, node));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, spec.extents);
}

Result<PadSpec> ResolvePad(const Graph& graph, const Node& node) {
  const int rank = InShape(graph, node, 0).rank();
  AICF_ASSIGN_OR_RETURN(const auto pads, RequiredInts(graph, node, 1, "pads"));
  if (pads.size() % 2 != 0) return BadNode("pads has ", pads.size(), " entries");
  const size_t count = pads.size() / 2;
  if (!HasInput(node, 3) && count != static_cast<size_t>(rank)) {
    return BadNode("pads has ", pads.size(), " entries for an input of rank ", rank);
  }
  AICF_ASSIGN_OR_RETURN(const auto axes, AxesInOrder(graph, node, 3, rank, count));
  PadSpec spec{Dims::Filled(rank, 0), Dims::Filled(rank, 0)};
  for (size_t i = 0; i < count; ++i) {
    spec.begin[axes[i]] = pads[i];
    spec.end[axes[i]] = pads[i + count];
  }
  return spec;
}

namespace {

// Checks that the mode can reach as far as it pads: reflection needs another element, copies of an
// edge need one.
Status CheckPadMode(const std::string& mode, int64_t extent, int64_t cropped, int64_t longest) {
  if (mode == "constant" || longest <= 0) return OkStatus();
  const int64_t limit = mode == "reflect" ? cropped - 1
                        : mode == "wrap"  ? cropped
                                          : std::numeric_limits<int64_t>::max();
  if (cropped >= 1 && longest <= limit) return OkStatus();
  return BadNode("mode ", mode, " cannot pad an extent of ", extent, " by ", longest);
}

}  // namespace

Status InferPad(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const PadSpec spec, ResolvePad(graph, node));
  if (HasInput(node, 2)) AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 2));
  const std::string mode = node.Str("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap") {
    return BadNode("mode is ", Quote(mode));
  }
  Dims out = InShape(graph, node, 0);
  for (int i = 0; i < out.rank(); ++i) {
    int64_t cropped = out[i];
    const int64_t extent = out[i];
    if (!CheckedAdd(cropped, std::min<int64_t>(spec.begin[i], 0), &cropped) ||
        !CheckedAdd(cropped, std::min<int64_t>(spec.end[i], 0), &cropped) || cropped < 0) {
      return BadNode("pads crop more than the extent ", extent, " of axis ", i);
    }
    AICF_RETURN_IF_ERROR(CheckPadMode(mode, extent, cropped, std::max(spec.begin[i], spec.end[i])));
    if (!CheckedAdd(out[i], spec.begin[i], &out[i]) || !CheckedAdd(out[i], spec.end[i], &out[i])) {
      return BadNode("its extents overflow");
    }
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

}  // namespace aicf::ir
