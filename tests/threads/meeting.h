/// Kernels that wait for each other: a proof that calls overlap which does not depend on time.
#pragma once

#include <chrono>

namespace aicf::testing {

/// How long a kernel waits for the others before it gives up.
inline constexpr std::chrono::seconds kPatience{10};

/// From now on an elementwise CPU kernel, which computes nothing in this program, waits until
/// `threads` of them are running at once. 0: none waits, and those that do go on.
void ExpectMeeting(int threads);

/// How many wait now.
int Waiting();

/// Whether they were.
bool Met();

}  // namespace aicf::testing
