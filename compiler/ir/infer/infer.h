/// Shape and dtype rules: one function per name in the "shape rule" column of ops.def, and the
/// resolved parameters that a rule and the lowering of the same op share, so that neither derives
/// auto_pad, negative axes or clamped bounds a second time.
///
/// REQUIRES, for every function here: all input values have a known dtype and shape.
/// Errors: kBadModel naming the rule that is broken; kUnsupported when the value of an input that
/// is not constant would be needed. The caller adds the node's name.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf::ir {

#define AICF_OP(op, min_inputs, max_inputs, outputs, infer, lower) \
  Status infer(Graph&, const Node&);
#include "compiler/ir/ops.def"
#undef AICF_OP

/// Runs the rule of node.op. Errors as above, with the node's name in front.
Status InferNode(Graph& graph, const Node& node);

/// An axis in [-rank, rank) as [0, rank). `what` names it in the error.
Result<int> NormalizeAxis(int64_t axis, int rank, std::string_view what = "axis");

/// The elements of a constant integer input; nullopt when the input is absent.
Result<std::optional<std::vector<int64_t>>> ConstantInts(const Graph& graph, const Node& node,
                                                         size_t input, std::string_view what);

/// Conv, ConvTranspose and the pools: one entry per spatial axis, auto_pad and ceil_mode resolved.
/// ConvTranspose: pads are those of the convolution whose gradient it is; output_padding and
/// output_shape show only in `output`.
struct Window {
  Dims kernel, strides, dilations, pads_begin, pads_end;
  Dims output;  ///< spatial extents of the result
  int64_t group = 1;
};
Result<Window> ResolveWindow(const Graph& graph, const Node& node);

/// Reductions, Squeeze and Unsqueeze: ascending axes in [0, rank) (Unsqueeze: of the result).
/// Reductions: all axes when absent or empty, unless noop_with_empty_axes.
Result<Dims> ResolveAxes(const Graph& graph, const Node& node);

/// Slice: one entry per axis of the input. Where an extent is above 0, its start is clamped to a
/// legal first element.
struct SliceSpec {
  Dims starts, steps, extents;
};
Result<SliceSpec> ResolveSlice(const Graph& graph, const Node& node);

/// Pad: one entry per axis of the input; negative entries crop.
struct PadSpec {
  Dims begin, end;
};
Result<PadSpec> ResolvePad(const Graph& graph, const Node& node);

/// Split: the axis and one extent per output.
struct SplitSpec {
  int axis = 0;
  std::vector<int64_t> extents;
};
Result<SplitSpec> ResolveSplit(const Graph& graph, const Node& node);

/// Resize: result shape and, per axis, the scale (result over input) of the coordinate map.
/// Scales that the model gives as f32 keep exactly that value.
struct ResizeSpec {
  Dims output;
  std::vector<double> scales;
};
Result<ResizeSpec> ResolveResize(const Graph& graph, const Node& node);

/// QuantizeLinear and DequantizeLinear: one scale for all (block 0), or one for every `block`
/// elements along the axis. Block 1 with a vector of scales is one scale per index of the axis.
struct QuantizeSpec {
  int axis = 0;
  int64_t block = 0;
};
Result<QuantizeSpec> ResolveQuantize(const Graph& graph, const Node& node);

/// CumSum, CumProd: the axis.
Result<int> ResolveScanAxis(const Graph& graph, const Node& node);

/// Transpose: `perm`, reversed axes when absent.
Result<Dims> ResolvePerm(const Graph& graph, const Node& node);

}  // namespace aicf::ir
