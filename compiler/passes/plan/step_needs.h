/// Which earlier steps each step of a plan needs to have finished.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/program.h"

namespace aicf {

/// Pairs of accesses that NeedsOf compares at most: about a second. Only buffers that thousands of
/// steps write or read in parts have so many.
inline constexpr uint64_t kMostComparedAccesses = uint64_t{1} << 24;

/// For each step, ascending: the earlier steps that access an element that it accesses, where at
/// least one of the two writes it. Buffers count as sharing memory only where one is already
/// recorded as being in place of the other. nullopt where more than `most` pairs of accesses would
/// have to be compared. REQUIRES: `program` has one entry point; alias chains end.
std::optional<std::vector<std::vector<uint32_t>>> NeedsOf(const schema::Program& program,
                                                          uint64_t most = kMostComparedAccesses);

}  // namespace aicf
