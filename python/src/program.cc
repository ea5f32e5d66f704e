#include "python/src/program.h"

#include <algorithm>
#include <utility>

#include "schema/signature.h"
#include "tools/common/files.h"

namespace aicf::python {
namespace {

bool SameSections(const schema::HeaderInfo& a, const schema::HeaderInfo& b) {
  return std::ranges::equal(a.sections, b.sections, [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.bytes == y.bytes && x.hash == y.hash;
  });
}

using Stored = std::shared_ptr<const schema::Artifact>;

/// Reads the artifact again by calling `read` with the trusted keys, one of which must have signed
/// it; null if no signature is required. Fails if it is no longer the artifact that was loaded.
template <class Read>
Result<Stored> ReadAgain(const LoadedProgram& loaded, Read read) {
  schema::TrustedKeys keys;
  const auto& required = loaded.options.require_signature;
  if (required) {
    AICF_ASSIGN_OR_RETURN(keys, schema::ParsePublicKeys(*required));
  }
  AICF_ASSIGN_OR_RETURN(Stored stored, read(required ? &keys : nullptr));
  if (SameSections(stored->header(), loaded.program->artifact().header())) return stored;
  return Error(Code::kBadArtifact, loaded.path,
               ": the file is another one than when it was loaded");
}

}  // namespace

Result<LoadedProgram> LoadedProgram::FromFile(const std::string& path, LoadOptions options) {
  LoadedProgram loaded;
  AICF_ASSIGN_OR_RETURN(loaded.program, Program::Load(path, options));
  loaded.path = path;
  loaded.options = std::move(options);
  return loaded;
}

Result<LoadedProgram> LoadedProgram::FromBytes(std::vector<std::byte> bytes, LoadOptions options) {
  LoadedProgram loaded;
  AICF_ASSIGN_OR_RETURN(loaded.program, Program::FromBytes(bytes, options));
  loaded.options = std::move(options);
  loaded.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return loaded;
}

Result<std::shared_ptr<const schema::Artifact>> LoadedProgram::Stored() const {
  return ReadAgain(*this, [&](const schema::TrustedKeys* keys) {
    if (path.empty()) return schema::Artifact::Parse(*bytes, /*with_optional=*/true, keys);
    return schema::Artifact::Load(path, /*with_optional=*/true, keys);
  });
}

Result<LoadedProgram> SignedProgram(const LoadedProgram& loaded, const std::string& private_key) {
  AICF_ASSIGN_OR_RETURN(const schema::SecretKey key, schema::SecretKey::Parse(private_key));
  AICF_ASSIGN_OR_RETURN(const auto stored, loaded.Stored());
  AICF_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, schema::Sign(*stored, key));
  return LoadedProgram::FromBytes(std::move(bytes));
}

Result<std::vector<std::byte>> ArtifactBytes(const LoadedProgram& loaded) {
  if (loaded.path.empty()) return *loaded.bytes;
  // The file is read only once, so that the bytes that are checked are those that are returned.
  AICF_ASSIGN_OR_RETURN(auto bytes, tools::ReadFile(loaded.path));
  AICF_RETURN_IF_ERROR(ReadAgain(loaded, [&](const schema::TrustedKeys* keys) {
                         return schema::Artifact::Parse(bytes, /*with_optional=*/true, keys);
                       }).status());
  return bytes;
}

}  // namespace aicf::python
