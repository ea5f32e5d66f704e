/// Turns failures of the library into Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "base/status.h"

namespace aicf::python {

namespace nb = nanobind;

/// Raises the exception class of aicf.errors that the status's code maps to, with its sentence.
/// REQUIRES: the interpreter's lock is held; !status.ok().
[[noreturn]] void Raise(const Status& status);

inline void Check(const Status& status) {
  if (!status.ok()) Raise(status);
}

/// Returns the value, or raises the exception.
template <class T>
T Take(Result<T> result) {
  Check(result.status());
  return *std::move(result);
}

/// Calls f() without the interpreter's lock, so that other Python threads can run meanwhile; then
/// returns the value or raises the exception. REQUIRES: f touches no Python object.
template <class F>
auto Unlocked(F&& f) {
  auto result = [&] {
    const nb::gil_scoped_release unlocked;
    return f();
  }();
  if constexpr (std::is_same_v<decltype(result), Status>) {
    Check(result);
  } else {
    return Take(std::move(result));
  }
}

}  // namespace aicf::python
