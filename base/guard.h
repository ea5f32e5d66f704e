/// The last catch before a caller: turns what the standard library throws into a Status, so that no
/// exception leaves the library, nor ends a tool.
#pragma once

#include <utility>

#include "base/status.h"

namespace aicf {

/// The Status of the exception that is being handled: kResource for memory that ran out, kInternal
/// for any other. REQUIRES: called inside a catch block.
Status CaughtStatus() noexcept;

/// Calls f, which returns a Status or a Result, and gives what it returns. If f throws, the result
/// is the error of CaughtStatus.
template <class F>
auto Guarded(F&& f) noexcept -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    return CaughtStatus();
  }
}

}  // namespace aicf
