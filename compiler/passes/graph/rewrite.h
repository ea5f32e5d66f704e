/// Tools of the graph passes: fresh names, constants, forwarding of values, decisions.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// Makes values with names that no other value of the graph has. Reads the graph's names once.
/// REQUIRES: nobody else adds values meanwhile.
class ValueMaker {
 public:
  explicit ValueMaker(ir::Graph& graph);
  std::string Fresh(std::string_view base);
  ir::ValueId Value(std::string_view base, DType dtype, const Dims& shape);
  ir::ValueId Constant(std::string_view base, ir::Tensor tensor);
  ir::ValueId Ints(std::string_view base, std::span<const int64_t> values);
  /// Bytes of all names that it has made.
  int64_t name_bytes() const { return name_bytes_; }

 private:
  void CollectNames();

  ir::Graph& graph_;
  int64_t name_bytes_ = 0;
  bool collected_ = false;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> next_;  ///< next suffix by base: long loops ask often
};

/// A rank-0 constant of a float dtype.
ir::Tensor ScalarTensor(double value, DType dtype);

/// Collects values that others replace and nodes that are dropped; applies both to the graph in one
/// sweep.
class Forwarding {
 public:
  explicit Forwarding(ir::Graph& graph);

  /// The value that stands for v by now.
  ir::ValueId Resolve(ir::ValueId v) const;
  /// Lets every use of `from` read `to`, and drops `producer`, the node that makes `from`. A graph
  /// output keeps its name: where `from` is one, `to` takes over the name if that is possible.
  /// Otherwise nothing changes and the result is false. REQUIRES: equal dtype and shape; `to` is
  /// defined before `from`.
  bool Forward(int producer, ir::ValueId from, ir::ValueId to);
  void Drop(int node) { dropped_[node] = true; }
  bool dropped(int node) const { return dropped_[node]; }
  bool IsOutput(ir::ValueId v) const { return is_output_[v]; }
  /// Rewrites the graph. The object must not be used afterwards.
  void Apply();

 private:
  ir::Graph& graph_;
  std::vector<ir::ValueId> stands_for_;
  std::vector<bool> dropped_, is_output_, is_produced_;
};

/// The readers of each value, as they were at construction.
class Uses {
 public:
  explicit Uses(const ir::Graph& graph);
  const std::vector<int>& Of(ir::ValueId v) const { return users_[v]; }
  bool IsOutput(ir::ValueId v) const { return is_output_[v]; }
  /// The one node that reads v, or -1: none, several, or v is a graph output.
  int Single(ir::ValueId v) const;

 private:
  std::vector<std::vector<int>> users_;
  std::vector<bool> is_output_;
};

/// Records a rewrite that is always an improvement.
void RecordRewrite(PassContext& context, std::string_view pass, DecisionKind kind,
                   schema::Subject subject, std::string choice, std::string rule,
                   std::vector<Alternative> alternatives = {});

/// The subject of a decision about one node.
schema::Subject About(const ir::Node& node);
/// The subject of a decision about several nodes, by index.
schema::Subject About(const ir::Graph& graph, const std::vector<int>& nodes);

}  // namespace aicf
