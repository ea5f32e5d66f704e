// Every rule that the excite kernel has about its problem or its parameters, broken once.
#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

TEST(CudaRefusals, OfExcitation) {
  const char* key = "cuda.excite.cluster";
  const auto excite = [](int64_t images, int64_t channels, int64_t hidden, int64_t positions) {
    const View x = {
        DType::kF16, {images, channels, positions}, {channels * positions, 1, channels}, 0};
    return ProblemOf(
        Family::kExcite, ExciteAttrs{0}, 2,
        {DenseView(DType::kF16, {hidden, channels}), DenseView(DType::kF16, {channels, hidden}), x},
        {x});
  };
  ExpectUnsupported(key, excite(1, 16 * 8 * 1024 + 8, 2, 1), "here are 1024 for 1025");
  ExpectUnsupported(key, excite(1, 8, 100000, 1), "bytes of shared memory");
  ExpectParametersRefused(
      key, excite(1, 96, 4, 49),
      {{"threads in multiples of 32, here is 100", {{"threads", 100}}},
       {"vector as a power of two, here is 3", {{"vector", 3}}},
       {"96 channels are no whole vectors of 64", {{"vector", 64}}},
       {"here are 64 for 96", {{"vector", 1}, {"threads", 64}, {"channel_parts", 1}}},
       {"takes clusters of 32 blocks", {{"channel_parts", 2}, {"position_parts", 16}}}});
  ExpectParametersRefused(key, excite(1, 96, 9000, 4),
                          {{"bytes of shared memory", {{"channel_parts", 8}}}});
  Problem many = excite(1, 8, 2, 1);
  for (View* v : {&many.inputs[2], &many.outputs[0]}) v->shape[0] = int64_t{1} << 31;
  ASSERT_EQ(ValidateProblem(many).message(), "");
  const Parameters one = {
      {"channel_parts", 1}, {"position_parts", 1}, {"vector", 8}, {"threads", 32}};
  EXPECT_NE(FindKernel(key)->refuse(many, one, Device()).find("more blocks"), std::string::npos);
}

}  // namespace
}  // namespace aicf
