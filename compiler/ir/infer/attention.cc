// aicf.Attention. Inputs count from 0 in the messages: q, k, v, lengths, page table, origins, score
// operands.
#include "compiler/ir/attention_node.h"
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Status CheckHeads(const Graph& graph, const Node& node) {
  const Dims &q = InShape(graph, node, kAttentionQ), &k = InShape(graph, node, kAttentionK),
             &v = InShape(graph, node, kAttentionV);
  const bool ranks = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
  const bool batch = ranks && (HasInput(node, kAttentionTable) || q[0] == k[0]);
  const bool fits = batch && k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] &&
                    (k[1] == 0 ? q[1] == 0 : q[1] % k[1] == 0);
  if (fits) return OkStatus();
  return BadNode("query ", ToString(q), ", key ", ToString(k), " and value ", ToString(v),
                 " do not fit together (as batch, heads, sequence, head size)");
}

Status CheckTable(const Graph& graph, const Node& node) {
  if (!HasInput(node, kAttentionTable)) return OkStatus();
  const Value& v = In(graph, node, kAttentionTable);
  const int64_t batch = InShape(graph, node, kAttentionQ)[0];
  if (v.dtype == DType::kI32 && v.shape.rank() == 2 && v.shape[0] == batch) return OkStatus();
  return BadNode("the page table is ", DTypeName(v.dtype), " ", ToString(v.shape),
                 ", expected i32 [", batch, ", pages]");
}

Status CheckPerRequest(const Graph& graph, const Node& node, size_t input) {
  if (!HasInput(node, input)) return OkStatus();
  const Value& v = In(graph, node, input);
  const Dims batch{InShape(graph, node, kAttentionQ)[0]};
  if (v.shape == batch && (v.dtype == DType::kI32 || v.dtype == DType::kI64)) return OkStatus();
  return BadNode("input ", input, " is ", DTypeName(v.dtype), " ", ToString(v.shape),
                 ", expected i32 or i64 ", ToString(batch));
}

Status CheckScore(const Graph& graph, const Node& node, const abi::Expr& score) {
  const Dims domain = AttentionDomain(graph, node);
  std::vector<DType> dtypes{abi::ComputeDType(In(graph, node, kAttentionQ).dtype)};
  for (size_t i = kAttentionOperands; i < node.inputs.size(); ++i) {
    if (!HasInput(node, i)) return BadNode("score operand ", i, " is absent");
    const auto both = BroadcastShapes(InShape(graph, node, i), domain);
    if (!both || *both != domain) {
      return BadNode("score operand ", i, " of shape ", ToString(InShape(graph, node, i)),
                     " does not broadcast to ", ToString(domain));
    }
    dtypes.push_back(abi::ComputeDType(In(graph, node, i).dtype));
  }
  AICF_RETURN_IF_ERROR(abi::ValidateExpr(score, dtypes, domain.rank()));
  if (score.empty()) return OkStatus();
  if (score.results.size() == 1 && score.nodes[score.results[0]].dtype == dtypes[0]) {
    return OkStatus();
  }
  return BadNode("its score expression does not give one ", DTypeName(dtypes[0]));
}

}  // namespace

Status InferAttention(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, kAttentionQ, kFloats));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, kAttentionQ, kAttentionK));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, kAttentionQ, kAttentionV));
  AICF_RETURN_IF_ERROR(CheckHeads(graph, node));
  AICF_RETURN_IF_ERROR(CheckTable(graph, node));
  AICF_RETURN_IF_ERROR(CheckPerRequest(graph, node, kAttentionLengths));
  AICF_RETURN_IF_ERROR(CheckPerRequest(graph, node, kAttentionOrigins));
  AICF_ASSIGN_OR_RETURN(const AttentionForm form, ReadAttention(node));
  if ((form.attrs.rows == abi::RowOrigin::kOperand) != HasInput(node, kAttentionOrigins)) {
    return BadNode("'rows' is operand with input ", size_t{kAttentionOrigins}, ", and only then");
  }
  AICF_RETURN_IF_ERROR(CheckScore(graph, node, form.score));
  const Dims& q = InShape(graph, node, kAttentionQ);
  return SetOutput(graph, node, 0, In(graph, node, kAttentionQ).dtype,
                   {q[0], q[1], q[2], InShape(graph, node, kAttentionV)[3]});
}

}  // namespace aicf::ir
