/// ONNX models that are already parsed. ImportOnnx (compiler/compiler.h) reads the file and calls
/// this.
#pragma once

#include <onnx/onnx.pb.h>

#include <memory>

#include "base/status.h"
#include "compiler/import/external_data.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// Checks the model and makes it a graph of ops.def's ops in their newest form (with the marks of
/// compiler/ir/legacy.h). Constants are views of the proto, which they keep alive. Errors:
/// kBadModel, kUnsupported (all unsupported nodes at once), and kIo for external data.
Result<ir::Graph> ImportOnnxModel(std::shared_ptr<const onnx::ModelProto> model,
                                  const ModelLocation& location);

}  // namespace aicf
