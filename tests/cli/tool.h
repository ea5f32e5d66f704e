/// Runs the built programs the way a shell does, and looks at what they leave.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace aicf::testing {

struct ToolOptions {
  std::vector<int> closed;            ///< descriptors closed before the program starts
  bool stdout_reader_leaves = false;  ///< stdout is a pipe that nobody reads
  std::string directory;              ///< working directory; empty: the test's
  unsigned umask = 022;
  std::optional<std::string> input;  ///< comes through a pipe; nullopt: the test's standard input
};

struct ToolResult {
  int exit_code = -1;  ///< -1 when a signal ended the program
  int signal = 0;
  std::string out, err;
};

/// Runs "aicf-compile", "aicf-run" or "aicf-inspect" with arguments and waits for its end, at most
/// a minute.
ToolResult RunTool(const std::string& tool, const std::vector<std::string>& args,
                   const ToolOptions& options = {});

/// Starts a program with its output thrown away, and waits for it with WaitTool.
pid_t StartTool(const std::string& tool, const std::vector<std::string>& args);
ToolResult WaitTool(pid_t pid);

/// A directory for one test, removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Names of all entries, sorted; hidden ones too.
  std::vector<std::string> Entries() const;

 private:
  std::string path_;
};

void PutFile(const std::string& path, const std::string& bytes);
std::string GetFile(const std::string& path);
/// How often `part` is found in `text`.
size_t CountOf(const std::string& text, const std::string& part);

/// Expects that the program failed in the only way that is allowed: with this exit code and exactly
/// one line on stderr, which starts with the program's name and the code's class, contains `part`
/// and has no control bytes; and without a signal.
void ExpectFailure(const std::string& tool, const ToolResult& result, int exit_code,
                   const std::string& part);
/// Expects exit code 0 and nothing on stderr.
void ExpectSuccess(const ToolResult& result);

}  // namespace aicf::testing
