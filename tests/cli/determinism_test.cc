/// What is promised by default: the compiler gives the same bytes and a replay the same bits in
/// every process and on any number of threads.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

TEST(Determinism, ProcessesCompileTheSameBytes) {
  const TempDir dir;
  for (const std::string target : {"cpu", "cuda:sm_90a"}) {
    const std::vector<std::string> flags = {"--target=" + target, "--no-images"};
    const std::string a = GetFile(PutArtifact(dir, "a" + target + ".aicf", flags));
    const std::string b = GetFile(PutArtifact(dir, "b" + target + ".aicf", flags));
    EXPECT_FALSE(a.empty());
    EXPECT_EQ(a, b) << target;
  }
}

TEST(Determinism, ProcessesAndThreadsGiveTheSameBits) {
  const TempDir dir;
  const std::string artifact = PutArtifact(dir, "tiny.aicf", {"--deterministic"});
  PutNpy(dir / "x.npy", "(2, 4)", {0.1f, -2.5f, 3.25f, 1e-3f, 7.0f, -0.3f, 0.7f, 2.0f});
  std::vector<std::string> bits;
  for (const std::string threads : {"1", "2", "4", "1"}) {
    const std::string out = dir / ("out" + std::to_string(bits.size()));
    ExpectSuccess(RunTool("aicf-run",
                          {artifact, "--load-inputs=x:" + (dir / "x.npy"), "--export-output=" + out,
                           "--threads=" + threads, "--duration=0", "--iterations=3"}));
    const auto outputs = nlohmann::json::parse(GetFile(out + "/outputs.json"));
    std::string all;
    for (const auto& o : outputs) all += GetFile(out + "/" + o["file"].get<std::string>());
    bits.push_back(all);
    EXPECT_GT(all.size(), 2 * 6 * sizeof(float));
    EXPECT_EQ(all, bits[0]) << threads << " threads";
  }
}

}  // namespace
}  // namespace aicf::testing
