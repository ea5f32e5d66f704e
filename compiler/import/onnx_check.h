/// What must hold of an ONNX file before its graph is read.
#pragma once

#include <onnx/onnx.pb.h>

#include <string>

#include "base/status.h"

namespace aicf {

/// True for the two spellings of ONNX's own domain.
bool IsDefaultDomain(const std::string& domain);

/// What the IR calls the node's op: its type, with the domain and a dot in front unless that is
/// ONNX's own ("com.microsoft.Gelu").
std::string QualifiedOp(const onnx::NodeProto& node);

/// True when a node, or one in a subgraph, is of ONNX's own domain.
bool UsesDefaultDomain(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

/// The version of the default domain that the model imports; the newest where no node needs one.
/// Errors: kUnsupported when there is none or it is outside [kMinOpset, kMaxOpset]; kBadModel when
/// a domain is imported twice.
Result<int64_t> CheckOpsets(const onnx::ModelProto& model);

}  // namespace aicf
