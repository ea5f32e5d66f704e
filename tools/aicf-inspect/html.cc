#include "tools/aicf-inspect/html.h"

#include "kernels/abi/kernel.h"
#include "tools/aicf-inspect/json.h"
#include "tools/aicf-inspect/lowered_json.h"
#include "tools/aicf-inspect/page.h"
#include "tools/aicf-inspect/problem_json.h"
#include "tools/aicf-inspect/profile_reader.h"
#include "tools/common/files.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

Json DeviceJson(const std::string& target) {
  const Result<abi::DeviceSpec> device = abi::FindDevice(target);
  if (!device.ok()) return nullptr;
  return Json{{"name", device->name},
              {"bytes_per_us", device->bytes_per_us},
              {"fp32_flops_per_us", device->fp32_flops_per_us},
              {"tensor_flops_per_us", device->tensor_flops_per_us},
              {"launch_us", device->launch_us}};
}

Json GuardsJson(const std::vector<schema::Guard>& guards) {
  auto out = Json::array();
  for (const schema::Guard& g : guards) out.push_back(Json::array({g.buffer, g.expected}));
  return out;
}

/// The data as JSON that is safe inside a script element. It has no "<", so that neither an end tag
/// nor a comment can start in it, and it is ASCII only, so that it has no Unicode line separators.
std::string ScriptSafe(const Json& data) {
  std::string text = data.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

Json ReportData(const schema::Artifact& artifact, const DecisionLines& decisions,
                std::string_view title, const Json& profile) {
  const schema::Program& program = artifact.program();
  Json data{{"title", title}};
  data.update(ArtifactData(artifact, decisions));
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const schema::Step& step = program.steps[i];
    data["steps"][i]["problem"] = ProblemJson(step.problem);
    if (!step.guards.empty()) data["steps"][i]["guards"] = GuardsJson(step.guards);
  }
  data["device"] = DeviceJson(program.target);
  data["lowered"] = LoweredJson(artifact.text(schema::SectionKind::kLowered));
  if (!profile.is_null()) data["profile"] = profile;
  return data;
}

std::string ReportPage(const Json& data) {
  const EmbeddedPage page = ReportTemplate();
  return StrCat(page.before_data, ScriptSafe(data), page.after_data);
}

Status WriteReport(const schema::Artifact& artifact, const DecisionLines& decisions,
                   const ReportFiles& files) {
  for (const std::string& input : {files.artifact, files.profile}) {
    if (!input.empty() && SameFile(files.html, input)) {
      return Error(Code::kInvalidArgument, "--html: ", files.html, " is an input");
    }
  }
  AICF_ASSIGN_OR_RETURN(
      AtomicFile file,
      AtomicFile::Create(files.html, files.force ? Existing::kReplace : Existing::kRefuse));
  Json profile;
  if (!files.profile.empty()) {
    AICF_ASSIGN_OR_RETURN(profile, ReadProfile(files.profile, artifact.program()));
  }
  const std::string title = files.artifact.substr(files.artifact.rfind('/') + 1);
  AICF_RETURN_IF_ERROR(file.Write(ReportPage(ReportData(artifact, decisions, title, profile))));
  return file.Commit();
}

}  // namespace aicf::tools
