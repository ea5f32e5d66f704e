/// Runs threads that begin and end together, so that it does not depend on chance how much memory
/// they hold at the same time.
#pragma once

#include <barrier>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

namespace aicf::endurance {

/// Calls work(0) to work(count - 1), each on a thread of its own. Returns the first fault that one
/// of them returned, together with the number of other threads that had one, or "" if there was
/// none. No thread ends before the work of all is done.
inline std::string InACrowd(int count, const std::function<std::string(int)>& work) {
  std::barrier meeting(count);
  std::mutex mutex;
  std::string first;
  int faults = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      meeting.arrive_and_wait();
      const std::string fault = work(t);
      if (!fault.empty()) {
        const std::lock_guard lock(mutex);
        if (faults++ == 0) first = StrCat("thread ", t, ": ", fault);
      }
      meeting.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return faults > 1 ? StrCat(first, " (and ", faults - 1, " more threads)") : first;
}

}  // namespace aicf::endurance
