/// How often the runtime's test program has called operator new, in any form. Tests only.
#pragma once

#include <cstdint>

namespace aicf::testing {

int64_t AllocationCount();

}  // namespace aicf::testing
