/// Kernels that wait for each other. They prove that calls overlap without depending on timing.
#pragma once

#include <chrono>

namespace aicf::testing {

/// How long a kernel waits for the others before it gives up.
inline constexpr std::chrono::seconds kPatience{10};

/// From now on elementwise CPU kernels, which compute nothing in this program, wait until `threads`
/// of them are running at once. With 0 none waits any more, and those that are waiting continue.
void ExpectMeeting(int threads);

/// How many kernels are waiting now.
int Waiting();

/// Whether that many were running at once since the last ExpectMeeting.
bool Met();

}  // namespace aicf::testing
