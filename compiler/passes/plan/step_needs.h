/// Which earlier steps each step of a plan needs to have finished.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/program.h"

namespace aicf {

/// By step, ascending: the earlier steps that access an element that it accesses, one of the two
/// writing it. Memory that is to be shared counts where buffers are in place of each other already.
/// REQUIRES: `program` has one entry point; alias chains end.
std::vector<std::vector<uint32_t>> NeedsOf(const schema::Program& program);

}  // namespace aicf
