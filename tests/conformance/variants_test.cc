// Host functions of the CUDA variants over random problems: no device needed.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compiler/codegen/cuda_source.h"
#include "kernels/abi/kernel.h"
#include "tests/conformance/cases.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;
using abi::MathMode;

constexpr uint64_t kSeeds = 150;

CaseOptions OptionsOf(uint64_t seed) {
  CaseOptions o;
  if (seed % 3 == 1) o.math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16, MathMode::kFp8};
  o.whole_numbers = seed % 2 == 0;
  return o;
}

class Variants : public testing::TestWithParam<int> {
 protected:
  Family family() const { return static_cast<Family>(GetParam()); }
  const abi::DeviceSpec device_ = *abi::FindDevice("cuda");
};

TEST_P(Variants, CasesAreValidAndEqualForEqualSeeds) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    const Status valid = abi::ValidateProblem(c.problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString() << "\n" << c.name;
    const Case again = RandomCase(family(), seed, OptionsOf(seed));
    ASSERT_EQ(c.name, again.name);
    ASSERT_EQ(c.buffers, again.buffers);
  }
}

TEST_P(Variants, SomeVariantTakesEveryProblem) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    bool taken = false;
    for (const KernelInfo& k : abi::KernelsOf(family())) {
      if (k.backend == abi::Backend::kCuda) taken = taken || k.supports(c.problem, device_).empty();
    }
    EXPECT_TRUE(taken) << c.name;
  }
}

void CheckLaunch(const KernelInfo& k, const Case& c, const abi::DeviceSpec& device) {
  const abi::LaunchConfig l = k.launch(c.problem, device);
  EXPECT_EQ(l, k.launch(c.problem, device));
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    EXPECT_GE(l.grid[d], 1u);
    EXPECT_GE(l.block[d], 1u);
    EXPECT_EQ(l.grid[d] % l.cluster[d], 0u);
    threads *= l.block[d];
  }
  EXPECT_LE(l.grid[0], 2147483647u);
  EXPECT_LE(threads, 1024u);
  EXPECT_EQ(threads % 32, 0u) << "shuffles name every lane of a warp";
  EXPECT_LE(l.dynamic_shared_bytes, static_cast<uint32_t>(device.max_shared_bytes));
}

TEST_P(Variants, LaunchesAreLegalAndCostsAreNumbers) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    for (const KernelInfo& k : abi::KernelsOf(family())) {
      if (k.backend == abi::Backend::kCpu || !k.supports(c.problem, device_).empty()) continue;
      SCOPED_TRACE(StrCat(k.key, " ", c.name));
      const double cost = k.cost_us(c.problem, device_);
      EXPECT_TRUE(std::isfinite(cost) && cost > 0) << cost;
      if (k.backend == abi::Backend::kCuda) CheckLaunch(k, c, device_);
    }
  }
}

TEST_P(Variants, SourcesAreReproducibleAndNamed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    for (const KernelInfo& k : abi::KernelsOf(family())) {
      if (k.backend != abi::Backend::kCuda || !k.supports(c.problem, device_).empty()) continue;
      const std::string text = WriteCudaSource(k, c.problem, device_);
      EXPECT_EQ(text, WriteCudaSource(k, c.problem, device_));
      EXPECT_NE(text.find(abi::InstanceSymbol(k.key, c.problem)), std::string::npos);
    }
  }
}

TEST_P(Variants, EveryVariantIsMet) {
  std::map<std::string_view, int> met;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    for (const KernelInfo& k : abi::KernelsOf(family())) {
      if (k.backend != abi::Backend::kCpu)
        met[k.key] += k.supports(c.problem, device_).empty() ? 1 : 0;
    }
  }
  for (const auto& [key, count] : met) EXPECT_GT(count, 0) << key << " refused all the cases";
}

INSTANTIATE_TEST_SUITE_P(Families, Variants, testing::Range(0, abi::kFamilyCount),
                         [](const testing::TestParamInfo<int>& i) {
                           return std::string(abi::FamilyName(static_cast<Family>(i.param)));
                         });

}  // namespace
}  // namespace aicf::conformance
