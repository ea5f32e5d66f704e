/// What LeakSanitizer knows, in builds that have it.
#pragma once

extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

namespace aicf::testing {

/// Whether something is allocated that nothing points to any more; a report of it is on stderr.
/// Always false without LeakSanitizer. For processes that end without their exit handlers.
inline bool FindsLeaks() {
  return __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0;
}

}  // namespace aicf::testing
