// Ops that move elements without computing: shapes of Reshape, Transpose, Concat and their kin.
#include <algorithm>

#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

// An extent of 0 copies that of the input, an extent of -1 takes what is left.
Result<Dims> ReshapeTo(const Dims& in, const std::vector<int64_t>& request, bool allow_zero) {
  AICF_ASSIGN_OR_RETURN(Dims out, ToDims(request));
  int free_axis = -1;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] < -1) return BadNode("shape holds ", out[i]);
    if (out[i] == -1 && free_axis >= 0) return BadNode("shape holds -1 twice");
    if (out[i] == -1) free_axis = i;
    if (out[i] == 0 && !allow_zero) {
      if (i >= in.rank())
        return BadNode("shape copies axis ", i, " of an input of rank ", in.rank());
      out[i] = in[i];
    }
  }
  const int64_t count = ElementCount(in).value_or(0);
  if (free_axis >= 0) {
    out[free_axis] = 1;
    const int64_t rest = ElementCount(out).value_or(-1);
    const bool divides = rest > 0 ? count % rest == 0 : rest == 0 && count == 0;
    if (!divides)
      return BadNode(ToString(in), " does not divide into ",
                     ToListString(Dims(std::span(request))));
    out[free_axis] = rest > 0 ? count / rest : 0;
  }
  if (ElementCount(out) == count) return out;
  return BadNode("cannot reshape ", ToString(in), " to ", ToListString(Dims(std::span(request))));
}

}  // namespace

Status InferReshape(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const auto request, RequiredInts(graph, node, 1, "shape"));
  const bool allow_zero = node.Int("allowzero", 0) != 0;
  AICF_ASSIGN_OR_RETURN(const Dims shape, ReshapeTo(InShape(graph, node, 0), request, allow_zero));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, shape);
}

Status InferFlatten(Graph& graph, const Node& node) {
  const Dims& in = InShape(graph, node, 0);
  const int64_t axis = node.Int("axis", 1);
  if (axis < -in.rank() || axis > in.rank()) {
    return BadNode("axis ", axis, " is outside [", -in.rank(), ", ", in.rank(), "]");
  }
  const int split = static_cast<int>(axis < 0 ? axis + in.rank() : axis);
  const auto product = [&](int begin, int end) {
    return ElementCount(Dims(in.span().subspan(begin, end - begin))).value_or(-1);
  };
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype,
                   {product(0, split), product(split, in.rank())});
}

Status InferSqueeze(Graph& graph, const Node& node) {
  const Dims& in = InShape(graph, node, 0);
  AICF_ASSIGN_OR_RETURN(const Dims axes, ResolveAxes(graph, node));
  Dims out;
  for (int i = 0, next = 0; i < in.rank(); ++i) {
    const bool drop = next < axes.rank() && axes[next] == i;
    if (drop && in[i] != 1) return BadNode("axis ", i, " of ", ToString(in), " is not 1");
    if (drop) ++next;
    if (!drop) out.push_back(in[i]);
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferUnsqueeze(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const Dims axes, ResolveAxes(graph, node));
  Dims out = InShape(graph, node, 0);
  for (int64_t axis : axes) out.insert(static_cast<int>(axis), 1);
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Result<Dims> ResolvePerm(const Graph& graph, const Node& node) {
  const int rank = InShape(graph, node, 0).rank();
  Dims perm;
  if (!node.Has("perm")) {
    for (int i = rank; i-- > 0;) perm.push_back(i);
    return perm;
  }
  const std::vector<int64_t> given = node.Ints("perm");
  if (static_cast<int>(given.size()) != rank) {
    return BadNode("perm has ", given.size(), " entries for an input of rank ", rank);
  }
  AICF_RETURN_IF_ERROR(NormalizeAxes(given, rank, "perm").status());
  // Unlike axes elsewhere, entries of a permutation do not count from the end.
  for (int64_t p : given) {
    if (p < 0) return BadNode("perm holds ", p);
    perm.push_back(p);
  }
  return perm;
}

Status InferTranspose(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const Dims perm, ResolvePerm(graph, node));
  Dims out;
  for (int64_t p : perm) out.push_back(InShape(graph, node, 0)[static_cast<int>(p)]);
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferConcat(Graph& graph, const Node& node) {
  Dims out = InShape(graph, node, 0);
  if (!node.Has("axis")) return BadNode("attribute 'axis' is absent");
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", 0), out.rank()));
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, i));
    Dims next = InShape(graph, node, i);
    if (next.rank() == out.rank()) {
      if (!CheckedAdd(out[axis], next[axis], &out[axis])) return BadNode("its extents overflow");
      next[axis] = out[axis];
    }
    if (!(next == out)) {
      return BadNode("input ", i, " of shape ", ToString(InShape(graph, node, i)),
                     " does not fit input 0 of shape ", ToString(InShape(graph, node, 0)));
    }
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Result<SplitSpec> ResolveSplit(const Graph& graph, const Node& node) {
  const Dims& in = InShape(graph, node, 0);
  const int64_t pieces = static_cast<int64_t>(node.outputs.size());
  SplitSpec spec;
  AICF_ASSIGN_OR_RETURN(spec.axis, NormalizeAxis(node.Int("axis", 0), in.rank()));
  const int64_t extent = in[spec.axis];
  AICF_ASSIGN_OR_RETURN(const auto sizes, ConstantInts(graph, node, 1, "split"));
  if (!sizes) {
    if (node.Int("num_outputs", pieces) != pieces) {
      return BadNode("num_outputs is ", node.Int("num_outputs", pieces), " but it has ", pieces,
                     " outputs");
    }
    // The last piece is smaller when the extent does not divide.
    const int64_t each = CeilDiv(extent, pieces);
    for (int64_t i = 0; i < pieces; ++i) {
      spec.extents.push_back(std::clamp<int64_t>(extent - i * each, 0, each));
    }
    if (spec.extents.back() != each && !node.Has("num_outputs")) {
      return BadNode("extent ", extent, " does not divide into ", pieces, " equal outputs");
    }
    return spec;
  }
  spec.extents = *sizes;
  int64_t sum = 0;
  for (int64_t size : spec.extents) {
    if (size < 0 || !CheckedAdd(sum, size, &sum)) return BadNode("split holds ", size);
  }
  if (static_cast<int64_t>(spec.extents.size()) != pieces || sum != extent) {
    return BadNode("split has ", spec.extents.size(), " sizes summing to ", sum, ", expected ",
                   pieces, " summing to ", extent);
  }
  return spec;
}

Status InferSplit(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const SplitSpec spec, ResolveSplit(graph, node));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Dims out = InShape(graph, node, 0);
    out[spec.axis] = spec.extents[i];
    AICF_RETURN_IF_ERROR(SetOutput(graph, node, i, In(graph, node, 0).dtype, out));
  }
  return OkStatus();
}

}  // namespace aicf::ir
