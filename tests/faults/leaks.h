/// Asks LeakSanitizer, in builds that have it.
#pragma once

extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

namespace aicf::testing {

/// Whether there is memory to which nothing points any more; it is then reported on stderr. Always
/// false without LeakSanitizer. Meant for processes that end without running their exit handlers,
/// among which is LeakSanitizer's own check.
inline bool FindsLeaks() {
  return __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0;
}

}  // namespace aicf::testing
