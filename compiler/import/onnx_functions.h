/// Model-local functions (ModelProto.functions): found, proven finite, and inlined before the graph
/// is read.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/status.h"
#include "compiler/ir/budgets.h"

namespace aicf {

/// The version of ONNX's own ops, for nodes that came out of a function which imports another
/// version than the model does.
using FunctionOpsets = std::unordered_map<const onnx::NodeProto*, int64_t>;

/// What inlining may add to a model, in addition to the limit Budget::kNodes: functions that call
/// others twice double the size with every level.
inline constexpr uint64_t kMaxInlinedBytes = uint64_t{1} << 30;
/// Limit of what inlining may copy of names, and of attributes that calls pass.
inline constexpr uint64_t kMaxCopiedBytes = uint64_t{256} << 20;

class FunctionTable {
 public:
  /// Errors: kBadModel for two functions of one name, functions that call each other in circles or
  /// more than 100 deep; kResource when inlining all calls would pass the limits above.
  static Result<FunctionTable> Build(const onnx::ModelProto& model, const Budgets& budgets = {});

  /// The function that the node calls, or nullptr. A function of the model takes precedence over an
  /// op of the same name, since its body says exactly what is meant.
  const onnx::FunctionProto* Find(const onnx::NodeProto& node) const;
  /// The position of that function among the model's functions, or -1.
  int IndexOf(const onnx::NodeProto& node) const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, int>
      ids_;  ///< domain, name, overload
  const onnx::ModelProto* model_ = nullptr;
};

/// Replaces every call by the function's nodes, in place, in subgraphs too. `opset` is the model's.
/// Errors: kBadModel for a call that does not fit its function and for a body that is malformed;
/// kUnsupported; kResource where it would pass Budget::kNodes.
Status InlineFunctions(onnx::ModelProto& model, int64_t opset, FunctionOpsets* opsets,
                       const Budgets& budgets = {});

/// The function's defaults for attributes that a call leaves out, by name. Errors: kBadModel.
Result<std::map<std::string, onnx::AttributeProto>> DefaultAttributes(
    const onnx::FunctionProto& function);

}  // namespace aicf
