/// One call of a model-local function: the function's nodes with the call's names and attributes.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/status.h"

namespace aicf {

/// A node's name, or its op and first output.
std::string NodeName(const onnx::NodeProto& node);

/// Every name of a model's values, and those that inlining adds.
class UniqueNames {
 public:
  void Collect(const onnx::GraphProto& graph);
  /// The prefix of all names under a call. Calls may share a name; counting them keeps the names of
  /// their values apart without a search.
  std::string Prefix(const onnx::NodeProto& call);
  /// base, base.1, base.2, ...: the first that nothing has.
  std::string Fresh(const std::string& base);

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> calls_;
};

/// A function sees nothing but its inputs and attributes; what it makes gets names under the
/// call's.
class FunctionCall {
 public:
  /// `bytes_left`: what the names and attributes that all calls of a model copy may still take.
  FunctionCall(const onnx::NodeProto& call, const onnx::FunctionProto& function, UniqueNames& names,
               uint64_t& bytes_left);

  /// Appends the nodes. Calls among them are left for the caller. Errors: kBadModel, kUnsupported,
  /// kResource.
  Status Make(google::protobuf::RepeatedPtrField<onnx::NodeProto>& out);

 private:
  /// The new names of the values of the function, or of a subgraph in it, by their old names.
  struct Scope {
    const Scope* parent = nullptr;
    std::unordered_map<std::string, std::string> names;
    const std::string* Find(const std::string& name) const;  ///< nullptr: no such value so far
  };

  Status BindSignature();
  Status Spend(uint64_t bytes);
  Status ForwardOutputs(google::protobuf::RepeatedPtrField<onnx::NodeProto>& out);
  Status Define(std::string& name, Scope& scope);
  Status Resolve(std::string& name, const Scope& scope);
  Status Rename(onnx::NodeProto& node, Scope& scope);
  Status Rename(onnx::GraphProto& graph, const Scope& around);
  Status ReplaceReferences(onnx::NodeProto& node);
  Result<const onnx::AttributeProto*> Given(const std::string& name);

  const onnx::NodeProto& call_;
  const onnx::FunctionProto& function_;
  UniqueNames& names_;
  uint64_t& bytes_left_;
  const std::string prefix_;
  std::map<std::string, onnx::AttributeProto> defaults_;
  std::unordered_map<std::string, std::string> results_;  ///< the call's outputs, by the function's
  Scope top_;
};

}  // namespace aicf
