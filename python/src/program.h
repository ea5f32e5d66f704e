/// A program with the place where its optional sections are.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::python {

/// Immutable. Decisions, the lowered program and samples are read when somebody asks for them: from
/// the bytes that the program was made from, or once more from its file.
struct LoadedProgram {
  std::shared_ptr<const Program> program;
  std::string path;  ///< empty: made from `bytes`
  std::shared_ptr<const std::vector<std::byte>> bytes;
  LoadOptions options;  ///< hold for the file whenever it is read again

  static Result<LoadedProgram> FromFile(const std::string& path, LoadOptions options);
  static Result<LoadedProgram> FromBytes(std::vector<std::byte> bytes, LoadOptions options = {});

  /// With its optional sections. Errors: kIo; kBadArtifact for a file that is another one by now.
  Result<std::shared_ptr<const schema::Artifact>> Stored() const;
};

/// The same program with the signature of this private key (PEM). Errors: as Stored;
/// kInvalidArgument for a text that is no key.
Result<LoadedProgram> SignedProgram(const LoadedProgram& loaded, const std::string& private_key);

/// The artifact's bytes. Errors: as Stored.
Result<std::vector<std::byte>> ArtifactBytes(const LoadedProgram& loaded);

}  // namespace aicf::python
