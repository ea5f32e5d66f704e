/// Attributes of ONNX nodes: known names and kinds, converted for the IR.
#pragma once

#include <onnx/onnx.pb.h>

#include "base/status.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// All attributes of a node under their ONNX names. `consumed_inputs`, a hint of opset 1, is
/// dropped. Errors: kBadModel for a name given twice, a kind that is not the op's or not the
/// value's, and references outside functions; kUnsupported for a name that the op has in no opset
/// aicf knows.
Result<ir::AttrMap> ImportAttributes(const onnx::NodeProto& node, const TensorSource& source);

}  // namespace aicf
