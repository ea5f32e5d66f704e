#include "python/src/program.h"

#include <algorithm>
#include <utility>

#include "tools/common/files.h"

namespace aicf::python {
namespace {

bool SameSections(const schema::HeaderInfo& a, const schema::HeaderInfo& b) {
  return std::ranges::equal(a.sections, b.sections, [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.bytes == y.bytes && x.hash == y.hash;
  });
}

}  // namespace

Result<LoadedProgram> LoadedProgram::FromFile(const std::string& path) {
  LoadedProgram loaded;
  AICF_ASSIGN_OR_RETURN(loaded.program, Program::Load(path));
  loaded.path = path;
  return loaded;
}

Result<LoadedProgram> LoadedProgram::FromBytes(std::vector<std::byte> bytes) {
  LoadedProgram loaded;
  AICF_ASSIGN_OR_RETURN(loaded.program, Program::FromBytes(bytes));
  loaded.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return loaded;
}

Result<std::shared_ptr<const schema::Artifact>> LoadedProgram::Stored() const {
  if (path.empty()) return schema::Artifact::Parse(*bytes, /*with_optional=*/true);
  AICF_ASSIGN_OR_RETURN(auto stored, schema::Artifact::Load(path, /*with_optional=*/true));
  if (SameSections(stored->header(), program->artifact().header())) return stored;
  return Error(Code::kBadArtifact, path, ": the file is another one than when it was loaded");
}

Result<std::vector<std::byte>> ArtifactBytes(const LoadedProgram& loaded) {
  if (loaded.path.empty()) return *loaded.bytes;
  AICF_RETURN_IF_ERROR(loaded.Stored().status());
  return tools::ReadFile(loaded.path);
}

}  // namespace aicf::python
