/// Test support: one graph text at several extents.
#pragma once

#include <string>

#include "compiler/ir/prefix/prefix.h"
#include "compiler/ir/text.h"
#include "compiler/passes/graph/passes.h"

namespace aicf::testing {

/// The graph around `body`, in which every '@' stands for `extent`, with every shape known.
inline Result<ir::Graph> AtExtent(const std::string& body, int64_t extent) {
  std::string text = "graph \"g\" {\n" + body + "\n}";
  const std::string number = std::to_string(extent);
  for (size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) {
    text.replace(at, 1, number);
  }
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, ir::ParseGraph(text));
  DecisionLog log;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice("cpu:baseline"));
  context.decisions = &log;
  AICF_RETURN_IF_ERROR(InferAndFold(graph, context));
  return graph;
}

/// CheckPrefix of the two; a graph that cannot be prepared gives its error.
inline std::string PrefixRefusal(const std::string& body, int64_t large, int64_t small) {
  const Result<ir::Graph> l = AtExtent(body, large);
  const Result<ir::Graph> s = AtExtent(body, small);
  if (!l.ok()) return "large: " + l.status().ToString();
  if (!s.ok()) return "small: " + s.status().ToString();
  return ir::CheckPrefix(*l, *s);
}

}  // namespace aicf::testing
