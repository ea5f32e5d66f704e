/// Attributes of ONNX nodes: known names and kinds, converted for the IR.
#pragma once

#include <onnx/onnx.pb.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// True for an attribute that holds a subgraph (a branch, a loop's body).
bool IsBodyAttribute(const std::string& op, const std::string& name);

/// The subgraphs that a node of the op must have.
std::vector<std::string_view> BodyAttributes(std::string_view op);

/// All attributes of a node under their ONNX names, except subgraphs. `consumed_inputs`, a hint of
/// opset 1, is dropped. Errors: kBadModel for a name given twice, a kind that is not the op's or
/// not the value's, and references outside functions; kUnsupported for a name that the op has in no
/// opset aicf knows.
Result<ir::AttrMap> ImportAttributes(const onnx::NodeProto& node, const TensorSource& source);

}  // namespace aicf
