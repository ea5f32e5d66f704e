// What the CUDA kernels' candidates have in common.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

// One query for each of 9 heads, 3 of which share a key head.
std::vector<Candidate> DecodeCandidates(int64_t keys) {
  const View query = DenseView(DType::kF16, {1, 9, 1, 64});
  const View cache = DenseView(DType::kF16, {1, 3, keys, 64});
  Problem p = ProblemOf(Family::kAttention, AttentionAttrs{}, 3, {query, cache, cache}, {query});
  p.math = MathMode::kFp16;
  EXPECT_EQ(ValidateProblem(p).message(), "");
  return CandidatesOf(*FindKernel("cuda.attention.decode"), p, Device());
}

// Shared memory that no key ever fills is room for the next kernel's blocks.
TEST(CudaChoices, DecodeAttentionHoldsNoMoreStagesThanKeysFill) {
  int64_t most = 0;
  for (const int64_t keys : {int64_t{1}, int64_t{1280}, int64_t{65536}}) {
    const std::vector<Candidate> all = DecodeCandidates(keys);
    ASSERT_FALSE(all.empty()) << keys;
    for (const Candidate& c : all) {
      const Parameters& cut = c.variant.parameters;
      const int64_t warps = cut["split"] * cut["warps"];
      EXPECT_LE(cut["stages"] - 2, keys / (cut["tile_keys"] * warps)) << keys;
      most = std::max(most, cut["stages"]);
    }
  }
  EXPECT_GT(most, 3) << "many keys fill many";
}

}  // namespace
}  // namespace aicf
