// The caches in bench/timing-cache/: what CI compiles tuned artifacts from.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/costs/fit.h"

namespace aicf::tune {
namespace {

std::vector<std::filesystem::path> CommittedCaches() {
  std::vector<std::filesystem::path> found;
  const std::filesystem::path folder =
      std::filesystem::path(AICF_SOURCE_DIR) / "bench" / "timing-cache";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") found.push_back(entry.path());
  }
  return found;
}

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(CommittedCaches, AreAsTheToolWritesThem) {
  if (CommittedCaches().empty()) GTEST_SKIP() << "bench/timing-cache/ has no cache";
  for (const auto& path : CommittedCaches()) {
    const std::string text = TextOf(path);
    const auto cache = TimingCache::Parse(text);
    ASSERT_TRUE(cache.ok()) << path << ": " << cache.status().ToString();
    EXPECT_EQ(cache->ToText(), text) << path;
    EXPECT_GT(cache->size(), 0u) << path;
  }
}

TEST(CommittedCaches, SpeakOfProblemsAndKernelsThatThereAre) {
  if (CommittedCaches().empty()) GTEST_SKIP() << "bench/timing-cache/ has no cache";
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  for (const auto& path : CommittedCaches()) {
    const auto cache = TimingCache::Parse(TextOf(path));
    ASSERT_TRUE(cache.ok());
    for (const DeviceId& id : cache->DevicesFor(device)) {
      const FitQuality quality = Judge(FitTable(), *cache, id, device);
      // Few may be of kernels or problems that are no more: then it is time to tune again.
      EXPECT_GE(quality.times, static_cast<int>(cache->TimesOf(id)->size()) * 9 / 10) << path;
      EXPECT_GT(quality.problems, 0) << path;
      // The built-in table was fitted to these times and predicts them no worse than none does.
      const FitQuality fitted = Judge(BuiltInFit(device), *cache, id, device);
      EXPECT_LE(fitted.median_error, quality.median_error + 0.01) << path;
    }
  }
}

// The products of bench/products: who compiles without a cache gets kernels near the fastest too.
TEST(CommittedCaches, ProductsAreChosenWellByPrediction) {
  const auto paths = CommittedCaches();
  const auto path = std::ranges::find_if(
      paths, [](const auto& p) { return p.filename() == "h200_products.txt"; });
  if (path == paths.end()) GTEST_SKIP() << "bench/timing-cache/ has no h200_products.txt";
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const auto cache = TimingCache::Parse(TextOf(*path));
  ASSERT_TRUE(cache.ok());
  for (const DeviceId& id : cache->DevicesFor(device)) {
    const FitQuality quality = Judge(BuiltInFit(device), *cache, id, device);
    EXPECT_GE(quality.problems, 50);
    EXPECT_LE(quality.mean_ratio, 1.1);
  }
}

}  // namespace
}  // namespace aicf::tune
