/// Help, versions, and every way to get the command line wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

const char* const kTools[] = {"aicf-compile", "aicf-run", "aicf-inspect", "aicf-sign"};

TEST(Help, EveryToolExplainsItselfWithExamples) {
  for (const std::string tool : kTools) {
    for (const char* flag : {"--help", "-h"}) {
      const ToolResult r = RunTool(tool, {flag});
      ExpectSuccess(r);
      EXPECT_NE(r.out.find("Examples:\n  " + tool + " "), std::string::npos) << r.out;
      EXPECT_NE(r.out.find("Exit codes: "), std::string::npos);
    }
    const ToolResult version = RunTool(tool, {"--version"});
    ExpectSuccess(version);
    EXPECT_EQ(version.out.find(tool + " 0."), 0u) << version.out;
  }
}

/// The numbers that --help lists, in its order.
std::vector<int> ListedCodes(const std::string& tool) {
  std::string text = RunTool(tool, {"--help"}).out;
  text.erase(0, std::min(text.find("Exit codes: "), text.size()));
  text.erase(std::min(text.find("(SIGINT"), text.size()));
  static const std::regex number("(: |, |,\n|and )([0-9]+) ");
  std::vector<int> codes;
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at) {
    codes.push_back(std::stoi((*at)[2]));
  }
  return codes;
}

TEST(Help, ExitCodesAreThoseOfTheDocumentation) {
  const std::pair<const char*, std::vector<int>> rows[] = {
      {"aicf-compile", {0, 1, 2, 3, 4, 5, 6, 7, 8, 70, 130, 143}},
      {"aicf-run", {0, 1, 2, 4, 5, 6, 7, 8, 70, 130, 143}},
      {"aicf-inspect", {0, 1, 2, 4, 5, 7, 8, 70, 130, 143}},
      {"aicf-sign", {0, 2, 4, 5, 7, 8, 70, 130, 143}}};
  for (const auto& [tool, codes] : rows) EXPECT_EQ(ListedCodes(tool), codes) << tool;
}

struct UsageCase {
  std::string tool;
  std::vector<std::string> args;
  std::string part;  ///< of the message
};

