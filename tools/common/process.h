/// What all tools have in common around their actual work: standard streams, signals, exceptions,
/// the one error line and the exit code (docs/errors.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf::tools {

/// A tool's own work. Arguments exclude the program's name.
using ToolBody = Status (*)(const std::vector<std::string>& args);

/// Runs `body` and gives the process's exit code.
///  - Standard descriptors that are closed are opened on /dev/null, so that no output file can take
///    their place.
///  - SIGPIPE is ignored: a reader that leaves early (`aicf-inspect a.aicf | head`) is no error.
///  - SIGINT and SIGTERM remove temporary files and exit with 130 and 143.
///  - An error prints one line on stderr, "name: class: sentence", control bytes escaped.
///  - Exceptions of third-party code end as kResource (memory) or kInternal.
int RunTool(std::string_view name, int argc, char** argv, ToolBody body);

/// Writes to stdout. A write that fails for another reason than a closed pipe makes the tool exit
/// with kIo.
void Print(std::string_view text);

/// Prints and hands all that was printed over at once, so that it is shown even in a pipe.
void PrintNow(std::string_view text);

/// Whether what is printed still reaches somebody: false once the reader has left or a write has
/// failed. For work whose only purpose is its output.
bool OutputIsRead();

/// Writes one escaped line to stderr.
void PrintError(std::string_view line);

/// While an object of this class exists, the first SIGINT or SIGTERM is only noted, so that long
/// work can end early and keep what it has. The destructor then ends the process as the signal
/// would have done. A second signal ends it at once. At most one object may exist at a time.
class DeferSignals {
 public:
  DeferSignals();
  ~DeferSignals();
  DeferSignals(const DeferSignals&) = delete;
  DeferSignals& operator=(const DeferSignals&) = delete;

  bool Noted() const;
};

/// Remembers a temporary file that a signal must remove; `directory` is an open descriptor.
/// Gives a slot for ForgetTemporary, or -1 when all slots are taken (the file then outlives a
/// signal).
int RememberTemporary(int directory, std::string_view name);
void ForgetTemporary(int slot);
/// Removes all remembered temporary files; for code that is about to end the process.
/// Async-signal-safe.
void RemoveTemporaries();

}  // namespace aicf::tools
