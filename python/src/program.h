/// A program, and where its optional sections can be read from.
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

/// Immutable. Decisions, the lowered program and samples are read only when they are asked for:
/// from the bytes that the program was made from, or from its file, which is then read again.
struct LoadedProgram {
  std::shared_ptr<const Program> program;
  std::string path;  ///< empty: made from `bytes`
  std::shared_ptr<const std::vector<std::byte>> bytes;
  LoadOptions options;  ///< used again whenever the file is read again

  static Result<LoadedProgram> FromFile(const std::string& path, LoadOptions options);
  static Result<LoadedProgram> FromBytes(std::vector<std::byte> bytes, LoadOptions options = {});

  /// The artifact with its optional sections. Errors: kIo; kBadArtifact if the file is no longer
  /// the one that was loaded.
  Result<std::shared_ptr<const schema::Artifact>> Stored() const;
};

/// The same program with the signature of this private key (PEM). Errors: as Stored;
/// kInvalidArgument for a text that is no key.
Result<LoadedProgram> SignedProgram(const LoadedProgram& loaded, const std::string& private_key);

/// The artifact's bytes. Errors: as Stored.
Result<std::vector<std::byte>> ArtifactBytes(const LoadedProgram& loaded);

}  // namespace aicf::python
