/// System calls that a signal may interrupt before they have done anything.
#pragma once

#include <cerrno>

namespace aicf {

/// Repeats the call for as long as it fails with EINTR. Do not use it for close(): on Linux the
/// descriptor is closed even when close() fails with EINTR, so it must not be called twice.
template <class Call>
auto Uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace aicf
