/// Test support: a model with open extents, given as text, on its way through the pipeline.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/compiler.h"
#include "compiler/ir/text.h"

namespace aicf::testing {

/// The graph around `body`; input extents "?" get their symbols by input and axis.
inline ir::Graph OpenModel(const std::string& body,
                           const std::map<std::pair<std::string, int>, std::string>& symbols = {}) {
  auto graph = ir::ParseGraph("graph \"g\" {\n" + body + "\n}");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  if (!graph.ok()) return {};
  for (ir::ValueId id : graph->inputs) {
    ir::Value& v = graph->values[id];
    v.symbols.assign(static_cast<size_t>(v.shape.rank()), "");
    for (int d = 0; d < v.shape.rank(); ++d) {
      const auto symbol = symbols.find({v.name, d});
      if (symbol != symbols.end()) v.symbols[static_cast<size_t>(d)] = symbol->second;
    }
  }
  return *std::move(graph);
}

/// From the graph to a plan at these shapes.
inline Result<schema::Contents> PlanOf(const ir::Graph& model, const ShapeMap& shapes,
                                       const std::string& target = "cpu:baseline") {
  CompileOptions options;
  options.target = target;
  options.shapes = shapes;
  options.images = false;
  DecisionLog log;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(target));
  context.decisions = &log;
  PassRunner runner(options.passes);
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, PrepareGraph(model, options, runner, context));
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, Lower(graph, options, runner, context));
  return MakePlan(lowered, options, context);
}

}  // namespace aicf::testing
