/// ONNX models that are already parsed. ImportOnnx (import_onnx.h) reads the file and calls
/// this.
#pragma once

#include <onnx/onnx.pb.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/import/external_data.h"
#include "compiler/import/onnx_gaps.h"
#include "compiler/ir/budgets.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// The part of a model that is supported; the rest is left out of the graph. The results of nodes
/// that were left out, and inputs and initializers that are not supported, are values that nothing
/// makes.
struct PartialModel {
  ir::Graph graph;
  std::vector<ImportGap> gaps;  ///< inputs, initializers, nodes, outputs; each in the model's order
  std::vector<ir::ValueId> refused_reads;  ///< values that nodes which were left out read
  /// Names of all inputs of the model that are not constants, supported or not.
  std::vector<std::string> inputs;
  /// The types that the model declares for its values (value_info and outputs), in the form of the
  /// inputs of ir::Graph.
  std::map<std::string, ir::Value, std::less<>> declared;
};

/// Checks the model and makes it a graph of ops.def's ops in their newest form (with the marks of
/// compiler/ir/legacy.h). Calls of the model's functions are inlined in the proto itself. Constants
/// are views of the proto, which they keep alive. Errors: kBadModel, kUnsupported (everything at
/// once), kResource for functions that grow without bound, and kIo for external data.
Result<ir::Graph> ImportOnnxModel(std::shared_ptr<onnx::ModelProto> model,
                                  const ModelLocation& location, const Budgets& budgets = {});

/// Like ImportOnnxModel, for a model that may have gaps. Errors: as above; kUnsupported for what
/// concerns the model as a whole.
Result<PartialModel> ImportOnnxModelPartly(std::shared_ptr<onnx::ModelProto> model,
                                           const ModelLocation& location,
                                           const Budgets& budgets = {});
/// Like ImportOnnxModelPartly, for a file.
Result<PartialModel> ImportOnnxPartly(const std::string& path, const Budgets& budgets = {},
                                      const NamedFiles& files = {});

}  // namespace aicf
