/// How long something took, for tests that limit it.
#pragma once

#include <ctime>

#include "base/build.h"

namespace aicf::schema::testing {

/// Time that this thread has computed: what else the machine does does not count.
inline double ThreadMilliseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

/// The factor that a sanitizer puts on every limit.
inline const double kSlowdown = IsSanitized() ? 20 : 1;

}  // namespace aicf::schema::testing
