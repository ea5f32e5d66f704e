#include "compiler/import/onnx.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <cstring>

#include "base/log.h"
#include "base/scanner.h"
#include "base/utf8.h"
#include "compiler/import/file.h"
#include "compiler/import/import_onnx.h"
#include "compiler/import/onnx_budget.h"
#include "compiler/import/onnx_check.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/onnx_types.h"
#include "schema/codec.h"

namespace aicf {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::shared_ptr<onnx::ModelProto>> Parse(const ModelFile& file, const Budgets& budgets) {
  AICF_RETURN_IF_ERROR(CheckParseBudget(file.fd.get(), budgets));
  // The parser would write errors to stderr; they are reported below.
  const google::protobuf::LogSilencer silence;
  auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::FileInputStream in(file.fd.get());
  const bool parsed = model->ParseFromBoundedZeroCopyStream(&in, static_cast<int>(file.size));
  if (in.GetErrno() != 0) {
    return Error(Code::kIo, "cannot read the model: ", std::strerror(in.GetErrno()));
  }
  if (!parsed) {
    return Error(Code::kBadModel, "the file is not an ONNX model (malformed protobuf)");
  }
  AICF_RETURN_IF_ERROR(budgets.Check(Budget::kNodes, model->graph().node_size()));
  return model;
}

// Copies the metadata. Strings that an artifact cannot hold are dropped with a warning, since no
// model needs them to run.
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

Result<OnnxImport> Prepare(const std::shared_ptr<onnx::ModelProto>& model,
                           const ModelLocation& location, const Budgets& budgets) {
  if (!model->has_graph()) return Error(Code::kBadModel, "the model has no graph");
  OnnxImport import;
  AICF_ASSIGN_OR_RETURN(import.opset, CheckOpsets(*model));
  AICF_RETURN_IF_ERROR(InlineFunctions(*model, import.opset, &import.function_opsets, budgets));
  import.source = TensorSource{model, location};
  return import;
}

// Reads one model file with `read`, and names it in errors.
template <class T>
Result<T> FromFile(const std::string& path, const Budgets& budgets, const NamedFiles& files,
                   Result<T> (*read)(std::shared_ptr<onnx::ModelProto>, const ModelLocation&,
                                     const Budgets&)) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenModelFile(path));
  auto model = Parse(file, budgets);
  if (!model.ok()) return model.status().WithContext(Quote(path));
  auto result =
      read(*std::move(model), {DirectoryOf(path), file.device, file.inode, files}, budgets);
  if (!result.ok()) return result.status().WithContext(Quote(path));
  return result;
}

}  // namespace

Result<ir::Graph> ImportOnnxModel(std::shared_ptr<onnx::ModelProto> model,
                                  const ModelLocation& location, const Budgets& budgets) {
  AICF_ASSIGN_OR_RETURN(OnnxImport import, Prepare(model, location, budgets));
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, OnnxGraphImporter(model->graph(), import).Run());
  if (!import.gaps.empty()) return RefuseGaps(import.gaps);
  CopyMetadata(*model, graph);
  return graph;
}

Result<PartialModel> ImportOnnxModelPartly(std::shared_ptr<onnx::ModelProto> model,
                                           const ModelLocation& location, const Budgets& budgets) {
  AICF_ASSIGN_OR_RETURN(OnnxImport import, Prepare(model, location, budgets));
  PartialModel part;
  AICF_ASSIGN_OR_RETURN(part.graph, OnnxGraphImporter(model->graph(), import).Run());
  part.gaps = std::move(import.gaps);
  part.refused_reads = std::move(import.refused_reads);
  std::unordered_set<std::string> constants;
  for (const auto& t : model->graph().initializer()) constants.insert(t.name());
  for (const auto& info : model->graph().input()) {
    if (!constants.contains(info.name())) part.inputs.push_back(info.name());
  }
  for (const auto* infos : {&model->graph().value_info(), &model->graph().output()}) {
    for (const auto& info : *infos) {
      auto value = DeclaredValue(info);
      if (value.ok()) part.declared.insert_or_assign(info.name(), *std::move(value));
    }
  }
  return part;
}

Result<ir::Graph> ImportOnnx(const std::string& path, const Budgets& budgets,
                             const NamedFiles& files) {
  return FromFile(path, budgets, files, &ImportOnnxModel);
}

Result<PartialModel> ImportOnnxPartly(const std::string& path, const Budgets& budgets,
                                      const NamedFiles& files) {
  return FromFile(path, budgets, files, &ImportOnnxModelPartly);
}

}  // namespace aicf
