/// The types that a model declares for its inputs and outputs.
#pragma once

#include <onnx/onnx.pb.h>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// A value's dtype and the extents that the model declares; -1 for those left open. Errors:
/// kBadModel; kUnsupported for what is no tensor of a known element type.
Result<ir::Value> DeclaredValue(const onnx::ValueInfoProto& info);

/// Sequences and optionals are taken apart while compiling: what they hold in the end has to be
/// tensors. Errors: kUnsupported.
Status CheckOutputType(const onnx::TypeProto& type);

}  // namespace aicf
