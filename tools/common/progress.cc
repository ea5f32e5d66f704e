#include "tools/common/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/status.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// The tools report progress from one thread.
struct State {
  bool terminal = isatty(STDERR_FILENO) == 1;
  bool shown = false;
  Clock::time_point started = Clock::now();
  Clock::time_point last = started;
};

State& GetState() {
  static State state;
  return state;
}

}  // namespace

void ShowProgress(std::string_view phase, int done, int total) {
  State& state = GetState();
  const Clock::time_point now = Clock::now();
  if (!state.terminal || now - state.started < std::chrono::milliseconds(500)) return;
  if (state.shown && now - state.last < std::chrono::milliseconds(100)) return;
  state.last = now;
  state.shown = true;
  std::string line = Escape(phase);
  if (total > 0) line += StrCat("  ", done, "/", total);
  line = "\r" + Shorten(line, 78) + "\033[K";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void ClearProgress() {
  State& state = GetState();
  if (!state.shown) return;
  state.shown = false;
  std::fputs("\r\033[K", stderr);
}

}  // namespace aicf::tools
