// Normalisations: the result is like the input, the parameters must fit its channels or axes.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Status SetLikeInput(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, InShape(graph, node, 0));
}

Status CheckChannelInputs(const Graph& graph, const Node& node, int64_t channels) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckDType(graph, node, i, kFloats));
    if (InShape(graph, node, i) == Dims{channels}) continue;
    return BadNode("input ", i, " has shape ", ToString(InShape(graph, node, i)), ", expected ",
                   channels);
  }
  return OkStatus();
}

}  // namespace

Status InferBatchNormalization(Graph& graph, const Node& node) {
  const Dims& x = InShape(graph, node, 0);
  // A vector has one channel (the standard's own rule for ranks below 2).
  AICF_RETURN_IF_ERROR(CheckChannelInputs(graph, node, x.rank() < 2 ? 1 : x[1]));
  return SetLikeInput(graph, node);
}

Status InferInstanceNormalization(Graph& graph, const Node& node) {
  const Dims& x = InShape(graph, node, 0);
  if (x.rank() < 3) return BadNode("its input has rank ", x.rank(), ", expected at least 3");
  AICF_RETURN_IF_ERROR(CheckChannelInputs(graph, node, x[1]));
  return SetLikeInput(graph, node);
}

Status InferGroupNormalization(Graph& graph, const Node& node) {
  const Dims& x = InShape(graph, node, 0);
  const int64_t groups = node.Int("num_groups", 0);
  if (x.rank() < 2 || x.rank() + 1 > kMaxRank) {
    return BadNode("its input has rank ", x.rank(), ", expected 2 to ", kMaxRank - 1);
  }
  if (groups < 1 || x[1] % groups != 0) {
    return BadNode(groups, " groups do not divide the channels of ", ToString(x));
  }
  AICF_RETURN_IF_ERROR(CheckChannelInputs(graph, node, groups));
  return SetLikeInput(graph, node);
}

Status InferLayerNormalization(Graph& graph, const Node& node) {
  const Dims& x = InShape(graph, node, 0);
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", -1), x.rank()));
  const Dims normalized(x.span().subspan(axis));
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckDType(graph, node, i, kFloats));
    const std::optional<Dims> both = BroadcastShapes(normalized, InShape(graph, node, i));
    if (both && *both == normalized) continue;
    return BadNode("input ", i, " of shape ", ToString(InShape(graph, node, i)),
                   " does not broadcast to the normalised axes ", ToString(normalized));
  }
  return SetLikeInput(graph, node);
}

Status InferSoftmax(Graph& graph, const Node& node) {
  const int rank = InShape(graph, node, 0).rank();
  AICF_RETURN_IF_ERROR(NormalizeAxis(node.Int("axis", -1), rank).status());
  return SetLikeInput(graph, node);
}

}  // namespace aicf::ir
