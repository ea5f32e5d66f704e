// Where the windows of convolutions and pools lie.
#include <algorithm>

#include "compiler/ir/infer/common.h"
#include "compiler/ir/scaled_node.h"

namespace aicf::ir {
namespace {

// Bound on strides, dilations, kernels and pads, so that their products stay far from overflow.
constexpr int64_t kLimit = int64_t{1} << 31;

enum class AutoPad { kNone, kValid, kSameUpper, kSameLower };

Result<AutoPad> ParseAutoPad(const Node& node) {
  const std::string text = node.Str("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::kNone;
  if (text == "VALID") return AutoPad::kValid;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  return BadNode("auto_pad is ", Quote(text));
}

// Attribute `key` with one entry in [low, kLimit) per spatial axis; `fallback` everywhere when
// absent.
Result<Dims> SpatialAttr(const Node& node, std::string_view key, int spatial, int64_t low,
                         int64_t fallback) {
  if (!node.Has(key)) return Dims::Filled(spatial, fallback);
  const std::vector<int64_t> given = node.Ints(key);
  if (static_cast<int>(given.size()) != spatial) {
    return BadNode(key, " has ", given.size(), " entries for ", spatial, " spatial axes");
  }
  for (int64_t v : given) {
    if (v < low || v >= kLimit) return BadNode(key, " holds ", v);
  }
  return Dims(std::span(given));
}

Status ReadPads(const Node& node, int spatial, Window& w) {
  w.pads_begin = w.pads_end = Dims::Filled(spatial, 0);
  if (!node.Has("pads")) return OkStatus();
  const std::vector<int64_t> given = node.Ints("pads");
  if (static_cast<int>(given.size()) != 2 * spatial) {
    return BadNode("pads has ", given.size(), " entries, expected ", 2 * spatial);
  }
  for (int i = 0; i < 2 * spatial; ++i) {
    if (given[i] < 0 || given[i] >= kLimit) return BadNode("pads holds ", given[i]);
    (i < spatial ? w.pads_begin[i] : w.pads_end[i - spatial]) = given[i];
  }
  return OkStatus();
}

// Everything but pads and output. The kernel comes from the weights, or for pools from
// kernel_shape.
Result<Window> ReadWindow(const Graph& graph, const Node& node, const Dims* weights) {
  const Dims& x = InShape(graph, node, 0);
  const int spatial = x.rank() - 2;
  if (spatial < 1) return BadNode("its input has rank ", x.rank(), ", expected at least 3");
  if (spatial > 3)
    return Error(Code::kUnsupported, spatial, " spatial axes, at most 3 are supported");
  Window w;
  AICF_ASSIGN_OR_RETURN(w.strides, SpatialAttr(node, "strides", spatial, 1, 1));
  AICF_ASSIGN_OR_RETURN(w.dilations, SpatialAttr(node, "dilations", spatial, 1, 1));
  AICF_ASSIGN_OR_RETURN(w.kernel, SpatialAttr(node, "kernel_shape", spatial, 1, 0));
  AICF_RETURN_IF_ERROR(ReadPads(node, spatial, w));
  if (weights == nullptr) {
    if (!node.Has("kernel_shape")) return BadNode("attribute 'kernel_shape' is absent");
    return w;
  }
  if (weights->rank() != x.rank()) {
    return BadNode("weights ", ToString(*weights), " and input ", ToString(x),
                   " have different ranks");
  }
  const Dims kernel(weights->span().subspan(2));
  if (node.Has("kernel_shape") && !(kernel == w.kernel)) {
    return BadNode("kernel_shape is ", ToListString(w.kernel), " but the weights have ",
                   ToListString(kernel));
  }
  w.kernel = kernel;
  for (int64_t k : kernel) {
    if (k < 1 || k >= kLimit) return BadNode("the weights have the kernel ", ToListString(kernel));
  }
  return w;
}

// How many input elements there are from the first to the last tap.
int64_t Span(const Window& w, int d) { return (w.kernel[d] - 1) * w.dilations[d] + 1; }

void SplitPad(AutoPad mode, int64_t total, int64_t* begin, int64_t* end) {
  const int64_t less = total / 2;
  *begin = mode == AutoPad::kSameUpper ? less : total - less;
  *end = total - *begin;
}

// Windows sliding over an axis of the input: Conv and the pools.
Status SlideAxis(AutoPad mode, bool ceil_mode, int64_t in, int d, Window& w) {
  const int64_t stride = w.strides[d];
  const int64_t span = Span(w, d);
  if (in >= kLimit * kLimit / 2) return BadNode("an extent of ", in, " overflows");
  if (mode == AutoPad::kValid) w.pads_begin[d] = w.pads_end[d] = 0;
  if (mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower) {
    w.output[d] = CeilDiv(in, stride);
    const int64_t total = std::max<int64_t>(0, (w.output[d] - 1) * stride + span - in);
    SplitPad(mode, total, &w.pads_begin[d], &w.pads_end[d]);
    return OkStatus();
  }
  const int64_t room = in + w.pads_begin[d] + w.pads_end[d] - span;
  if (room < 0) {
    return BadNode("a window of ", span, " does not fit the padded extent ", room + span,
                   " of spatial axis ", d);
  }
  w.output[d] = (ceil_mode ? CeilDiv(room, stride) : room / stride) + 1;
  // A window that would start in the end padding is dropped.
  if (ceil_mode && (w.output[d] - 1) * stride >= in + w.pads_begin[d]) --w.output[d];
  return OkStatus();
}

Status Slide(const Graph& graph, const Node& node, Window& w) {
  AICF_ASSIGN_OR_RETURN(const AutoPad mode, ParseAutoPad(node));
  const Dims& x = InShape(graph, node, 0);
  const bool ceil_mode = node.Int("ceil_mode", 0) != 0;
  w.output = Dims::Filled(x.rank() - 2, 0);
  for (int d = 0; d < w.output.rank(); ++d) {
    AICF_RETURN_IF_ERROR(SlideAxis(mode, ceil_mode, x[d + 2], d, w));
  }
  return OkStatus();
}

Status ReadGroup(const Node& node, Window& w) {
  w.group = node.Int("group", 1);
  if (w.group >= 1 && w.group < kLimit) return OkStatus();
  return BadNode("group is ", w.group);
}

// QLinearConv has the input's scale and zero point between its input and its weights.
Result<Window> ResolveConv(const Graph& graph, const Node& node) {
  const Dims& weights = InShape(graph, node, node.op == "QLinearConv" ? 3 : 1);
  AICF_ASSIGN_OR_RETURN(Window w, ReadWindow(graph, node, &weights));
  AICF_RETURN_IF_ERROR(ReadGroup(node, w));
  const int64_t channels = InShape(graph, node, 0)[1];
  if (channels % w.group != 0 || channels / w.group != weights[1] || weights[0] % w.group != 0) {
    return BadNode(channels, " input channels do not fit weights ", ToString(weights), " in ",
                   w.group, " groups");
  }
  AICF_RETURN_IF_ERROR(Slide(graph, node, w));
  return w;
}

// The pads of the gradient follow from the output where its extent is asked for. Elements that no
// window reaches lie at the end.
Status TransposeAxis(AutoPad mode, int64_t in, int64_t extra, int64_t asked, int d, Window& w) {
  if (in >= kLimit * kLimit / 2 / w.strides[d]) return BadNode("an extent of ", in, " overflows");
  const int64_t reach = (std::max<int64_t>(in, 1) - 1) * w.strides[d] + Span(w, d) + extra;
  const bool same = mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower;
  if (mode == AutoPad::kValid) w.pads_begin[d] = w.pads_end[d] = 0;
  if (same && asked < 0) asked = in * w.strides[d];
  if (asked >= 0) {
    SplitPad(mode, std::max<int64_t>(reach - asked, 0), &w.pads_begin[d], &w.pads_end[d]);
    w.output[d] = asked;
    return OkStatus();
  }
  w.output[d] = reach - w.pads_begin[d] - w.pads_end[d];
  if (w.output[d] >= 0) return OkStatus();
  return BadNode("pads exceed the output of spatial axis ", d);
}

Result<Window> ResolveConvTranspose(const Graph& graph, const Node& node) {
  const Dims& weights = InShape(graph, node, 1);
  AICF_ASSIGN_OR_RETURN(Window w, ReadWindow(graph, node, &weights));
  AICF_RETURN_IF_ERROR(ReadGroup(node, w));
  const Dims& x = InShape(graph, node, 0);
  if (x[1] != weights[0] || x[1] % w.group != 0) {
    return BadNode(x[1], " input channels do not fit weights ", ToString(weights), " in ", w.group,
                   " groups");
  }
  const int spatial = x.rank() - 2;
  AICF_ASSIGN_OR_RETURN(const AutoPad mode, ParseAutoPad(node));
  AICF_ASSIGN_OR_RETURN(const Dims extra, SpatialAttr(node, "output_padding", spatial, 0, 0));
  std::vector<int64_t> asked = node.Ints("output_shape");
  // Some exporters write batch and channels too.
  if (static_cast<int>(asked.size()) == spatial + 2) asked.erase(asked.begin(), asked.begin() + 2);
  if (!asked.empty() && static_cast<int>(asked.size()) != spatial) {
    return BadNode("output_shape has ", asked.size(), " entries for ", spatial, " spatial axes");
  }
  w.output = Dims::Filled(spatial, 0);
  for (int d = 0; d < spatial; ++d) {
    if (!asked.empty() && asked[d] < 0) return BadNode("output_shape holds ", asked[d]);
    const int64_t want = asked.empty() ? -1 : asked[d];
    AICF_RETURN_IF_ERROR(TransposeAxis(mode, x[d + 2], extra[d], want, d, w));
  }
  return w;
}

Result<Window> ResolvePool(const Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(Window w, ReadWindow(graph, node, nullptr));
  AICF_RETURN_IF_ERROR(Slide(graph, node, w));
  for (int d = 0; d < w.kernel.rank(); ++d) {
    if (w.pads_begin[d] < Span(w, d) && w.pads_end[d] < Span(w, d)) continue;
    return Error(Code::kUnsupported, "padding of spatial axis ", d, " holds whole windows");
  }
  return w;
}

Status CheckBias(const Graph& graph, const Node& node, int64_t channels) {
  if (!HasInput(node, 2)) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 2));
  if (InShape(graph, node, 2) == Dims{channels}) return OkStatus();
  return BadNode("bias has shape ", ToString(InShape(graph, node, 2)), ", expected ", channels);
}

// [batch, channels, spatial...]
Status SetSpatialOutput(Graph& graph, const Node& node, int64_t channels, const Dims& spatial) {
  Dims out{InShape(graph, node, 0)[0], channels};
  for (int64_t e : spatial) out.push_back(e);
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

}  // namespace

Result<Window> ResolveWindow(const Graph& graph, const Node& node) {
  if (node.op == "Conv" || node.op == "ConvInteger" || node.op == "QLinearConv" ||
      node.op == kCodeConv) {
    return ResolveConv(graph, node);
  }
  if (node.op == "ConvTranspose") return ResolveConvTranspose(graph, node);
  return ResolvePool(graph, node);
}

Status InferConv(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 1));
  AICF_ASSIGN_OR_RETURN(const Window w, ResolveConv(graph, node));
  const int64_t channels = InShape(graph, node, 1)[0];
  AICF_RETURN_IF_ERROR(CheckBias(graph, node, channels));
  return SetSpatialOutput(graph, node, channels, w.output);
}

Status InferConvTranspose(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 1));
  AICF_ASSIGN_OR_RETURN(const Window w, ResolveConvTranspose(graph, node));
  int64_t channels = 0;
  if (!CheckedMul(InShape(graph, node, 1)[1], w.group, &channels))
    return BadNode("channels overflow");
  AICF_RETURN_IF_ERROR(CheckBias(graph, node, channels));
  return SetSpatialOutput(graph, node, channels, w.output);
}

Status InferPool(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, node.op == "MaxPool" ? kNumbers : kFloats));
  if (node.Int("p", 2) < 1) return BadNode("p is ", node.Int("p", 2));
  AICF_ASSIGN_OR_RETURN(const Window w, ResolvePool(graph, node));
  return SetSpatialOutput(graph, node, InShape(graph, node, 0)[1], w.output);
}

Status InferGlobalPool(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  const Dims& x = InShape(graph, node, 0);
  if (x.rank() < 3) return BadNode("its input has rank ", x.rank(), ", expected at least 3");
  return SetSpatialOutput(graph, node, x[1], Dims::Filled(x.rank() - 2, 1));
}

}  // namespace aicf::ir
