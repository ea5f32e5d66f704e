#include "tools/aicf-run/load.h"

#include <algorithm>

namespace aicf::tools {
namespace {

/// Adds the file to a message that does not name it. The loader's messages may or may not do so.
Status Named(const Status& status, const std::string& path) {
  return status.message().find(path) == std::string::npos ? status.WithContext(path) : status;
}

bool SameSections(const schema::HeaderInfo& a, const schema::HeaderInfo& b) {
  return std::ranges::equal(a.sections, b.sections, [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.bytes == y.bytes && x.hash == y.hash;
  });
}

}  // namespace

Result<std::shared_ptr<const Program>> LoadProgram(const std::string& path,
                                                   const RequiredSignature& signature) {
  auto program = Program::Load(path, {.require_signature = signature.pem()});
  if (!program.ok()) return Named(program.status(), path);
  return program;
}

Result<std::shared_ptr<const schema::Artifact>> LoadWithOptional(const std::string& path,
                                                                 const RequiredSignature& signature,
                                                                 const Program& program) {
  auto artifact = schema::Artifact::Load(path, /*with_optional=*/true, signature.keys());
  if (!artifact.ok()) return Named(artifact.status(), path);
  if (!SameSections((*artifact)->header(), program.artifact().header())) {
    return Error(Code::kBadArtifact, path, ": the file is another one than when it was loaded");
  }
  return artifact;
}

}  // namespace aicf::tools
