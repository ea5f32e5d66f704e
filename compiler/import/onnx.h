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

/// A model as far as it is supported. What is not is left out of the graph: values that nothing
/// makes stand for the results of such nodes, and for such inputs and initializers.
struct PartialModel {
  ir::Graph graph;
  std::vector<ImportGap> gaps;  ///< inputs, initializers, nodes, outputs; each in the model's order
  std::vector<ir::ValueId> refused_reads;  ///< what nodes that were left out read
  /// Names of all inputs of the model that are not constants, supported or not.
  std::vector<std::string> inputs;
  /// What the model says of its values' types (value_info and outputs), as in ir::Graph's inputs.
  std::map<std::string, ir::Value, std::less<>> declared;
};

/// Checks the model and makes it a graph of ops.def's ops in their newest form (with the marks of
/// compiler/ir/legacy.h). Calls of the model's functions are inlined in the proto itself. Constants
/// are views of the proto, which they keep alive. Errors: kBadModel, kUnsupported (everything at
/// once), kResource for functions that grow without bound, and kIo for external data.
Result<ir::Graph> ImportOnnxModel(std::shared_ptr<onnx::ModelProto> model,
                                  const ModelLocation& location, const Budgets& budgets = {});

/// The same for a model that may have gaps. Errors: as above; kUnsupported for what concerns the
/// model as a whole.
Result<PartialModel> ImportOnnxModelPartly(std::shared_ptr<onnx::ModelProto> model,
                                           const ModelLocation& location,
                                           const Budgets& budgets = {});
/// The same for a file.
Result<PartialModel> ImportOnnxPartly(const std::string& path, const Budgets& budgets = {},
                                      const NamedFiles& files = {});

}  // namespace aicf
