// Graph inputs whose values the caller knows become constants.
#include <algorithm>

#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

Status Contradicts(const ir::Value& input, const ir::Tensor& value) {
  return Error(Code::kInvalidArgument, "input ", Quote(input.name), " is ", DTypeName(input.dtype),
               " ", ToListString(input.shape), " in the model (-1: open), bound to ",
               DTypeName(value.dtype()), " ", ToListString(value.shape()));
}

bool Fits(const ir::Value& input, const Dims& shape) {
  if (!input.shape_known && input.shape.empty()) return true;
  if (input.shape.rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (input.shape[i] >= 0 && input.shape[i] != shape[i]) return false;
  }
  return true;
}

}  // namespace

Status BindValues(ir::Graph& graph, const std::map<std::string, ir::Tensor, std::less<>>& values) {
  for (const auto& [input_name, value] : values) {
    const std::string& name = input_name;
    const auto it = std::ranges::find_if(
        graph.inputs, [&](ir::ValueId id) { return graph.values[id].name == name; });
    if (it == graph.inputs.end()) {
      return Error(Code::kInvalidArgument, "the model has no input ", Quote(name), " to bind");
    }
    ir::Value& input = graph.values[*it];
    if (value.dtype() != input.dtype || !Fits(input, value.shape())) {
      return Contradicts(input, value);
    }
    input.shape = value.shape();
    input.shape_known = true;
    input.constant = value;
    input.symbols.clear();
    graph.inputs.erase(it);
  }
  return OkStatus();
}

}  // namespace aicf
