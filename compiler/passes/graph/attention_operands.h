/// Operands of a recognised attention in the form that aicf.Attention takes: what only moves,
/// repeats or scales them is looked through, so that it becomes strides and a factor.
#pragma once

#include <string>
#include <vector>

#include "compiler/passes/graph/attention_pattern.h"
#include "compiler/passes/graph/head_axes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// Nodes to be put in front of the attention; their values exist in the graph at once.
class NodeWriter {
 public:
  NodeWriter(ir::Graph& graph, ValueMaker& make, std::string name)
      : graph_(graph), make_(make), name_(std::move(name)) {}

  ir::ValueId Reshape(ir::ValueId v, const Dims& shape);  ///< v itself when it has that shape
  ir::ValueId Expand(ir::ValueId v, const Dims& shape);   ///< v itself when it has that shape
  ir::ValueId SwapLast(ir::ValueId v);                    ///< the last two axes exchanged
  std::vector<ir::Node>& nodes() { return nodes_; }

 private:
  ir::ValueId Append(std::string_view op, ir::ValueId v, const Dims& shape);

  ir::Graph& graph_;
  ValueMaker& make_;
  std::string name_;  ///< of every node: that of the product with the values
  std::vector<ir::Node> nodes_;
};

class AttentionOperandForms {
 public:
  AttentionOperandForms(ir::Graph& graph, NodeWriter& write)
      : graph_(graph), write_(write), producer_(ir::ProducerOf(graph)), uses_(graph) {}

  /// The factor of an input of a product, which afterwards reads what was scaled: through nodes
  /// that only move elements, where nothing else reads their results.
  double TakeScale(int product, size_t input);

  /// A value that is broadcast to `axes` and a last axis, as [b, h, l, last] of `to`, each of b, h,
  /// l the whole extent or 1. kNoValue: the axes do not divide so.
  ir::ValueId AsScores(ir::ValueId v, const Dims& axes, const HeadAxes& to);
  /// Queries [.., L, D] whose product has the leading axes `axes`: [B, H, L, D]; or kNoValue.
  ir::ValueId AsQueries(ir::ValueId v, const Dims& axes, const HeadAxes& to);
  /// Keys or values [.., S, D]: [B, G, S, D]; or kNoValue. `grouped`: heads that repeat are looked
  /// through, so that G is the least number that gives all.
  ir::ValueId AsKeys(ir::ValueId v, const Dims& axes, const HeadAxes& to, bool grouped);
  /// v [.., X, Y] as [.., Y, X]; takes back an exchange of the two that v is.
  ir::ValueId Swapped(ir::ValueId v);

 private:
  int Producer(ir::ValueId v) const;
  bool SwapsLast(const ir::Node& node) const;
  bool RepeatsLeading(const ir::Node& node) const;
  ir::ValueId WithoutRepeats(ir::ValueId v, Dims& axes, const HeadAxes& to) const;

  ir::Graph& graph_;
  NodeWriter& write_;
  std::vector<int> producer_;
  Uses uses_;
};

}  // namespace aicf
