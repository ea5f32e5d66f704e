// Random models at two extents: where the proof goes through, the large one must compute the small
// one's results whatever its padding holds. Refusals are counted, so that neither answer is idle.
#include <gtest/gtest.h>

#include "compiler/ir/prefix/random_model.h"
#include "compiler/ir/prefix/testing.h"
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

constexpr int64_t kLarge = 5;

Result<testing::Array> Compute(const std::string& body, int64_t extent, const ir::Tensor& x) {
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, testing::AtExtent(body, extent));
  DecisionLog log;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice("cpu:baseline"));
  context.decisions = &log;
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, LowerGraph(graph, context));
  AICF_ASSIGN_OR_RETURN(const std::vector<ir::Tensor> outputs, Interpret(lowered, {x}));
  return testing::ToArray(outputs[0]);
}

// The first `small` of axis 0 are given, the rest is `filler`.
ir::Tensor Padded(const testing::Array& x, double filler) {
  testing::Array whole({kLarge, 3, 4});
  for (size_t i = 0; i < whole.data.size(); ++i) {
    whole.data[i] = i < x.data.size() ? x.data[i] : filler;
  }
  return testing::ToTensor(whole, DType::kF32);
}

// Elements of the small result that the large one does not repeat, whatever the padding.
int Differences(const std::string& body, int64_t small, uint32_t seed) {
  const ir::Tensor x = testing::Random(DType::kF32, {small, 3, 4}, seed);
  const auto want = Compute(body, small, x);
  EXPECT_TRUE(want.ok()) << want.status().ToString() << body;
  if (!want.ok()) return 0;
  int differences = 0;
  for (const double filler : {0.0, 1e30, std::nan("")}) {
    const auto got = Compute(body, kLarge, Padded(testing::ToArray(x), filler));
    EXPECT_TRUE(got.ok()) << got.status().ToString() << body;
    if (!got.ok()) return 0;
    for (size_t i = 0; i < want->data.size(); ++i) {
      const double bound = 1e-6 * (1 + std::abs(want->data[i]));
      if (!(std::abs(got->data[i] - want->data[i]) <= bound)) ++differences;
    }
  }
  return differences;
}

TEST(PrefixRandom, ProvenModelsComputePrefixesWhateverThePaddingHolds) {
  int proven = 0, refused = 0, rightly = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string body = testing::RandomModel(seed).Body(2 + static_cast<int>(seed % 7));
    const int64_t small = 1 + static_cast<int64_t>(seed % 4);
    if (testing::PrefixRefusal(body, kLarge, small).empty()) {
      ++proven;
      ASSERT_EQ(Differences(body, small, seed), 0) << body;
    } else {
      ++refused;
      rightly += Differences(body, small, seed) > 0;
    }
  }
  // The comparison sees what the proof refuses, and few refusals are for nothing.
  EXPECT_GT(proven, 100);
  EXPECT_GT(refused, 50);
  EXPECT_GT(rightly, refused * 3 / 4);
}

}  // namespace
}  // namespace aicf
