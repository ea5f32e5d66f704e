// Rows of keys and values that a cache in pages takes in, turned by their positions.
#include "compiler/ir/block_nodes.h"
#include "compiler/ir/infer/common.h"
#include "kernels/abi/append.h"

namespace aicf::ir {
namespace {

Status CheckRows(const Graph& graph, const Node& node, size_t input, const Dims& shape) {
  const Value& v = In(graph, node, input);
  const bool data = v.dtype == DType::kF32 || v.dtype == DType::kF16 || v.dtype == DType::kBF16;
  if (data && v.shape == shape) return OkStatus();
  return BadNode("input ", input, " is ", DTypeName(v.dtype), " ", ToString(v.shape),
                 ", expected f32, f16 or bf16 ", ToString(shape));
}

Status InferTurned(Graph& graph, const Node& node, const Dims& k) {
  const Dims q = In(graph, node, abi::kAppendQ).shape;
  const Dims table = In(graph, node, abi::kAppendCosine).shape;
  if (q.rank() != 4 || table.rank() != 3) {
    return BadNode("queries and cosines have ranks ", q.rank(), " and ", table.rank(),
                   ", expected 4 and 3");
  }
  if (table[2] < 1 || table[2] > k[3] / 2) {
    return BadNode(table[2], " pairs in heads of ", k[3], " elements");
  }
  AICF_RETURN_IF_ERROR(CheckRows(graph, node, abi::kAppendQ, {k[0], k[1], q[2], k[3]}));
  AICF_RETURN_IF_ERROR(CheckRows(graph, node, abi::kAppendCosine, {k[0], k[1], table[2]}));
  AICF_RETURN_IF_ERROR(CheckRows(graph, node, abi::kAppendSine, {k[0], k[1], table[2]}));
  return SetOutput(graph, node, abi::kTurnedQueries, In(graph, node, abi::kAppendKeys).dtype, q);
}

}  // namespace

Status InferRotaryAppend(Graph& graph, const Node& node) {
  const bool turns = node.inputs.size() > abi::kAppendQ;
  const size_t inputs = turns ? abi::kAppendSine + 1 : abi::kAppendValues + 1;
  const bool turned =
      node.outputs.size() > abi::kTurnedQueries && node.outputs[abi::kTurnedQueries] != kNoValue;
  if (node.inputs.size() != inputs || turned != turns) {
    return BadNode(node.inputs.size(), " inputs ", turned ? "with" : "without",
                   " turned queries, expected 5 without or 8 with them");
  }
  const Dims k = In(graph, node, abi::kAppendK).shape;
  const Dims cache = In(graph, node, abi::kAppendKeys).shape;
  if (k.rank() != 4 || cache.rank() != 4) {
    return BadNode("keys and their cache have ranks ", k.rank(), " and ", cache.rank(),
                   ", expected 4");
  }
  AICF_RETURN_IF_ERROR(CheckRows(graph, node, abi::kAppendK, k));
  AICF_RETURN_IF_ERROR(CheckRows(graph, node, abi::kAppendV, k));
  const Value& places = In(graph, node, abi::kAppendPlaces);
  if (places.dtype != DType::kI32 || places.shape != Dims{k[0], k[1], 2}) {
    return BadNode("places are ", DTypeName(places.dtype), " ", ToString(places.shape),
                   ", expected i32 ", ToString(Dims{k[0], k[1], 2}));
  }
  const Dims pool = {cache[0], cache[1], k[2], k[3]};
  for (size_t state : {abi::kAppendKeys, abi::kAppendValues}) {
    AICF_RETURN_IF_ERROR(CheckRows(graph, node, state, pool));
    AICF_RETURN_IF_ERROR(
        SetOutput(graph, node, state - abi::kAppendKeys, In(graph, node, state).dtype, pool));
  }
  return turns ? InferTurned(graph, node, k) : OkStatus();
}

}  // namespace aicf::ir
