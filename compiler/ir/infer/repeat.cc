// Ops that repeat elements or trade channels for space.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Result<int64_t> BlockSize(const Graph& graph, const Node& node) {
  const int64_t block = node.Int("blocksize", 0);
  if (block < 1 || block > (int64_t{1} << 30)) return BadNode("blocksize is ", block);
  if (InShape(graph, node, 0).rank() != 4) {
    return BadNode("its input has rank ", InShape(graph, node, 0).rank(), ", expected 4");
  }
  return block;
}

}  // namespace

Status InferDepthToSpace(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const int64_t block, BlockSize(graph, node));
  const std::string mode = node.Str("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return BadNode("mode is ", Quote(mode));
  Dims out = InShape(graph, node, 0);
  if (out[1] % (block * block) != 0) {
    return BadNode("channels ", out[1], " are no multiple of blocksize ", block, " squared");
  }
  out[1] /= block * block;
  if (!CheckedMul(out[2], block, &out[2]) || !CheckedMul(out[3], block, &out[3])) {
    return BadNode("its extents overflow");
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferSpaceToDepth(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const int64_t block, BlockSize(graph, node));
  Dims out = InShape(graph, node, 0);
  if (out[2] % block != 0 || out[3] % block != 0) {
    return BadNode("spatial extents of ", ToString(out), " are no multiples of blocksize ", block);
  }
  if (!CheckedMul(out[1], block * block, &out[1])) return BadNode("its channels overflow");
  out[2] /= block;
  out[3] /= block;
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferExpand(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const auto request, RequiredInts(graph, node, 1, "shape"));
  AICF_ASSIGN_OR_RETURN(const Dims shape, ToDims(request));
  for (int64_t e : shape) {
    if (e < 0) return BadNode("shape holds ", e);
  }
  const std::optional<Dims> out = BroadcastShapes(InShape(graph, node, 0), shape);
  if (!out) {
    return BadNode(ToString(InShape(graph, node, 0)), " does not expand to ", ToString(shape));
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, *out);
}

Status InferTile(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const auto repeats, RequiredInts(graph, node, 1, "repeats"));
  Dims out = InShape(graph, node, 0);
  if (static_cast<int>(repeats.size()) != out.rank()) {
    return BadNode("repeats has ", repeats.size(), " entries for an input of rank ", out.rank());
  }
  for (int i = 0; i < out.rank(); ++i) {
    if (repeats[i] < 0) return BadNode("repeats holds ", repeats[i]);
    if (!CheckedMul(out[i], repeats[i], &out[i])) return BadNode("its extents overflow");
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

}  // namespace aicf::ir
