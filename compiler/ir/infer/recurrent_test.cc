// Shapes of RNN, GRU and LSTM, and what is refused.
#include <gtest/gtest.h>

#include "compiler/ir/infer/recurrent.h"
#include "compiler/ir/infer/testing.h"

namespace aicf::ir {
namespace {

using testing::Infer;

constexpr const char* kLstm = "input %x: f32[5x2x3] input %w: f32[1x16x3] input %r: f32[1x16x4] ";

TEST(InferRecurrent, Shapes) {
  EXPECT_EQ(Infer(kLstm, "LSTM(%x, %w, %r)", 3), "f32 5x1x2x4, f32 1x2x4, f32 1x2x4");
  EXPECT_EQ(Infer(kLstm, "LSTM(%x, %w, %r) {layout=1, hidden_size=4}", 3),
            "f32 5x2x1x4, f32 5x1x4, f32 5x1x4");
  EXPECT_EQ(Infer("input %x: f16[5x2x3] input %w: f16[2x12x3] input %r: f16[2x12x4]",
                  "GRU(%x, %w, %r) {direction=\"bidirectional\"}", 2),
            "f16 5x2x2x4, f16 2x2x4");
  EXPECT_EQ(
      Infer("input %x: f32[0x2x3] input %w: f32[1x4x3] input %r: f32[1x4x4]", "RNN(%x, %w, %r)", 2),
      "f32 0x1x2x4, f32 1x2x4");
}

TEST(InferRecurrent, Faults) {
  const auto expect = [](const std::string& inputs, const std::string& node,
                         const std::string& part) {
    const std::string found = Infer(inputs, node, node.starts_with("LSTM") ? 3 : 2);
    EXPECT_TRUE(found.starts_with("bad-model ")) << found;
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  const std::string lstm = kLstm;
  expect(lstm, "LSTM(%x, %w, %r) {hidden_size=5}", "hidden_size is 5");
  expect(lstm, "LSTM(%x, %w, %r) {direction=\"up\"}", "unknown direction");
  expect(lstm, "LSTM(%x, %w, %r) {direction=\"bidirectional\"}", "input 1 has shape");
  expect(lstm, "LSTM(%x, %w, %r) {layout=2}", "layout 2");
  expect(lstm, "LSTM(%x, %w, %r) {clip=-1.0}", "is negative");
  expect(lstm, "LSTM(%x, %w, %r) {activations=[\"Tanh\"]}", "names 1 activations, expected 3");
  expect(lstm, "LSTM(%x, %w, %r) {activations=[\"Tanh\", \"Tanh\", \"Cosh\"]}",
         "unknown activation");
  expect(lstm, "LSTM(%x, %w, %r) {activations=[\"Tanh\", \"Tanh\", \"ScaledTanh\"]}",
         "needs an alpha and a beta");
  expect(lstm, "GRU(%x, %w, %r)", "input 1 has shape");
  expect(lstm + "input %b: f32[1x16]", "LSTM(%x, %w, %r, %b)", "input 3 has shape 1x16");
  expect(lstm + "input %l: i64[2]", "LSTM(%x, %w, %r, _, %l)", "sequence_lens is i64");
  expect(lstm + "const %l: i32[2] = [5, 6]", "LSTM(%x, %w, %r, _, %l)", "sequence_lens[1] is 6");
  expect(lstm + "input %h: f32[2x1x4]", "LSTM(%x, %w, %r, _, _, %h)", "input 5 has shape");
  expect(lstm + "input %c: f16[1x2x4]", "LSTM(%x, %w, %r, _, _, _, %c)", "is f16");
  expect("input %x: f32[5x2] input %w: f32[1x4x3] input %r: f32[1x4x4]", "RNN(%x, %w, %r)",
         "rank 3");
  expect("input %x: f32[5x2x3] input %w: f32[1x0x3] input %r: f32[1x0x0]", "RNN(%x, %w, %r)",
         "hidden_size is 0");
}

// The parameters of the activations, one after the other, to those that take one.
TEST(InferRecurrent, ActivationsConsumeTheLists) {
  const auto graph = ParseGraph(StrCat(
      "graph \"g\" { ", kLstm,
      "(%y: f32, _, _) = LSTM(%x, %w, %r) {activations=[\"Tanh\", \"hardsigmoid\", \"LeakyRelu\"], "
      "activation_alpha=[0.5, 0.25], activation_beta=[0.75]} }"));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto spec = ResolveRecurrent(*graph, graph->nodes[0]);
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(spec->attrs.alpha, (std::vector<double>{0, 0.5, 0.25}));
  EXPECT_EQ(spec->attrs.beta, (std::vector<double>{0, 0.75, 0}));
}

}  // namespace
}  // namespace aicf::ir
