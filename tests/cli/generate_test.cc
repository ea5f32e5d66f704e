/// aicf-run's text of a language model, as a user sees it.
#include <gtest/gtest.h>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

TEST(GenerateTool, AnArtifactWithoutLanguageModelSaysSo) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  for (const char* flag : {"--prompt=Once", "--tokens=1,2", "--bench-llm"}) {
    ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, flag}), 4, "has no language model");
  }
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--prompt-file=" + (dir / "absent")}), 8,
                "absent");
}

}  // namespace
}  // namespace aicf::testing
