// Every rule that the categorical kernel has about its parameters, broken once.
#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem DrawProblem(int64_t rows, int64_t categories) {
  const auto per_row = [&](DType dtype) { return Repeated({rows}, dtype); };
  return ProblemOf(Family::kCategorical, CategoricalAttrs{}, 7,
                   {{DType::kF32, {rows, categories}, {0, 1}, 0},
                    per_row(DType::kF32),
                    per_row(DType::kI32),
                    per_row(DType::kF32),
                    per_row(DType::kF32),
                    per_row(DType::kI64),
                    per_row(DType::kI64)},
                   {DenseView(DType::kI32, {rows})});
}

TEST(CudaRefusals, OfCategoricalDraws) {
  const char* key = "cuda.categorical.select";
  ExpectParametersRefused(key, DrawProblem(2, 128256),
                          {{"threads in multiples of 32, here is 300", {{"threads", 300}}},
                           {"needs 517440 bytes of shared memory",
                            {{"threads", 1024}, {"cluster", 1}, {"cached", 1}}}});
  // So many that a launch's 32 bits do not hold their bytes.
  ExpectParametersRefused(key, DrawProblem(1, int64_t{1} << 30),
                          {{"bytes of shared memory", {{"cluster", 1}, {"cached", 1}}}});
  const Problem many = DrawProblem(int64_t{1} << 30, 40);
  ASSERT_EQ(ValidateProblem(many).message(), "");
  const Parameters four = {{"threads", 256}, {"cluster", 4}, {"cached", 1}};
  EXPECT_NE(FindKernel(key)->refuse(many, four, Device()).find("more blocks"), std::string::npos);
}

TEST(CudaCategorical, LongRowsAreReadAgainWhereNoClusterKeepsThem) {
  const char* key = "cuda.categorical.select";
  const auto cached = [&](int64_t categories) {
    const auto best = BestCandidate(*FindKernel(key), DrawProblem(1, categories), Device());
    return best->variant.parameters["cached"];
  };
  EXPECT_EQ(cached(128256), 1);
  EXPECT_EQ(cached(int64_t{1} << 24), 0);
}

// 60 us for one row and 150 us for 64 are what a draw may take.
TEST(CudaCategorical, DrawsArePredictedToBeShort) {
  const KernelInfo& kernel = *FindKernel("cuda.categorical.select");
  EXPECT_LT(BestCandidate(kernel, DrawProblem(1, 128256), Device())->cost_us, 60);
  EXPECT_LT(BestCandidate(kernel, DrawProblem(64, 128256), Device())->cost_us, 150);
}

}  // namespace
}  // namespace aicf
