// cuda.gemm.stream executed on this machine: rings of many forms against the reference kernels.
#include <gtest/gtest.h>

#include "kernels/abi/packing.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

using abi::MathMode;

struct Ring {
  int64_t columns, stages, flight, groups, warps, blocks;
};

// One block and more than there are columns; rings that turn often and rings that are never full;
// one group and many; few warps and many; stages of one column and of more than the product has.
const Ring kRings[] = {{1, 2, 1, 1, 1, 1},   {2, 4, 2, 2, 1, 3},  {4, 3, 3, 1, 2, 2},
                       {1, 12, 2, 4, 2, 1},  {3, 2, 2, 2, 4, 5},  {16, 2, 1, 1, 4, 1},
                       {1, 6, 6, 3, 3, 132}, {8, 4, 4, 2, 5, 1},  {32, 2, 2, 1, 16, 1},
                       {1, 24, 24, 8, 3, 1}, {17, 2, 1, 2, 8, 1}, {2, 8, 4, 8, 1, 2}};

abi::Parameters Set(const Ring& r, bool ahead) {
  return {{"columns", r.columns},  {"stages", r.stages}, {"flight", r.flight},
          {"groups", r.groups},    {"warps", r.warps},   {"blocks", r.blocks},
          {"ahead", ahead ? 1 : 0}};
}

class EmulatedStream : public testing::TestWithParam<size_t> {
 protected:
  // Runs `wanted` random products of one row with these options.
  static void Run(CaseOptions options, int wanted) {
    const abi::DeviceSpec device = *abi::FindDevice("cuda");
    const abi::KernelInfo& kernel = *abi::FindKernel("cuda.gemm.stream");
    options.rows = 1;
    int met = 0;
    for (uint64_t seed = 1000 * GetParam(); met < wanted; ++seed) {
      ASSERT_LT(seed, 1000 * GetParam() + 1000) << "too few cases that the kernel takes";
      const Case c = RandomCase(abi::Family::kGemm, seed, options);
      if (!kernel.supports(c.problem, device).empty()) continue;
      const abi::Parameters set = Set(kRings[GetParam()], seed % 2 == 0);
      if (!kernel.refuse(c.problem, set, device).empty()) continue;
      ++met;
      const Result<Buffers> got = EmulatedBuffers(kernel, c, kernel.variant(c.problem, set));
      ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
      EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
    }
  }
};

const std::vector<MathMode> kModes = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16};

TEST_P(EmulatedStream, AgreesWithTheReference) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const int64_t length = kRings[GetParam()].columns > 16 ? 520 : 1544;  // no whole steps
  for (const int64_t halves : {1, 2}) {
    Run({.whole_numbers = false, .math = kModes, .halves = halves}, 2);
    Run({.math = kModes, .length = length, .halves = halves}, 1);
  }
}

TEST_P(EmulatedStream, NormalisesItsRow) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const int64_t length : {0, 768})
    Run({.whole_numbers = false, .math = kModes, .length = length, .row_norm = true}, 2);
}

INSTANTIATE_TEST_SUITE_P(Rings, EmulatedStream, testing::Range<size_t>(0, std::size(kRings)));

}  // namespace
}  // namespace aicf::conformance
