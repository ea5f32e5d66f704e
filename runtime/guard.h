/// The last catch before a caller: turns what the standard library throws into a Status, so that no
/// exception leaves the library.
#pragma once

#include <new>
#include <utility>

#include "base/status.h"

namespace aicf {

/// f() returns a Status or a Result. Errors added: kResource when memory for the call itself runs
/// out.
template <class F>
auto Guarded(F&& f) noexcept -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    return Status(Code::kResource, "out of memory");  // short enough to need none
  } catch (...) {
    return Status(Code::kInternal, "exception");
  }
}

}  // namespace aicf