std::vector<UsageCase> UsageCases(const std::string& model, const std::string& artifact,
                                  const std::string& out) {
  return {
      {"aicf-compile", {}, "model"},
      {"aicf-compile", {model}, "-o FILE is missing"},
      {"aicf-compile", {model, "-o", out, "--sahpes=x:1"}, "did you mean --shapes?"},
      {"aicf-compile", {model, "-o", out, "--target"}, "--target"},
      {"aicf-compile", {model, "-o", out, "--math=fp32", "--math=fp16"}, "--math"},
      {"aicf-compile", {model, "-o", out, "--math=fp12"}, "'fp12'"},
      {"aicf-compile", {model, "-o", out, "--shapes=x"}, "name:1x3x48x320"},
      {"aicf-compile", {model, "-o", out, "--shapes=x:-1x4"}, "'x:-1x4'"},
      {"aicf-compile", {model, "-o", out, "--shapes=x:9223372036854775808"}, "--shapes"},
      {"aicf-compile", {model, "-o", out, "--shapes=x:4294967296x4294967296"}, "--shapes"},
      {"aicf-compile", {model, "-o", out, "--shapes=x:2x4,x:2x4"}, "given twice"},
      {"aicf-compile", {model, "-o", out, "--shapes=nope:2x4"}, "nope"},
      {"aicf-compile", {model, "-o", out, "--shapes=x:2x5"}, "x"},
      {"aicf-compile", {model, "-o", out, "--disable-pass=no-such-pass"}, "no-such-pass"},
      {"aicf-compile", {model, "-o", out, "--dump-after=no-such-pass"}, "no-such-pass"},
      {"aicf-compile", {model, "-o", out, "--policy=bogus=x"}, "bogus"},
      {"aicf-compile", {model, "--stop-after=artifact"}, "graph, lowered or plan"},
      {"aicf-compile", {model, "--stop-after=graph", "--check"}, "exclude"},
      {"aicf-compile", {model, "second.onnx", "-o", out}, "second.onnx"},
      {"aicf-compile", {model, "-o", model, "--force"}, "the output is the model itself"},
      {"aicf-compile", {model, "-o", out, "--disable-fusion=no_such_node"}, "no_such_node"},
      {"aicf-compile", {model, "-o", out, "--logits"}, "are for language models"},
      {"aicf-compile", {model, "-o", out, "--context=64"}, "are for language models"},
      {"aicf-compile", {model, "-o", out, "--drop-edits"}, "--from"},
      {"aicf-compile", {model, "-o", out, "--tune-state=warm"}, "--tune, which was not given"},
      {"aicf-compile", {model, "-o", out, "--timing-device=x"}, "--timing-cache"},
      {"aicf-compile", {model, "--check", "--export-decisions=" + out}, "--export-decisions"},
      {"aicf-compile", {model, "--rebuild=" + artifact, "--shapes=x:2x4"}, "exclude each other"},
      {"aicf-compile", {model, "--rebuild=" + artifact, "--meta=x"}, "exclude each other"},
      {"aicf-compile", {model, "--rebuild=" + artifact, "--context=7"}, "exclude each other"},
      {"aicf-run", {}, "artifact"},
      {"aicf-run", {artifact, "--iterations=-1"}, "--iterations"},
      {"aicf-run", {artifact, "--iterations=0"}, "--iterations"},
      {"aicf-run", {artifact, "--iterations=9223372036854775808"}, "--iterations"},
      {"aicf-run", {artifact, "--iterations=0x10"}, "--iterations"},
      {"aicf-run", {artifact, "--duration=1e9999"}, "--duration"},
      {"aicf-run", {artifact, "--duration=1,5"}, "--duration"},
      {"aicf-run", {artifact, "--duration=nan"}, "--duration"},
      {"aicf-run", {artifact, "--warm-up="}, "--warm-up"},
      {"aicf-run", {artifact, "--percentile=50,101"}, "--percentile"},
      {"aicf-run", {artifact, "--percentile=50,,90"}, "--percentile"},
      {"aicf-run", {artifact, "--threads=0"}, "--threads"},
      {"aicf-run", {artifact, "--threads=100000"}, "--threads"},
      {"aicf-run", {artifact, "--max-operations=0"}, "--max-operations"},
      {"aicf-run", {artifact, "--max-operations=1e99"}, "--max-operations"},
      {"aicf-run", {artifact, "--device=gpu0"}, "'gpu0'"},
      {"aicf-run", {artifact, "--device=cuda:x"}, "'cuda:x'"},
      {"aicf-run", {artifact, "--atol=1e-3"}, "--load-ref-outputs"},
      {"aicf-run", {artifact, "--load-inputs=x"}, "name:file.npy"},
      {"aicf-run", {artifact, "--load-inputs=nope:a.npy"}, "'nope'"},
      {"aicf-run", {artifact, "--load-inputs=x:a.npy,x:b.npy"}, "given twice"},
      {"aicf-run", {artifact, "--export-times=" + artifact}, "artifact itself"},
      {"aicf-run", {artifact, "--no-cuda-graph", "--useCudaGraph"}, "cuda-graph"},
      {"aicf-run",
       {artifact, "--temperature=1"},
       "--temperature is for --prompt, --prompt-file or --tokens"},
      {"aicf-run", {artifact, "--chat"}, "--chat is for --prompt or --prompt-file"},
      {"aicf-run", {artifact, "-p", "8"}, "--bench-prompt is for --bench-llm"},
      {"aicf-run", {artifact, "-n", "8"}, "--prompt, --prompt-file, --tokens or --bench-llm"},
      {"aicf-run", {artifact, "--bench-llm", "--chat"}, "--chat is not for --bench-llm"},
      {"aicf-run", {artifact, "--prompt=", "--batch=2"}, "--batch is for --bench-llm"},
      {"aicf-run", {artifact, "--prompt=a", "--profile="}, "--profile: nothing follows the '='"},
      {"aicf-run", {artifact, "--verify="}, "--verify: nothing follows the '='"},
      {"aicf-run", {artifact, "--prompt=a", "--top-k=4"}, "needs --temperature above 0"},
      {"aicf-run",
       {artifact, "--prompt=a", "--temperature=0", "--min-p=0.1"},
       "--min-p draws tokens, which needs --temperature above 0"},
      {"aicf-run", {artifact, "--tokens=1", "--seed=0"}, "--seed draws tokens"},
      {"aicf-run", {artifact, "--prompt=a", "--tokens=1"}, "give one"},
      {"aicf-run", {artifact, "--prompt=a", "--bench-llm"}, "makes up its own prompts"},
      {"aicf-run", {artifact, "--prompt=a", "--batch=2"}, "--batch is for --bench-llm"},
      {"aicf-run", {artifact, "--bench-llm", "--seed=2"}, "--seed is not for --bench-llm"},
      {"aicf-run", {artifact, "--bench-llm", "-p", "0", "-n", "0"}, "nothing is left to measure"},
      {"aicf-run", {artifact, "--bench-llm", "-p", "512,,1"}, "--bench-prompt"},
      {"aicf-run", {artifact, "--prompt=a", "--system=b"}, "--system needs --chat"},
      {"aicf-run", {artifact, "--tokens=1", "--chat"}, "--tokens gives ids"},
      {"aicf-run", {artifact, "--tokens=1,-2"}, "--tokens"},
      {"aicf-run", {artifact, "--tokens=1,x"}, "'x'"},
      {"aicf-run", {artifact, "--prompt=a", "--top-p=1.5"}, "--top-p: expected a number"},
      {"aicf-run", {artifact, "--prompt=a", "--temperature=nan"}, "--temperature"},
      {"aicf-run", {artifact, "--prompt=a", "-n", "-1"}, "--max-tokens"},
      {"aicf-run", {artifact, "--prompt=a", "--profile"}, "--profile is for running one"},
      {"aicf-run", {artifact, "--prompt=a", "--verify"}, "--verify is for running one"},
      {"aicf-inspect", {artifact, "--step=99999"}, "--step"},
      {"aicf-inspect", {artifact, "--step=-1"}, "--step"},
      {"aicf-inspect", {artifact, "--json", "--verify"}, "--verify"},
      {"aicf-inspect", {artifact, artifact}, "unexpected argument"},
  };
}

