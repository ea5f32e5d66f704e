/// Lets memory run out where a test wants it. It counts the calls of every form of operator new and
/// of aligned_alloc, mmap and pthread_create in this program. The linker redirects the last three
/// to it (--wrap).
#pragma once

#include <cstdint>

namespace aicf::failing {

/// From now on request number `at` fails (the first is 1; with 0 none does). With `sticky` every
/// later one fails as well.
void Arm(uint64_t at, bool sticky);
/// Stops making requests fail. Returns how many there were since Arm.
uint64_t Disarm();
/// Between the two calls nothing is counted and nothing fails. A test uses them around its own
/// work.
void Pause();
void Resume();
/// Whether a request has failed since Arm.
bool Failed();
/// The numbers of blocks from operator new and of mappings that have not been released.
int64_t LiveObjects();
int64_t LiveMappings();

}  // namespace aicf::failing
