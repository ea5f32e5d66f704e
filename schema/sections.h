/// Checks that tie a verified program to the sections beside it. The writer and the reader both run
/// them, so that nothing is written that would be refused.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "schema/artifact.h"
#include "schema/program.h"

namespace aicf::schema {

/// Arena + weights + state in bytes, the header's figure. Errors: kBadArtifact when the sum does
/// not fit.
Result<uint64_t> PeakDeviceBytes(const Program& program);

/// The weights section has exactly the program's bytes. Images ascend, stay apart and inside their
/// section, and match their hashes. Errors: kBadArtifact.
Status CheckSections(const Program& program, std::span<const std::byte> weights,
                     std::span<const std::byte> images);

/// The golden section parses and belongs to the program; empty: there is none. Errors:
/// kBadArtifact.
Status CheckGoldenSection(const Program& program, std::span<const std::byte> golden);

/// The language section parses; empty: there is none. What it says of the program is checked by
/// those who use it (Generator, Embedder). Errors: kBadArtifact.
Status CheckLanguageSection(std::span<const std::byte> language);

}  // namespace aicf::schema
