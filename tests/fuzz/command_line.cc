/// Arguments of the three tools: the input is the tool's letter ("c", "r" or "i"), directly
/// followed by one argument per line. They are only turned into checked values: files that they
/// name are read, but nothing is compiled or run.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "tests/fuzz/planted.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tools/aicf-compile/options.h"
#include "tools/aicf-inspect/options.h"
#include "tools/aicf-run/options.h"
#include "tools/common/npy.h"

namespace aicf::fuzz {
namespace {

/// A prompt may come from standard input, which nobody writes to here: it is empty.
bool EmptyStandardInput() {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool empty = nothing >= 0 && dup2(nothing, STDIN_FILENO) == STDIN_FILENO;
  if (nothing > STDIN_FILENO) close(nothing);
  return empty;
}

/// A folder with files of the kinds that flags name, which is the current one from then on.
void EnterFolder() {
  static const bool entered = [] {
    const Scratch& s = TheScratch();
    s.MakeFolder("command");
    s.Put("command/policy", "gemm=ref\nconv=fp32\n");
    s.Put("command/log", TheSample().decisions.ToJsonLines());
    s.Put("command/cache", "aicf-timing-cache 2\n");
    const float zeros[72] = {};
    const auto npy =
        tools::SerializeNpy(DType::kF32, {1, 2, 6, 6}, std::as_bytes(std::span(zeros)));
    s.Put("command/x.npy", {reinterpret_cast<const char*>(npy.data()), npy.size()});
    const std::span<const std::byte> artifact = TheSample().bytes;
    s.Put("command/a.aicf", {reinterpret_cast<const char*>(artifact.data()), artifact.size()});
    return EmptyStandardInput() && chdir(s.Path("command").c_str()) == 0;
  }();
  if (!entered) Broken("the folder of the command lines cannot be entered");
}

/// Paths stay in the folder: --tune would try whether a file elsewhere can be written.
std::vector<std::string> Arguments(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty() && arguments.size() < 64) {
    std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::ranges::replace(line, '/', '_');
    std::ranges::replace(line, '\0', '0');
    arguments.push_back(std::move(line));
  }
  return arguments;
}

void RunCommandLine(Input input) {
  EnterFolder();
  const std::string_view text = TextOf(input);
  if (text.empty()) return;
  const std::vector<std::string> arguments = Arguments(text.substr(1));
  bool run = false;
  if (text[0] == 'r') {
    tools::RunOptions options;
    CheckTyped(tools::ParseRunOptions(arguments, &options, &run));
  } else if (text[0] == 'i') {
    tools::InspectOptions options;
    CheckTyped(tools::ParseInspectOptions(arguments, &options, &run));
  } else {
    tools::CompileArgs args;
    const Status parsed = tools::ParseCompileArgs(arguments, &args, &run);
    CheckTyped(parsed);
    if (parsed.ok() && run && Planted()) ReadRarely(input);
  }
}

}  // namespace

Target CommandLineTarget() { return {"command_line", &RunCommandLine}; }

}  // namespace aicf::fuzz
