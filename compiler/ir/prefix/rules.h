/// One rule per op for CheckPrefix: given that its operands are prefixes, are its results?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace aicf::ir {

/// The same node in the graph of large shapes and in that of small ones. Both have the op, the
/// attributes and the operands in common; operands and results have one rank, and nowhere larger
/// extents in the small graph.
struct NodePair {
  const Graph& large_graph;
  const Graph& small_graph;
  const Node& large;
  const Node& small;

  bool has(size_t i) const { return large.input(i) != kNoValue; }
  size_t inputs() const { return large.inputs.size(); }
  /// REQUIRES: the operand, or the result, is present.
  const Dims& L(size_t i) const { return large_graph.values[large.inputs[i]].shape; }
  const Dims& S(size_t i) const { return small_graph.values[small.inputs[i]].shape; }
  const Dims& OutL(size_t k) const { return large_graph.values[large.outputs[k]].shape; }
  const Dims& OutS(size_t k) const { return small_graph.values[small.outputs[k]].shape; }
};

struct PrefixRule {
  std::string_view op;
  /// Empty, or why a result is no prefix: "it sums over axis 2, which is padded".
  std::string (*check)(const NodePair&);
  /// Bit i: operand i gives shapes, axes or counts. It need not be a prefix: its value is constant
  /// in both graphs, and the rule compares what follows from it.
  uint32_t parameters = 0;
};

/// nullptr: nothing is known of the op.
const PrefixRule* FindPrefixRule(std::string_view op);

}  // namespace aicf::ir
