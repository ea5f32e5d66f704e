/// Random graphs for differential tests: every shape is known, values stay small, and views,
/// copies, products and elementwise chains meet in every combination.
#pragma once

#include <cstdint>
#include <random>

#include "compiler/ir/graph.h"

namespace aicf {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : rng_(seed) {}
  /// One or two inputs, about `nodes` nodes, one to three outputs.
  ir::Graph Make(int nodes);

 private:
  using Ids = std::vector<ir::ValueId>;

  int64_t Int(int64_t low, int64_t high);
  Dims Shape(int rank);
  ir::ValueId Input();
  ir::ValueId Constant(const Dims& shape);
  ir::ValueId IntConstant(const std::vector<int64_t>& values);
  /// Any f32 value so far.
  ir::ValueId Any();
  ir::ValueId AnyOfRank(int rank);
  void Add(std::string_view op, Ids inputs, ir::AttrMap attrs = {}, int outputs = 1);
  void AddOne();

  void Unary();
  void Binary();
  void Transpose();
  void Reshape();
  void Slice();
  void Concat();
  void Split();
  void Reduce();
  void Softmax();
  void MatMul();
  void Conv();
  void Pool();
  void Expand();
  void Pad();
  void Gather();

  std::mt19937 rng_;
  ir::Graph g_;
  Ids floats_;
};

}  // namespace aicf
