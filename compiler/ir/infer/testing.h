/// Runs one shape rule on a node written as text.
#pragma once

#include <string>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/text.h"

namespace aicf::ir::testing {

/// `inputs`: lines of the text form that declare inputs and constants; `node`: "Conv(%x, %w) {...}"
/// with `outputs` results, behind which `absent` ones are missing. Gives "f32 1x2x3",
/// comma-separated, or the error's message.
inline std::string Infer(const std::string& inputs, const std::string& node, int outputs = 1,
                         int absent = 0) {
  std::string results;
  for (int i = 0; i < outputs; ++i)
    results += (i > 0 ? ", %y" : "%y") + std::to_string(i) + ": f32";
  for (int i = 0; i < absent; ++i) results += ", _";
  if (outputs + absent > 1) results = "(" + results + ")";
  const auto graph =
      ParseGraph("graph \"g\" {\n" + inputs + "\n" + results + " = " + node + " \"n\"\n}");
  if (!graph.ok()) return "PARSE " + graph.status().message();
  Graph copy = *graph;
  const Status status = InferNode(copy, graph->nodes[0]);
  if (!status.ok()) return std::string(CodeName(status.code())) + " " + status.message();
  std::string out;
  for (ValueId v : graph->nodes[0].outputs) {
    if (v == kNoValue) continue;
    out += StrCat(out.empty() ? "" : ", ", DTypeName(copy.values[v].dtype), " ",
                  ToString(copy.values[v].shape));
  }
  return out;
}

}  // namespace aicf::ir::testing
