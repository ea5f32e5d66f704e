/// The lowered program that travels in an artifact, read back with its constants.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "schema/artifact.h"

namespace aicf {

struct StoredLowered {
  std::string entry;  ///< the entry point's name; empty for the only one
  ir::Lowered lowered;
};

/// One for every entry point, in the file's order; empty for an artifact without the section.
/// Constants point into the artifact and keep it alive.
/// REQUIRES: an artifact read with its optional sections.
/// Errors: kBadArtifact for text that does not parse or verify, a damaged table of constants, or a
/// constant that is in neither place (schema/README.md: lowered weights, weights).
Result<std::vector<StoredLowered>> ReadLowered(
    const std::shared_ptr<const schema::Artifact>& artifact);

}  // namespace aicf
