/// Inputs and outputs that the operating system refuses, and those that the tools refuse by
/// themselves.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> CompileArgs(const std::string& model, const std::string& out) {
  return {model, "-o", out};
}

TEST(Inputs, WhatIsNotAReadableFileIsIo) {
  TempDir dir;
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  for (const std::string& bad : {dir.path(), dir / "fifo", dir / "absent", std::string("/dev/zero"),
                                 std::string(), std::string(5000, 'p')}) {
    SCOPED_TRACE(bad.substr(0, 60));
    for (const std::string tool : {"aicf-run", "aicf-inspect"}) {
      ExpectFailure(tool, RunTool(tool, {bad}), 8, "");
    }
    ExpectFailure("aicf-compile", RunTool("aicf-compile", CompileArgs(bad, dir / "o.aicf")), 8, "");
  }
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"fifo"});
}

TEST(Inputs, NamesWithControlBytesWorkOrAreEscaped) {
  TempDir dir;
  const std::string model = PutModel(dir, "a\nb\x1b[31m");
  const std::string out = dir / "\xff\x01.aicf";
  const ToolResult r = RunTool("aicf-compile", CompileArgs(model, out));
  ExpectSuccess(r);
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos);
  EXPECT_NE(r.out.find("a\\nb\\x1b[31m"), std::string::npos) << r.out;
  EXPECT_TRUE(fs::exists(out));
  const ToolResult absent = RunTool("aicf-inspect", {dir / "x\ny"});
  ExpectFailure("aicf-inspect", absent, 8, "x\\ny");
}

TEST(Outputs, AnExistingOutputStaysWithoutForce) {
  TempDir dir;
  const std::string model = PutModel(dir, "m");
  PutFile(dir / "out.aicf", "precious");
  ExpectFailure("aicf-compile", RunTool("aicf-compile", CompileArgs(model, dir / "out.aicf")), 8,
                "--force");
  EXPECT_EQ(GetFile(dir / "out.aicf"), "precious");
  std::vector<std::string> args = CompileArgs(model, dir / "out.aicf");
  args.push_back("--force");
  ExpectSuccess(RunTool("aicf-compile", args));
  EXPECT_NE(GetFile(dir / "out.aicf"), "precious");
  EXPECT_EQ(dir.Entries(), (std::vector<std::string>{"m.onnx", "out.aicf"}));
}

TEST(Outputs, TheModelCannotBeItsOwnOutput) {
  TempDir dir;
  const std::string model = PutModel(dir, "m");
  const std::string before = GetFile(model);
  fs::create_hard_link(model, dir / "hard");
  fs::create_symlink("m.onnx", dir / "soft");
  for (const std::string& out : {dir / "m.onnx", dir / "hard", dir / "soft", dir / "./m.onnx"}) {
    ExpectFailure("aicf-compile", RunTool("aicf-compile", {model, "-o", out, "--force"}), 2,
                  "the output is the model itself");
    EXPECT_EQ(GetFile(model), before);
  }
  ExpectFailure("aicf-compile",
                RunTool("aicf-compile", {model, "-o", dir / "a", "--export-decisions", dir / "a"}),
                2, "same path");
}

TEST(Outputs, AFailedCompilationLeavesTheOldOutputAndNothingElse) {
  TempDir dir;
  const std::string model = PutModel(dir, "m", [](onnx::ModelProto& m) {
    m.mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
  });
  PutFile(dir / "out.aicf", "old");
  const ToolResult r = RunTool("aicf-compile", {model, "-o", dir / "out.aicf", "--force",
                                                "--export-decisions", dir / "d.jsonl"});
  ExpectFailure("aicf-compile", r, 3, "nowhere");
  EXPECT_EQ(GetFile(dir / "out.aicf"), "old");
  EXPECT_EQ(dir.Entries(), (std::vector<std::string>{"m.onnx", "out.aicf"}));
}

TEST(Outputs, AnImpossibleDirectoryIsReportedBeforeTheWork) {
  TempDir dir;
  // The model is not even there: the output is what is looked at first.
  for (const std::string& out : {dir / "no/such/dir/o.aicf", std::string("/proc/o.aicf"),
                                 dir / "o.aicf/", std::string("/dev/null")}) {
    SCOPED_TRACE(out);
    const ToolResult r = RunTool("aicf-compile", CompileArgs(dir / "absent.onnx", out));
    ExpectFailure("aicf-compile", r, 8, out);
  }
  const std::string artifact = PutArtifact(dir);
  for (const char* flag : {"--export-times=", "--export-profile=", "--export-output="}) {
    const ToolResult r =
        RunTool("aicf-run", {artifact, flag + (dir / "no/such/x"), "--duration=0", "--warm-up=0"});
    ExpectFailure("aicf-run", r, 8, "no/such");
  }
}

