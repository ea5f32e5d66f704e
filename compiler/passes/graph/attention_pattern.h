/// Attention as exporters write it out: a product of queries and keys, elementwise nodes on the
/// scores, a softmax over the keys, a product with the values.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// Nodes of one match, by index.
struct AttentionPattern {
  int product = -1;         ///< MatMul of queries and keys
  std::vector<int> scores;  ///< elementwise nodes and Reshapes up to the softmax, in order
  int softmax = -1;
  std::vector<int> guards;  ///< what only moves, widens or guards the probabilities, in order
  int weighted = -1;        ///< MatMul with the values

  std::vector<ir::ValueId> masked;  ///< a guard gives 0 where a row of these is minus infinity

  std::vector<int> Nodes() const;
};

/// What a softmax turned out to be a part of.
struct AttentionMatch {
  AttentionPattern pattern;
  /// "name: sentence", the condition that failed; empty: the pattern holds. Conditions: axis,
  /// product, probabilities, single-use, graph-output, loop, weights.
  std::string refusal;
  /// Whether the softmax stands between products at all, so that a refusal is worth telling.
  bool worth_telling = false;
};

/// Finds the dataflow around a softmax, in the graph as it was at construction.
class AttentionFinder {
 public:
  explicit AttentionFinder(const ir::Graph& graph);
  /// REQUIRES: node `softmax` is a Softmax.
  AttentionMatch Find(int softmax) const;
  /// Producers and readers of the values, in the graph as it was at construction.
  const std::vector<int>& producer() const { return producer_; }
  const Uses& uses() const { return uses_; }

 private:
  bool OverKeys(const ir::Node& softmax) const;
  std::string FindWeighted(AttentionPattern& pattern) const;
  bool IsRowGuard(const ir::Node& where, ir::ValueId v, ir::ValueId* masked) const;
  int NextGuard(ir::ValueId v, AttentionPattern& pattern) const;
  bool IsAdded(const AttentionPattern& pattern, ir::ValueId v) const;
  std::vector<int> NodesBehind(ir::ValueId scores, std::vector<int>& products) const;
  std::string FollowScores(AttentionPattern& pattern, const std::vector<int>& behind) const;
  std::string FindProduct(AttentionPattern& pattern) const;
  std::string CheckPlace(const AttentionPattern& pattern) const;

  const ir::Graph& graph_;
  std::vector<int> producer_;
  std::vector<int64_t> loops_;
  Uses uses_;
};

/// True for Reshape and its like where the last `axes` axes keep their extents.
bool KeepsLastAxes(const ir::Graph& graph, const ir::Node& node, int axes);

}  // namespace aicf
