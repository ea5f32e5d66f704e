/// Which earlier steps each step of a plan needs to have finished.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/program.h"

namespace aicf {

/// For each step, ascending: the earlier steps that access an element that it accesses, where at
/// least one of the two writes it. Buffers count as sharing memory only where one is already
/// recorded as being in place of the other. REQUIRES: `program` has one entry point; alias chains
/// end.
std::vector<std::vector<uint32_t>> NeedsOf(const schema::Program& program);

}  // namespace aicf
