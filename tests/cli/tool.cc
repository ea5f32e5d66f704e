#include "tests/cli/tool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace aicf::testing {
namespace {

constexpr unsigned kTimeLimitSeconds = 60;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read = ends[0];
    write = ends[1];
  }
};

/// Writes the text into a pipe from a process of its own, because a pipe holds less than some texts
/// have. It ends by SIGPIPE where the reader leaves.
pid_t StartWriter(const std::string& text, const Pipe& pipe) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  close(pipe.read);
  signal(SIGPIPE, SIG_DFL);
  for (size_t done = 0; done < text.size();) {
    const ssize_t sent = write(pipe.write, text.data() + done, text.size() - done);
    if (sent <= 0) _exit(1);
    done += static_cast<size_t>(sent);
  }
  _exit(0);
}

[[noreturn]] void Become(const std::string& tool, const std::vector<std::string>& args,
                         const ToolOptions& options, int in, int out, int err) {
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) _exit(126);
  umask(options.umask);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  for (const int fd : options.closed) close(fd);
  alarm(kTimeLimitSeconds);  // a hang becomes a failure by signal
  const std::string path = AICF_BINARY_DIR "/bin/" + tool;
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  _exit(127);
}

void DrainBoth(int out, int err, ToolResult& result) {
  pollfd fds[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* const texts[] = {&result.out, &result.err};
  int open = 2;
  while (open > 0) {
    poll(fds, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(fds[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<size_t>(got));
      } else {
        fds[i].fd = -1;
        --open;
      }
    }
  }
}

const std::map<int, std::string>& ClassNames() {
  static const std::map<int, std::string> names = {
      {1, "check-failed"}, {2, "invalid-argument"}, {3, "bad-model"}, {4, "unsupported"},
      {5, "bad-artifact"}, {6, "device"},           {7, "resource"},  {8, "io"}};
  return names;
}

}  // namespace

ToolResult RunTool(const std::string& tool, const std::vector<std::string>& args,
                   const ToolOptions& options) {
  Pipe in;
  const pid_t writer = options.input ? StartWriter(*options.input, in) : -1;
  close(in.write);
  Pipe out, err;
  const pid_t pid = fork();
  const int input = options.input ? in.read : STDIN_FILENO;
  if (pid == 0) Become(tool, args, options, input, out.write, err.write);
  close(in.read);
  close(out.write);
  close(err.write);
  if (options.stdout_reader_leaves) {
    close(out.read);
    out.read = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  ToolResult output;
  DrainBoth(out.read, err.read, output);
  close(out.read);
  close(err.read);
  ToolResult result = WaitTool(pid);
  if (writer > 0) waitpid(writer, nullptr, 0);
  result.out = output.out;
  result.err = output.err;
  return result;
}

pid_t StartTool(const std::string& tool, const std::vector<std::string>& args) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    Become(tool, args, {}, STDIN_FILENO, null, null);
  }
  return pid;
}

ToolResult WaitTool(pid_t pid) {
  ToolResult result;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

TempDir::TempDir() {
  char name[] = "/tmp/aicf-cli-XXXXXX";
  if (mkdtemp(name) == nullptr) std::abort();
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TempDir::Entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void PutFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string GetFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void ExpectFailure(const std::string& tool, const ToolResult& result, int exit_code,
                   const std::string& part) {
  EXPECT_EQ(result.signal, 0) << result.err;
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  const auto name = ClassNames().find(exit_code);
  ASSERT_NE(name, ClassNames().end());
  EXPECT_EQ(result.err.find(tool + ": " + name->second + ": "), 0u) << result.err;
  EXPECT_NE(result.err.find(part), std::string::npos) << result.err << "lacks " << part;
  for (size_t i = 0; i + 1 < result.err.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result.err[i]);
    EXPECT_TRUE(byte >= 0x20 && byte != 0x7f) << "control byte in " << result.err;
  }
}

void ExpectSuccess(const ToolResult& result) {
  EXPECT_EQ(result.signal, 0) << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

}  // namespace aicf::testing
