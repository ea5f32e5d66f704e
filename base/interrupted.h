/// System calls that a signal may interrupt before they have done anything.
#pragma once

#include <cerrno>

namespace aicf {

/// Makes the call again for as long as it fails with EINTR. Not for close(), which Linux must not
/// be asked for twice: the descriptor is gone even then.
template <class Call>
auto Uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace aicf
