/// Changes artifacts and then corrects their sizes and hashes, so that the change gets past those
/// to the checks that follow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aicf::fuzz {

/// A Target::mutate that changes bytes of the file, bytes of a section, or fields of the program.
size_t MutateArtifact(uint8_t* data, size_t size, size_t room, uint64_t seed);

/// Like MutateArtifact, but it changes sections that are text more often.
size_t MutateArtifactText(uint8_t* data, size_t size, size_t room, uint64_t seed);

}  // namespace aicf::fuzz
