// Linked into this folder's program. The linker redirects every look-up of a CPU kernel's function
// to this file (--wrap), and an elementwise kernel does not return before as many threads are
// inside one as the test asked for.
#include "tests/threads/meeting.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>

#include "kernels/abi/kernel.h"

namespace aicf::testing {

#define AICF_FIND "_ZN4aicf3cpu12FindFunctionESt17basic_string_viewIcSt11char_traitsIcEE"

abi::CpuKernelFn RealFind(std::string_view key) asm("__real_" AICF_FIND);
abi::CpuKernelFn MeetingFind(std::string_view key) asm("__wrap_" AICF_FIND);

namespace {

struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int expected = 0;
  int inside = 0;
  bool met = false;
};

Meeting& Place() {
  static Meeting meeting;
  return meeting;
}

void Meet(const abi::ArgBlock&) {
  Meeting& m = Place();
  std::unique_lock lock(m.mutex);
  if (m.expected == 0) return;
  m.met |= ++m.inside == m.expected;
  m.changed.notify_all();
  m.changed.wait_for(lock, kPatience, [&] { return m.met || m.expected == 0; });
  --m.inside;
}

}  // namespace

abi::CpuKernelFn MeetingFind(std::string_view key) {
  return key.starts_with("cpu.elementwise.") ? &Meet : RealFind(key);
}

void ExpectMeeting(int threads) {
  const std::lock_guard lock(Place().mutex);
  Place().expected = threads;
  Place().met = false;
  Place().changed.notify_all();
}

int Waiting() {
  const std::lock_guard lock(Place().mutex);
  return Place().inside;
}

bool Met() {
  const std::lock_guard lock(Place().mutex);
  return Place().met;
}

}  // namespace aicf::testing
