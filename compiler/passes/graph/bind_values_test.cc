// Inputs that the caller turns into constants.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/text.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Ints;
using Values = std::map<std::string, ir::Tensor, std::less<>>;

ir::Graph FixedModel() {
  auto graph = ir::ParseGraph(
      "graph \"g\" {\ninput %x: f32[4]\ninput %s: i64[2]\n%y: f32[4] = Exp(%x)\noutput %y\n}");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

TEST(BindValues, TheInputBecomesAConstant) {
  ir::Graph graph = FixedModel();
  ASSERT_TRUE(BindValues(graph, {{"s", Ints({2, 2})}}).ok());
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
  const auto bound = std::ranges::find(graph.values, "s", &ir::Value::name);
  ASSERT_TRUE(bound->is_constant());
  EXPECT_EQ(bound->constant.IntAt(1), 2);
}

TEST(BindValues, WhatContradictsTheModelIsRefused) {
  const float one = 1;
  const ir::Tensor real = ir::Tensor::FromValues<float>(DType::kF32, {1}, std::span(&one, 1));
  for (const Values& values : {Values{{"t", Ints({2})}}, Values{{"s", Ints({2})}},
                               Values{{"s", real}}, Values{{"y", Ints({2, 2})}}}) {
    ir::Graph graph = FixedModel();
    const Status status = BindValues(graph, values);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("\"" + values.begin()->first + "\""), std::string::npos)
        << status.message();
  }
}

}  // namespace
}  // namespace aicf
