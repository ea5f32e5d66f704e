#include "tools/common/allocation.h"

#include <unistd.h>

#include <new>

#include "base/status.h"
#include "tools/common/process.h"

namespace aicf::tools {
namespace {

std::string_view g_name = "aicf";

void Tell(std::string_view text) {
  [[maybe_unused]] const ssize_t wrote = write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void OnFailedAllocation() {
  Tell(g_name);
  Tell(": resource: out of host memory\n");
  RemoveTemporaries();
  _exit(ExitCode(Code::kResource));
}

// Priority 101 makes it run before the static initialisers of other files, which allocate memory.
[[gnu::constructor(101)]] void Install() { std::set_new_handler(OnFailedAllocation); }

}  // namespace

void EndOnFailedAllocation(std::string_view name) { g_name = name; }

}  // namespace aicf::tools
