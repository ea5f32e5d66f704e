/// An ONNX file as a graph, for callers that need no protobuf types (import/onnx.h has those).
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/import/named_files.h"
#include "compiler/ir/budgets.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// Reads and checks an ONNX file; external data is confined to the model's directory, and to
/// a store where links lead there. Infers nothing. Errors: kIo, kBadModel, kUnsupported (all
/// unsupported nodes at once), kResource for a model beyond the budgets.
Result<ir::Graph> ImportOnnx(const std::string& path, const Budgets& budgets = {},
                             const NamedFiles& files = {});

}  // namespace aicf
