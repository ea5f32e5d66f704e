// RNN, GRU and LSTM of every opset: the same operator, whatever attributes its version has.
#include <gtest/gtest.h>

#include "compiler/import/testing.h"
#include "compiler/ir/infer/infer.h"

namespace aicf {
namespace {

using testing::ModelBuilder;

// The op's node after import and inference, or the error's text.
std::string Imported(int64_t opset, const std::string& op, int64_t gates) {
  ModelBuilder model(opset);
  model.Input("x", {5, 2, 3});
  model.Input("w", {1, gates * 4, 3});
  model.Input("r", {1, gates * 4, 4});
  onnx::NodeProto& node = model.Node(op, {"x", "w", "r"}, {"", "y"}, "cell");
  testing::SetInt(node, "hidden_size", 4);
  testing::SetFloat(node, "clip", 2);
  testing::SetString(node, "direction", "reverse");
  auto& names = testing::AddAttribute(node, "activations", onnx::AttributeProto::STRINGS);
  for (int64_t i = 0; i < (gates == 1 ? 1 : gates - 1); ++i) names.add_strings("LeakyRelu");
  testing::AddAttribute(node, "activation_alpha", onnx::AttributeProto::FLOATS).add_floats(0.5f);
  if (opset < 7) testing::SetInt(node, "output_sequence", 1);
  if (opset >= 3 && op == "GRU") testing::SetInt(node, "linear_before_reset", 1);
  if (opset >= 14) testing::SetInt(node, "layout", 0);
  model.Output("y");
  auto graph = model.Import();
  if (!graph.ok()) return graph.status().ToString();
  const Status status = ir::InferNode(*graph, graph->nodes[0]);
  if (!status.ok()) return status.ToString();
  return StrCat(graph->nodes[0].op, " ", ToString(graph->values[graph->nodes[0].outputs[1]].shape));
}

TEST(OnnxRecurrent, EveryOpset) {
  for (int64_t opset : {1, 3, 7, 14, 22}) {
    EXPECT_EQ(Imported(opset, "RNN", 1), "RNN 1x2x4") << opset;
    EXPECT_EQ(Imported(opset, "GRU", 3), "GRU 1x2x4") << opset;
    EXPECT_EQ(Imported(opset, "LSTM", 4), "LSTM 1x2x4") << opset;
  }
}

}  // namespace
}  // namespace aicf
