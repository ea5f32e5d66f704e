/// Writes a graph node by node, as the builders of language models need it.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/language/model.h"
#include "compiler/ir/graph.h"

namespace aicf::language {

using ir::ValueId;

class GraphWriter {
 public:
  ir::Graph& graph() { return graph_; }

  /// Sets the prefix of the names of nodes and values that follow, e.g. "blk.3.attn".
  void Scope(std::string scope) { scope_ = std::move(scope); }

  /// An input. `symbols` names the extents that are -1, by axis.
  ValueId Input(std::string_view name, DType dtype, const Dims& shape,
                std::vector<std::string> symbols);
  /// Makes a value an output of this name.
  void Output(std::string_view name, ValueId value);

  ValueId Constant(std::string_view name, ir::Tensor tensor);
  ValueId Ints(const std::vector<int64_t>& values);
  ValueId Float(double value);
  ValueId Int32(int64_t value);
  ValueId Floats(std::string_view name, const std::vector<float>& values, const Dims& shape);

  ValueId Op(std::string_view op, std::vector<ValueId> inputs, ir::AttrMap attrs = {});
  std::vector<ValueId> Ops(std::string_view op, std::vector<ValueId> inputs, ir::AttrMap attrs,
                           size_t outputs);

  // Ops in the form that the builders use them.
  ValueId Add(ValueId a, ValueId b) { return Op("Add", {a, b}); }
  ValueId Mul(ValueId a, ValueId b) { return Op("Mul", {a, b}); }
  ValueId Cast(ValueId x, DType to);
  ValueId Reshape(ValueId x, const std::vector<int64_t>& shape);  ///< 0: unchanged; -1: the rest
  ValueId Transpose(ValueId x, const std::vector<int64_t>& axes);
  ValueId Unsqueeze(ValueId x, int64_t axis);
  std::vector<ValueId> Split(ValueId x,
                             const std::vector<int64_t>& parts);  ///< along the last axis
  ValueId Concat(std::vector<ValueId> parts, int64_t axis);

 private:
  std::string Fresh(std::string_view base);

  ir::Graph graph_;
  std::string scope_;
  std::map<std::string, int, std::less<>> used_;
};

}  // namespace aicf::language
