// FlexAttention, from a model with graphs for its modifications to values.
#include "compiler/import/testing.h"
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::ModelBuilder;
using testing::Names;
using testing::Random;
using testing::ToArray;

onnx::NodeProto& BodyNode(onnx::GraphProto& body, const std::string& op, const Names& inputs,
                          const std::string& output) {
  onnx::NodeProto& node = *body.add_node();
  node.set_op_type(op);
  for (const std::string& s : inputs) node.add_input(s);
  node.add_output(output);
  return node;
}

onnx::GraphProto& Body(onnx::NodeProto& node, const std::string& name) {
  auto& graph = *testing::AddAttribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
  graph.add_input()->set_name(name + "_in");
  graph.add_output()->set_name(name + "_out");
  return graph;
}

// q [2, 4, 3, 5], k and v of half the heads; the scores get a captured bias, the probabilities a
// square.
ModelBuilder FlexModel() {
  ModelBuilder m(26);
  auto& import = *m.proto().add_opset_import();
  import.set_domain("ai.onnx.preview");
  import.set_version(1);
  m.Input("q", {2, 4, 3, 5});
  m.Input("k", {2, 2, 6, 5});
  m.Input("v", {2, 2, 6, 7});
  m.Input("bias", {3, 6});
  onnx::NodeProto& node = m.Node("FlexAttention", {"q", "k", "v"}, {"y"}, "flex");
  node.set_domain("ai.onnx.preview");
  testing::SetFloat(node, "scale", 0.5f);
  BodyNode(Body(node, "score_mod"), "Add", {"score_mod_in", "bias"}, "score_mod_out");
  BodyNode(Body(node, "prob_mod"), "Mul", {"prob_mod_in", "prob_mod_in"}, "prob_mod_out");
  m.Output("y");
  return m;
}

Result<Array> FirstOutput(const ModelBuilder& model, const std::vector<ir::Tensor>& feeds) {
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, model.Import());
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  AICF_RETURN_IF_ERROR(InferAndFold(graph, context));
  AICF_RETURN_IF_ERROR(Verify(graph));
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, LowerGraph(graph, context));
  AICF_ASSIGN_OR_RETURN(const std::vector<ir::Tensor> outputs, Interpret(lowered, feeds));
  return ToArray(outputs[0]);
}

TEST(FlexAttention, AppliesTheModelsGraphs) {
  const ir::Tensor q = Random(DType::kF32, {2, 4, 3, 5}, 1),
                   k = Random(DType::kF32, {2, 2, 6, 5}, 2),
                   v = Random(DType::kF32, {2, 2, 6, 7}, 3), bias = Random(DType::kF32, {3, 6}, 4);
  const auto got = FirstOutput(FlexModel(), {q, k, v, bias});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  const Array a = ToArray(q), b = ToArray(k), w = ToArray(v), extra = ToArray(bias);
  Array want({2, 4, 3, 7});
  testing::ForEach({2, 4, 3}, [&](const Dims& i) {
    double p[6], total = 0;
    for (int64_t s = 0; s < 6; ++s) {
      double sum = 0;
      for (int64_t d = 0; d < 5; ++d) sum += a[{i[0], i[1], i[2], d}] * b[{i[0], i[1] / 2, s, d}];
      p[s] = std::exp(sum / 2 + extra[{i[2], s}]);
      total += p[s];
    }
    for (int64_t s = 0; s < 6; ++s) {
      for (int64_t d = 0; d < 7; ++d) {
        want[{i[0], i[1], i[2], d}] += std::pow(p[s] / total, 2) * w[{i[0], i[1] / 2, s, d}];
      }
    }
  });
  testing::ExpectClose(*got, want, 2e-5, 2e-5);
}

TEST(FlexAttention, AModificationKeepsTheShape) {
  ModelBuilder m = FlexModel();
  auto& body = *m.graph().mutable_node(0)->mutable_attribute(1)->mutable_g();
  auto& node = *body.mutable_node(0);
  node.set_op_type("ReduceMax");
  node.mutable_input()->RemoveLast();
  const auto got = FirstOutput(m, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), Code::kBadModel) << got.status().ToString();
}

}  // namespace
}  // namespace aicf
