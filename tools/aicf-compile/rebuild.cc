#include "tools/aicf-compile/rebuild.h"

#include "compiler/emit/model_hash.h"
#include "compiler/source/language.h"
#include "compiler/source/provenance.h"
#include "schema/signature.h"

namespace aicf::tools {
namespace {

Status Differs(std::string_view what, const std::string& artifact, const std::string& here) {
  return Error(Code::kInvalidArgument, "--rebuild: the artifact was made with ", what, " ",
               artifact.empty() ? "none" : artifact, ", this is ", here.empty() ? "none" : here);
}

Status CheckTools(const schema::Artifact& artifact, const CompileResult& rebuilt) {
  AICF_ASSIGN_OR_RETURN(const Provenance was,
                        ReadProvenance(artifact.text(schema::SectionKind::kProvenance)));
  AICF_ASSIGN_OR_RETURN(const Provenance is, ReadProvenance(rebuilt.contents.provenance));
  if (was.tool != is.tool) return Differs("tool", was.tool, is.tool);
  if (was.device_compiler != is.device_compiler) {
    return Differs("device compiler", was.device_compiler, is.device_compiler);
  }
  return OkStatus();
}

std::string SectionsThatDiffer(const schema::HeaderInfo& a, const schema::HeaderInfo& b) {
  constexpr std::string_view kNames[] = {"",           "program", "weights",         "images",
                                         "decisions",  "lowered", "lowered weights", "golden",
                                         "provenance", "language"};
  std::string out;
  for (size_t kind = 1; kind < std::size(kNames); ++kind) {
    const auto hash = [&](const schema::HeaderInfo& info) {
      for (const auto& s : info.sections) {
        if (static_cast<size_t>(s.kind) == kind) return ToHex(s.hash);
      }
      return std::string();
    };
    if (hash(a) != hash(b)) out += StrCat(out.empty() ? "" : ", ", kNames[kind]);
  }
  return out;
}

}  // namespace

Status CheckInputs(const schema::Artifact& artifact, const std::string& model,
                   const CompileOptions& options) {
  AICF_ASSIGN_OR_RETURN(const Provenance was,
                        ReadProvenance(artifact.text(schema::SectionKind::kProvenance)));
  AICF_ASSIGN_OR_RETURN(const std::string hash, HashModelFile(IdentityFile(model)));
  if (was.model_hash != hash) return Differs("model", was.model_hash, hash);
  for (const auto& [name, value] : was.values) {
    const auto given = options.values.find(name);
    const std::string here = given == options.values.end() ? "" : DescribeValue(given->second);
    if (here != value) return Differs(StrCat("--bind ", name), value, here);
  }
  return OkStatus();
}

Result<std::string> CompareRebuilt(const schema::Artifact& artifact, const CompileResult& rebuilt) {
  AICF_RETURN_IF_ERROR(CheckTools(artifact, rebuilt));
  AICF_ASSIGN_OR_RETURN(const auto again, schema::Artifact::Parse(rebuilt.bytes, false));
  // It is enough to compare the headers: they hold the hash of every section, and the sections
  // cover the file. A signature is left out, since only the owner of its key can make it again.
  AICF_ASSIGN_OR_RETURN(const schema::HeaderInfo was, schema::WithoutSignature(artifact.header()));
  const std::string differ = SectionsThatDiffer(was, again->header());
  if (differ.empty() && was.file_bytes == rebuilt.bytes.size()) {
    return StrCat("the same ", rebuilt.bytes.size(), " bytes");
  }
  return Error(Code::kCheckFailed, "--rebuild gave other bytes: ", differ);
}

}  // namespace aicf::tools
