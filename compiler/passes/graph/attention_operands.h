/// Brings the operands of a recognised attention into the form that aicf.Attention takes. Nodes
/// that only move, repeat or scale them are looked through: they become strides and a factor.
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
  std::string name_;  ///< name of every node: that of the product with the values
  std::vector<ir::Node> nodes_;
};

class AttentionOperandForms {
 public:
  /// `finder` knows producers and readers from before the first change to the graph, once for all
  /// of its attentions: a graph may have many. It outlives this.
  AttentionOperandForms(ir::Graph& graph, const AttentionFinder& finder, NodeWriter& write)
      : graph_(graph), write_(write), producer_(finder.producer()), uses_(finder.uses()) {}

  /// Takes the scalar factors off an input of a product, which afterwards reads the unscaled value,
  /// and returns their product. Nodes that only move elements are looked through. Stops at a value
  /// that something else reads as well.
  double TakeScale(int product, size_t input);

  /// Brings a value that is broadcast to `axes` and a last axis into the form [b, h, l, last],
  /// where each of b, h and l is the extent in `to`, or 1. kNoValue: the axes do not divide so.
  ir::ValueId AsScores(ir::ValueId v, const Dims& axes, const HeadAxes& to);
  /// Queries [.., L, D], whose product has the leading axes `axes`, as [B, H, L, D]; or kNoValue.
  ir::ValueId AsQueries(ir::ValueId v, const Dims& axes, const HeadAxes& to);
  /// Keys or values [.., S, D] as [B, G, S, D]; or kNoValue. `grouped`: repetitions of heads are
  /// looked through, so that G is the least number of heads from which all others follow.
  ir::ValueId AsKeys(ir::ValueId v, const Dims& axes, const HeadAxes& to, bool grouped);
  /// v [.., X, Y] as [.., Y, X]. Where v itself is the result of such an exchange, its operand is
  /// taken instead of exchanging once more.
  ir::ValueId Swapped(ir::ValueId v);

 private:
  int Producer(ir::ValueId v) const;
  bool SwapsLast(const ir::Node& node) const;
  bool RepeatsLeading(const ir::Node& node) const;
  ir::ValueId WithoutRepeats(ir::ValueId v, Dims& axes, const HeadAxes& to) const;

  ir::Graph& graph_;
  NodeWriter& write_;
  const std::vector<int>& producer_;
  const Uses& uses_;
};

}  // namespace aicf
