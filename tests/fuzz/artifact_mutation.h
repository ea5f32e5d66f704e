/// Changes of artifacts whose sizes and hashes are right again afterwards, so that what is wrong
/// reaches the checks behind them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aicf::fuzz {

/// Target::mutate: of the file's bytes, of a section's, or of the program's fields.
size_t MutateArtifact(uint8_t* data, size_t size, size_t room, uint64_t seed);

/// The same, of the sections that are text more often.
size_t MutateArtifactText(uint8_t* data, size_t size, size_t room, uint64_t seed);

}  // namespace aicf::fuzz
