/// From any opset's form of a node to the one that ops.def has.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// Oldest and newest version of the default domain that the rewrites know.
inline constexpr int64_t kMinOpset = 1;
inline constexpr int64_t kMaxOpset = 28;

using NameTable = std::unordered_map<std::string, ir::ValueId>;

/// One node on its way into the graph: inputs are values, attributes are still ONNX's.
struct NodeRewrite {
  ir::Graph& graph;
  NameTable& names;  ///< every value of the graph by name
  int64_t opset = 0;
  ir::Node node;
  std::vector<bool> output_used;  ///< whether anything reads output i

  bool OutputUsed(size_t i) const { return i < output_used.size() && output_used[i]; }
  /// Appends a constant value named after the node's first output.
  ir::ValueId AddConstant(std::string_view what, ir::Tensor tensor);
  ir::ValueId AddInts(std::string_view what, const std::vector<int64_t>& values);
  /// A rank-0 f32, which shape inference gives input 0's dtype.
  ir::ValueId AddScalar(std::string_view what, double value);
  /// Puts a value at an input position, with absent inputs before it.
  void SetInput(size_t i, ir::ValueId value);
  bool HasInput(size_t i) const { return node.input(i) != ir::kNoValue; }
};

/// True when the op can be imported: it is a row of ops.def, or it is rewritten into such rows.
bool CanImport(const std::string& op);

/// All ops of model files that can be imported, with their domain in front, sorted; names that only
/// passes use are left out.
std::vector<std::string> ImportableOps();

/// Brings rewrite.node into the newest form. Errors: kBadModel for a form that no opset has;
/// kUnsupported for forms that aicf does not have (training, outputs that are not computed).
Status RewriteToNewest(NodeRewrite& rewrite);

}  // namespace aicf
