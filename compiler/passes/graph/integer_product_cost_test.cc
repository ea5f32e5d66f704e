#include "compiler/passes/graph/integer_product_cost.h"

#include <gtest/gtest.h>

#include "kernels/abi/device.h"

namespace aicf {
namespace {

// One node of two operands, of which only shapes count.
ir::Graph OneNode(std::string op, const Dims& x, const Dims& w, const Dims& out,
                  ir::AttrMap attrs = {}) {
  ir::Graph graph;
  const auto add = [&](const char* name, const Dims& shape) {
    ir::Value value;
    value.name = name;
    value.shape = shape;
    value.shape_known = true;
    graph.values.push_back(std::move(value));
  };
  add("x", x);
  add("w", w);
  add("out", out);
  graph.nodes.push_back({std::move(op), "node", {0, 1}, {2}, std::move(attrs), {}});
  return graph;
}

std::string RefusalOn(std::string_view target, const ir::Graph& graph, DType storage = DType::kF16,
                      bool dequantised_apart = false) {
  PassContext context;
  context.device = *abi::FindDevice(target);
  context.storage = storage;
  return IntegerProductRefusal(graph, graph.nodes[0], {DType::kU8, DType::kI8, dequantised_apart},
                               context);
}

TEST(IntegerProductCost, LargeProductsAreFasterInIntegersOnHopper) {
  const ir::Graph product = OneNode("MatMul", {32, 128, 768}, {768, 3072}, {32, 128, 3072});
  EXPECT_EQ(RefusalOn("cuda:sm_90a", product), "");
  EXPECT_EQ(RefusalOn("cuda:sm_90a", product, DType::kF32), "");
  const ir::Graph conv =
      OneNode("Conv", {32, 256, 14, 14}, {256, 256, 3, 3}, {32, 256, 14, 14},
              {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", int64_t{1}}});
  EXPECT_EQ(RefusalOn("cuda:sm_90a", conv), "");
}

// The three channels of a picture are fewer than the copy engine moves, so taps are folded.
TEST(IntegerProductCost, FirstConvolutionsAreComparedWithTheirTapsFolded) {
  const ir::AttrMap attrs = {{"pads", std::vector<int64_t>{3, 3, 3, 3}},
                             {"strides", std::vector<int64_t>{2, 2}},
                             {"group", int64_t{1}}};
  const ir::Graph conv =
      OneNode("Conv", {32, 3, 224, 224}, {64, 3, 7, 7}, {32, 64, 112, 112}, attrs);
  EXPECT_EQ(RefusalOn("cuda:sm_90a", conv), "");
}

// Small products take as long either way, but floats have to be made of the codes first.
TEST(IntegerProductCost, StepsThatDequantiseCountOnTheSideOfFloats) {
  const ir::Graph conv =
      OneNode("Conv", {1, 64, 56, 56}, {64, 64, 1, 1}, {1, 64, 56, 56}, {{"group", int64_t{1}}});
  EXPECT_NE(RefusalOn("cuda:sm_90a", conv).find("one of f16 takes "), std::string::npos);
  EXPECT_EQ(RefusalOn("cuda:sm_90a", conv, DType::kF16, true), "");
}

// Where no tensor cores take the codes, products of floats are faster.
TEST(IntegerProductCost, OthersStayInFloats) {
  const ir::Graph product = OneNode("MatMul", {4096, 768}, {768, 3072}, {4096, 3072});
  EXPECT_NE(RefusalOn("cuda:sm_80", product).find("cost: it would take "), std::string::npos);
  // Lines of 20 bytes are none that the copy engine moves.
  const ir::Graph odd = OneNode("MatMul", {4096, 20}, {20, 3072}, {4096, 3072});
  EXPECT_NE(RefusalOn("cuda:sm_90a", odd).find("one of f16 takes "), std::string::npos);
}

}  // namespace
}  // namespace aicf