TEST(Usage, EveryMistakeIsOneLineAndExitCode2) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  const std::string model = dir / "tiny.onnx";
  const std::string before = GetFile(model);
  for (const UsageCase& c : UsageCases(model, artifact, dir / "out.aicf")) {
    SCOPED_TRACE(c.tool + " " + (c.args.empty() ? "" : c.args.back()));
    const ToolResult r = RunTool(c.tool, c.args);
    ExpectFailure(c.tool, r, 2, c.part);
    EXPECT_EQ(r.out, "");
  }
  EXPECT_EQ(GetFile(model), before);
  EXPECT_EQ(dir.Entries(), (std::vector<std::string>{"tiny.aicf", "tiny.onnx"}));
}

TEST(Usage, TenThousandArgumentsAndAHugeOne) {
  for (const std::string tool : kTools) {
    const ToolResult many = RunTool(tool, std::vector<std::string>(10000, "x"));
    ExpectFailure(tool, many, 2, "");
    const ToolResult huge = RunTool(tool, {"--" + std::string(100000, 'a')});
    ExpectFailure(tool, huge, 2, "unknown flag");
    EXPECT_LT(huge.err.size(), 2000u);
  }
}

TEST(Usage, ControlBytesInArgumentsAreEscaped) {
  for (const std::string tool : kTools) {
    const ToolResult r = RunTool(tool, {"--a\x1b[31m\nforged: line\x7f\xff"});
    ExpectFailure(tool, r, 2, "\\x1b[31m\\nforged");
    EXPECT_NE(r.err.find("\\xff"), std::string::npos);
  }
}

}  // namespace
}  // namespace aicf::testing
