#include "python/src/verify.h"

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/box.h"
#include "tools/aicf-inspect/html.h"
#include "tools/aicf-inspect/json.h"
#include "tools/verify/report_json.h"

namespace aicf::python {
namespace {

/// An input extended to the size of the entry point's buffer; the padding is zero.
Result<std::vector<std::byte>> Whole(const TensorInfo& info, const Dims& shape,
                                     const NamedTensors& inputs) {
  const auto found = inputs.find(info.name);
  if (found == inputs.end()) {
    return Error(Code::kInvalidArgument, "input '", info.name, "' is missing");
  }
  const ir::Tensor& given = found->second;
  if (given.dtype() != info.dtype || given.shape() != shape) {
    return Error(Code::kInvalidArgument, "input '", info.name, "': expected ",
                 DTypeName(info.dtype), " ", ToString(shape), ", got ", DTypeName(given.dtype()),
                 " ", ToString(given.shape()));
  }
  std::vector<std::byte> whole(info.bytes);
  AICF_RETURN_IF_ERROR(ForEachRun(shape, info.shape, DTypeBytes(info.dtype),
                                  [&](uint64_t part, uint64_t at, uint64_t run) {
                                    std::memcpy(&whole[at], &given.bytes()[part], run);
                                    return OkStatus();
                                  }));
  return whole;
}

schema::DecisionLines Shown(const schema::Artifact& artifact) {
  return tools::ReadDecisions(artifact.text(schema::SectionKind::kDecisions), artifact.program());
}

}  // namespace

Result<std::string> VerifyProgram(const LoadedProgram& loaded, const NamedTensors& inputs,
                                  const SessionOptions& options) {
  std::vector<InputShape> shapes;
  for (const auto& [name, tensor] : inputs) shapes.push_back({name, tensor.shape()});
  AICF_ASSIGN_OR_RETURN(const EntryChoice choice, loaded.program->Choose(shapes));
  const EntryInfo& entry = loaded.program->entries()[choice.entry];
  std::vector<std::vector<std::byte>> whole;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                          Whole(entry.inputs[i], choice.inputs[i], inputs));
    whole.push_back(std::move(bytes));
  }
  AICF_ASSIGN_OR_RETURN(const auto stored, loaded.Stored());
  AICF_ASSIGN_OR_RETURN(
      const tools::StepsReport report,
      tools::VerifySteps(loaded.program, stored, choice.entry, options, whole, {}));
  tools::Json out = tools::StepsReportJson(*loaded.program, report);
  out["device"] = report.device;
  out["entry"] = entry.name;
  return out.dump(-1, ' ', false, tools::Json::error_handler_t::replace);
}

Result<std::string> ReportPageOf(const LoadedProgram& loaded, const std::string& title) {
  AICF_ASSIGN_OR_RETURN(const auto stored, loaded.Stored());
  return tools::ReportPage(tools::ReportData(*stored, Shown(*stored), title, nullptr));
}

Result<std::string> DecisionsOf(const LoadedProgram& loaded) {
  AICF_ASSIGN_OR_RETURN(const auto stored, loaded.Stored());
  Result<std::vector<schema::Decision>> decisions =
      schema::ParseDecisionLines(stored->text(schema::SectionKind::kDecisions));
  if (!decisions.ok()) return Error(Code::kBadArtifact, decisions.status().message());
  return schema::ToJsonLines(*decisions);
}

Result<std::string> DescriptionOf(const LoadedProgram& loaded) {
  AICF_ASSIGN_OR_RETURN(const auto stored, loaded.Stored());
  return tools::ArtifactJson(*stored, Shown(*stored));
}

}  // namespace aicf::python
