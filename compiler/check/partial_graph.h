/// A graph without the nodes that are refused, and without what depends on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace aicf {

class PartialGraph {
 public:
  using Declared = std::map<std::string, ir::Value, std::less<>>;

  /// Values that nothing makes count as refused, but for those whose types `declared` knows in
  /// full: they become inputs. REQUIRES: the graph's inputs have shapes.
  /// `reads`: what refused nodes read that are not in the graph.
  PartialGraph(ir::Graph graph, const Declared& declared, std::vector<ir::ValueId> reads);

  const ir::Graph& whole() const { return graph_; }
  void Drop(size_t node) { dropped_[node] = true; }
  bool dropped(size_t node) const { return dropped_[node]; }

  struct Part {
    ir::Graph graph;                    ///< values have the whole's ids
    std::vector<size_t> nodes;          ///< each node's position in the whole
    std::vector<ir::ValueId> boundary;  ///< results that refused nodes read
    bool assumes = false;               ///< a declared type took the place of an inferred one
  };
  Part Remaining() const;

 private:
  bool Assume(ir::ValueId v, Part& part) const;

  ir::Graph graph_;
  std::vector<ir::ValueId> reads_;
  std::vector<bool> dropped_;
  std::map<ir::ValueId, ir::Value> declared_;  ///< with full shapes
};

}  // namespace aicf
