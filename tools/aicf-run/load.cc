#include "tools/aicf-run/load.h"

namespace aicf::tools {
namespace {

/// Messages of the loader may or may not name the file; the user's line always does.
Status Named(const Status& status, const std::string& path) {
  return status.message().find(path) == std::string::npos ? status.WithContext(path) : status;
}

}  // namespace

Result<std::shared_ptr<const Program>> LoadProgram(const std::string& path) {
  auto program = Program::Load(path);
  if (!program.ok()) return Named(program.status(), path);
  return program;
}

Result<std::shared_ptr<const schema::Artifact>> LoadWithOptional(const std::string& path) {
  auto artifact = schema::Artifact::Load(path, /*with_optional=*/true);
  if (!artifact.ok()) return Named(artifact.status(), path);
  return artifact;
}

}  // namespace aicf::tools
