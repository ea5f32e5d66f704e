#include "tools/common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/guard.h"
#include "base/utf8.h"
#include "tools/common/log.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

struct Temporary {
  std::atomic<bool> taken{false};
  std::atomic<bool> ready{false};  ///< name is complete; the handler may use it
  int directory = -1;
  char name[256] = {};
};

Temporary g_temporaries[16];
std::atomic<bool> g_reader_left{false};
std::atomic<int> g_write_error{0};
constexpr int kNotDeferred = -1, kNothingNoted = 0;
std::atomic<int> g_deferred{kNotDeferred};  // one of these two, or the signal that was noted

/// Async-signal-safe: lock-free atomics, unlinkat and _exit only.
void OnSignal(int signal) {
  int expected = kNothingNoted;
  if (g_deferred.compare_exchange_strong(expected, signal)) return;
  RemoveTemporaries();
  _exit(128 + signal);
}

/// Destructors of third-party code that allocate (those of JSON values do) end here when memory
/// runs out, because their exception cannot reach a catch. The tool ends as it would there: one
/// line on stderr, the exit code of kResource, temporary files removed.
[[noreturn]] void OnTerminate() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    RemoveTemporaries();
    constexpr std::string_view kLine = "aicf: resource: out of memory\n";
    (void)!write(STDERR_FILENO, kLine.data(), kLine.size());
    _exit(ExitCode(Code::kResource));
  } catch (...) {
  }
  std::abort();
}

void InstallHandlers() {
  std::set_terminate(OnTerminate);
  // With these ignored, a closed pipe or a limit on file sizes makes write() fail, which is
  // reported as an error, instead of ending the process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  for (int number : {SIGINT, SIGTERM}) {
    struct sigaction old = {};
    // A shell starts background jobs with SIGINT ignored; they must stay that way.
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

void OpenStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", O_RDWR) != fd) _exit(ExitCode(Code::kIo));
  }
}

/// Attaches the log and runs the body. Memory may run out in either, so both are guarded.
Status RunBody(std::string_view name, ToolBody body, int argc, char** argv) {
  return Guarded([&] {
    AttachLog(name);
    return body(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  });
}

/// Prints the error line. If there is no memory for its sentence, at least the error's class is
/// printed.
void PrintFailure(std::string_view name, const Status& status) {
  try {
    PrintError(StrCat(name, ": ", status.ToString()));
  } catch (...) {
    const std::string_view code = CodeName(status.code());
    std::fprintf(stderr, "%.*s: %.*s: out of memory\n", static_cast<int>(name.size()), name.data(),
                 static_cast<int>(code.size()), code.data());
  }
}

/// Remembers why the last write to stdout failed.
void NoteFailedWrite() {
  if (errno == EPIPE) {
    g_reader_left.store(true);
  } else {
    g_write_error.store(errno);
  }
}

Status FlushOutput() {
  if (std::fflush(stdout) != 0) NoteFailedWrite();
  const int error = g_write_error.load();
  if (error == 0) return OkStatus();
  return Error(Code::kIo, "standard output: ", std::strerror(error));
}

}  // namespace

int RunTool(std::string_view name, int argc, char** argv, ToolBody body) {
  OpenStandardDescriptors();
  InstallHandlers();
  Status status = RunBody(name, body, argc, argv);
  Status flushed = Guarded([] { return FlushOutput(); });
  if (status.ok()) status = std::move(flushed);
  if (!status.ok()) PrintFailure(name, status);
  (void)Guarded([] {
    DetachLog();
    return OkStatus();
  });
  return ExitCode(status.code());
}

void Print(std::string_view text) {
  if (g_reader_left.load() || text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) NoteFailedWrite();
}

void PrintNow(std::string_view text) {
  Print(text);
  if (OutputIsRead() && std::fflush(stdout) != 0) NoteFailedWrite();
}

bool OutputIsRead() { return !g_reader_left.load() && g_write_error.load() == 0; }

void PrintError(std::string_view line) {
  std::fflush(stdout);
  const std::string text = Abridge(Escape(line), kLongestLine) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

DeferSignals::DeferSignals() { g_deferred.store(kNothingNoted); }

DeferSignals::~DeferSignals() {
  const int noted = g_deferred.exchange(kNotDeferred);
  if (noted == kNothingNoted) return;
  std::fflush(stdout);
  OnSignal(noted);
}

bool DeferSignals::Noted() const { return g_deferred.load() > kNothingNoted; }

void RemoveTemporaries() {
  for (Temporary& t : g_temporaries) {
    if (t.ready.load(std::memory_order_acquire)) unlinkat(t.directory, t.name, 0);
  }
}

int RememberTemporary(int directory, std::string_view name) {
  for (int slot = 0; slot < static_cast<int>(std::size(g_temporaries)); ++slot) {
    Temporary& t = g_temporaries[slot];
    if (name.size() >= sizeof t.name || t.taken.exchange(true)) continue;
    t.directory = directory;
    std::memcpy(t.name, name.data(), name.size());
    t.name[name.size()] = '\0';
    t.ready.store(true, std::memory_order_release);
    return slot;
  }
  return -1;
}

void ForgetTemporary(int slot) {
  if (slot < 0) return;
  g_temporaries[slot].ready.store(false, std::memory_order_release);
  g_temporaries[slot].taken.store(false, std::memory_order_release);
}

}  // namespace aicf::tools
