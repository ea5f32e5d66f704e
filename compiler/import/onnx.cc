#include "compiler/import/onnx.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include "base/log.h"
#include "base/scanner.h"
#include "compiler/compiler.h"
#include "compiler/import/file.h"
#include "compiler/import/onnx_budget.h"
#include "compiler/import/onnx_check.h"
#include "compiler/import/onnx_graph.h"
#include "schema/codec.h"
#include "base/utf8.h"

namespace aicf {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::shared_ptr<const onnx::ModelProto>> Parse(const ModelFile& file) {
  AICF_RETURN_IF_ERROR(CheckParseBudget(file.fd.get()));
  // The parser would write to stderr; its refusal is ours to report.
  const google::protobuf::LogSilencer silence;
  auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::FileInputStream in(file.fd.get());
  if (!model->ParseFromBoundedZeroCopyStream(&in, static_cast<int>(file.size))) {
    return Error(Code::kBadModel, "the file is not an ONNX model (malformed protobuf)");
  }
  return std::shared_ptr<const onnx::ModelProto>(std::move(model));
}

// Strings an artifact could not hold are dropped with a warning: no model depends on them to run.
void CopyMetadata(const onnx::ModelProto& model, ir::Graph& graph) {
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    if (IsCleanText(entry.key()) && IsCleanText(entry.value()) &&
        entry.key().size() <= schema::kMaxStringBytes &&
        entry.value().size() <= schema::kMaxMetadataBytes) {
      graph.metadata.emplace_back(entry.key(), entry.value());
    } else {
      Log(LogLevel::kWarning, StrCat("metadata ", Quote(entry.key()), " is not text; left out"));
    }
  }
}

}  // namespace

Result<ir::Graph> ImportOnnxModel(std::shared_ptr<const onnx::ModelProto> model,
                                  const ModelLocation& location) {
  if (!model->has_graph()) return Error(Code::kBadModel, "the model has no graph");
  AICF_RETURN_IF_ERROR(CheckFunctions(*model));
  AICF_ASSIGN_OR_RETURN(const int64_t opset, CheckOpsets(*model));
  AICF_ASSIGN_OR_RETURN(
      ir::Graph graph, OnnxGraphImporter(model->graph(), opset, TensorSource{model, location}).Run());
  CopyMetadata(*model, graph);
  return graph;
}

Result<ir::Graph> ImportOnnx(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenModelFile(path));
  auto model = Parse(file);
  if (!model.ok()) return model.status().WithContext(Quote(path));
  auto graph = ImportOnnxModel(*std::move(model), {DirectoryOf(path), file.device, file.inode});
  if (!graph.ok()) return graph.status().WithContext(Quote(path));
  return graph;
}

}  // namespace aicf