TEST(Outputs, AReadOnlyDirectoryIsIo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  TempDir dir;
  const std::string model = PutModel(dir, "m");
  fs::create_directory(dir / "locked");
  chmod((dir / "locked").c_str(), 0555);
  ExpectFailure("aicf-compile", RunTool("aicf-compile", CompileArgs(model, dir / "locked/o.aicf")),
                8, "locked");
}

TEST(Outputs, AFullDiskIsIo) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  const std::string command = std::string(AICF_BINARY_DIR) + "/bin/aicf-inspect " + artifact;
  EXPECT_EQ(WEXITSTATUS(system((command + " >/dev/full 2>/dev/null").c_str())), 8);
}

TEST(Streams, AReaderThatLeavesIsNoError) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  ToolOptions options;
  options.stdout_reader_leaves = true;
  ExpectSuccess(RunTool("aicf-inspect", {artifact}, options));
  ExpectSuccess(RunTool("aicf-run", {artifact, "--duration=0", "--warm-up=0"}, options));
  ExpectSuccess(RunTool("aicf-compile", {"--help"}, options));
}

TEST(Streams, ClosedDescriptorsNeverReceiveAnOutputFile) {
  TempDir dir;
  const std::string model = PutModel(dir, "m");
  const std::string expected = GetFile(PutArtifact(dir, "expected.aicf"));
  int n = 0;
  for (const std::vector<int>& closed : {std::vector<int>{1}, {2}, {0, 1, 2}}) {
    ToolOptions options;
    options.closed = closed;
    const std::string out = dir / (std::to_string(n++) + ".aicf");
    EXPECT_EQ(RunTool("aicf-compile", CompileArgs(model, out), options).exit_code, 0);
    EXPECT_EQ(GetFile(out), expected) << "text of the tool went into the artifact";
    EXPECT_EQ(RunTool("aicf-compile", {"--bogus"}, options).exit_code, 2);
  }
}

TEST(Streams, AnUnhelpfulUmaskDoesNotStopTheTool) {
  TempDir dir;
  const std::string model = PutModel(dir, "m");
  ToolOptions options;
  options.umask = 0777;
  ExpectSuccess(RunTool("aicf-compile", CompileArgs(model, dir / "o.aicf"), options));
  EXPECT_TRUE(fs::exists(dir / "o.aicf"));
}

/// Waits until a temporary file shows that the tool is at work.
bool AwaitTemporary(const TempDir& dir) {
  for (int i = 0; i < 500; ++i) {
    for (const std::string& name : dir.Entries()) {
      if (name.ends_with(".aicf-tmp")) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Interrupts a run that has begun to write files; returns how long it takes to end.
std::chrono::duration<double> TimeToEnd(const std::string& artifact, int number) {
  TempDir dir;
  const pid_t pid = StartTool("aicf-run", {artifact, "--duration=50", "--export-times",
                                           dir / "times.json", "--export-profile", dir / "p.json"});
  EXPECT_TRUE(AwaitTemporary(dir));
  const auto start = std::chrono::steady_clock::now();
  kill(pid, number);
  EXPECT_EQ(WaitTool(pid).exit_code, 128 + number);
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{});
  return std::chrono::steady_clock::now() - start;
}

// A busy machine may keep the tool waiting once, but not every time.
TEST(Signals, AnInterruptRemovesTemporaryFiles) {
  TempDir artifacts;
  const std::string artifact = PutArtifact(artifacts);
  for (const int number : {SIGINT, SIGTERM}) {
    auto shortest = TimeToEnd(artifact, number);
    for (int i = 0; i < 4 && shortest >= std::chrono::seconds(1); ++i) {
      shortest = std::min(shortest, TimeToEnd(artifact, number));
    }
    EXPECT_LT(shortest, std::chrono::seconds(1));
  }
}

TEST(Signals, WhatAKilledToolLeftIsSweptByTheNext) {
  TempDir artifacts, dir;
  const std::string artifact = PutArtifact(artifacts);
  const std::string times = dir / "times.json";
  const pid_t pid = StartTool("aicf-run", {artifact, "--duration=50", "--export-times", times});
  ASSERT_TRUE(AwaitTemporary(dir));
  kill(pid, SIGKILL);
  EXPECT_EQ(WaitTool(pid).signal, SIGKILL);
  EXPECT_EQ(dir.Entries().size(), 1u);
  ExpectSuccess(
      RunTool("aicf-run", {artifact, "--duration=0", "--warm-up=0", "--export-times", times}));
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"times.json"});
}

}  // namespace
}  // namespace aicf::testing
