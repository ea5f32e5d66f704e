#include "compiler/passes/graph/float8_operands.h"

#include <utility>

namespace aicf {

void ReplaceCodeProducts(ir::Graph& graph, PassContext& context, const CodeProductTexts& texts,
                         const CodeProductRules& rules) {
  const std::vector<ir::Node> nodes = std::exchange(graph.nodes, {});
  for (const ir::Node& node : nodes) {
    const bool product =
        node.op == "MatMul" || node.op == "Gemm" || (texts.convolutions && node.op == "Conv");
    const ir::Node* a = product ? rules.operand(nodes, node.inputs[0]) : nullptr;
    const ir::Node* b = product ? rules.operand(nodes, node.inputs[1]) : nullptr;
    if (a == nullptr && b == nullptr) {
      graph.nodes.push_back(node);
      continue;
    }
    const std::string why = a == nullptr   ? StrCat("operand: the left operand ", texts.operand)
                            : b == nullptr ? StrCat("operand: the right operand ", texts.operand)
                                           : rules.refusal(node, *a, *b);
    if (why.empty()) {
      RecordRewrite(context, texts.pass, DecisionKind::kFusion, About(node),
                    std::string(texts.choice), std::string(texts.because));
      rules.replace(node, *a, *b);
    } else {
      RecordRewrite(context, texts.pass, DecisionKind::kFusion, About(node), "product of floats",
                    std::string(texts.needs), {{std::string(texts.choice), why, -1}});
      graph.nodes.push_back(node);
    }
  }
}

bool IsZeroPoint(const ir::Graph& graph, ir::ValueId zero) {
  if (zero == ir::kNoValue) return true;
  const ir::Tensor& t = graph.values[zero].constant;
  if (!t.has_data()) return false;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (t.FloatAt(i) != 0) return false;
  }
  return true;
}

int64_t BlockAxis(const ir::Node& node, const Dims& shape) {
  const int64_t axis = node.Int("axis", 1);
  return axis < 0 ? axis + shape.rank() : axis;
}

bool TransposesB(const ir::Node& node) { return node.Int("transB", 0) != 0; }

int64_t RowsOf(const Dims& shape) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < shape.rank(); ++d) rows *= shape[d];
  return rows;
}

std::string RefuseGemmOfCodes(const ir::Node& node) {
  if (node.Int("transA", 0) != 0) return "operand: the left operand is transposed";
  if (node.Float("alpha", 1) != 1) return "pattern: a factor alpha";
  if (node.input(2) != ir::kNoValue && node.Float("beta", 1) != 1) return "pattern: a factor beta";
  return "";
}

ir::ValueId TransposedMatrix(ir::Graph& graph, ValueMaker& make, const ir::Node& node,
                             ir::ValueId matrix) {
  const ir::Value v = graph.values[matrix];
  const ir::ValueId out = make.Value(v.name, v.dtype, {v.shape[1], v.shape[0]});
  graph.nodes.push_back(
      {"Transpose", node.name, {matrix}, {out}, {{"perm", std::vector<int64_t>{1, 0}}}, {}});
  return out;
}

}  // namespace aicf
