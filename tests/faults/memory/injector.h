/// Memory that runs out where a test wants it: every form of operator new, aligned_alloc, mmap and
/// pthread_create of this program, counted. The linker turns the last three to here (--wrap).
#pragma once

#include <cstdint>

namespace aicf::failing {

/// From now on request number `at` fails (the first is 1; 0: none), and with `sticky` every later
/// one.
void Arm(uint64_t at, bool sticky);
/// No request fails any more; gives how many there were since Arm.
uint64_t Disarm();
/// Between the two nothing is counted and nothing fails: what a test does for itself.
void Pause();
void Resume();
/// Whether a request has failed since Arm.
bool Failed();
/// Requests of operator new that were not given back, and mappings likewise.
int64_t LiveObjects();
int64_t LiveMappings();

}  // namespace aicf::failing
