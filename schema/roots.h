/// The ends of alias chains, all at once.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/program.h"

namespace aicf::schema {

/// RootOf(program, b) for every buffer b. Cost: linear in the buffers however long the chains are,
/// where a call of RootOf for each of them may be quadratic. REQUIRES: chains end.
std::vector<uint32_t> RootsOf(const Program& program);

}  // namespace aicf::schema
