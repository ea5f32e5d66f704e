/// The score expression of a recognised attention, from the nodes between the product and the
/// softmax.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/attention_node.h"
#include "compiler/passes/graph/attention_band.h"
#include "compiler/passes/graph/attention_operands.h"
#include "compiler/passes/graph/score_expr.h"

namespace aicf {

class AttentionScores {
 public:
  /// REQUIRES: the pattern holds; its scores have `keys` as their last axis.
  AttentionScores(const ir::Graph& graph, const AttentionPattern& pattern, const HeadAxes& to,
                  int64_t keys)
      : graph_(graph), pattern_(pattern), to_(to), keys_(keys) {}

  /// Sets scale, windows and expression of `form`. `operands` brings the values that the expression
  /// reads into shape. Gives "", or the condition that failed as "name: sentence" (dtype, heads,
  /// limits).
  std::string Build(AttentionOperandForms& operands, ir::AttentionForm& form);
  /// The expression's operands in order. REQUIRES: Build succeeded.
  const std::vector<ir::ValueId>& operands() const { return score_.operands(); }

 private:
  bool IsScore(ir::ValueId v) const { return values_.contains(v); }
  bool KeepsMasked(size_t from) const;
  std::optional<Band> MaskOf(const ir::Node& node) const;
  bool TakeMask(size_t at, ir::AttentionForm& form);
  bool TakeFactor(const ir::Node& node, ir::AttentionForm& form);
  std::string Evaluate(const ir::Node& node, AttentionOperandForms& operands);

  const ir::Graph& graph_;
  const AttentionPattern& pattern_;
  HeadAxes to_;
  int64_t keys_;
  ScoreExpr score_;
  std::map<ir::ValueId, uint16_t> values_;  ///< nodes of the expression, by score of the graph
};

}  // namespace aicf
