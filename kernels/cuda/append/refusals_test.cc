// Every rule that the append kernels have about their problem and their parameters, broken once.
#include "kernels/abi/append.h"
#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem CudaAppend(int64_t tokens, int64_t pairs, int64_t head, int64_t pages = 5) {
  const auto of = [](const Dims& shape) { return Repeated(shape, DType::kBF16); };
  const View cache = DenseView(DType::kBF16, {pages, 8, 2, head});
  Problem p = ProblemOf(Family::kAppend, AppendAttrs{pairs}, 5,
                        {of({1, tokens, 2, head}), of({1, tokens, 2, head}),
                         Repeated({1, tokens, 2}, DType::kI32), cache, cache},
                        {cache, cache});
  if (pairs == 0) return p;
  p.core_inputs = 8;
  p.inputs.insert(p.inputs.end(), {of({1, tokens, 4, head}), Repeated({1, tokens, pairs}),
                                   Repeated({1, tokens, pairs})});
  p.outputs.push_back(DenseView(DType::kBF16, {1, tokens, 4, head}));
  return p;
}

TEST(CudaRefusals, OfAppends) {
  const Problem turned = CudaAppend(1, 32, 64), moved = CudaAppend(1, 0, 64);
  ExpectUnsupported("cuda.append.rotary", moved, "turns queries and keys");
  ExpectUnsupported("cuda.append.rows", turned, "turns nothing");
  for (const char* key : {"cuda.append.rotary", "cuda.append.rows"}) {
    const Problem& p = key == std::string_view("cuda.append.rows") ? moved : turned;
    ExpectParametersRefused(key, p,
                            {{"vector as a power of two, here is 3", {{"vector", 3}}},
                             {"threads in multiples of 32, here is 40", {{"threads", 40}}},
                             {"blocks", {{"blocks", kMany}}}});
  }
  ExpectParametersRefused("cuda.append.rotary", CudaAppend(1, 12, 64),
                          {{"divide 12 pairs and 64 elements, here are 8", {{"vector", 8}}}});
  ExpectParametersRefused("cuda.append.rows", CudaAppend(1, 0, 20),
                          {{"divide 0 pairs and 20 elements, here are 8", {{"vector", 8}}}});
  // More vectors than indices of 32 bits count: of new rows, and of a cache.
  ExpectParametersRefused("cuda.append.rows", CudaAppend(int64_t{1} << 24, 0, 64),
                          {{"here are 4294967296", {{"vector", 1}}}});
  ExpectParametersRefused("cuda.append.rows", CudaAppend(1, 0, 64, int64_t{1} << 22),
                          {{"here are 4294967296", {{"vector", 1}}}});
}

// Pages of heads of 64 elements: eight to a thread; partners have to fit, too.
TEST(CudaAppend, VectorsAreAsWideAsHeadsAllow) {
  const auto widest = [](const Problem& p, const char* key) {
    return BestCandidate(*FindKernel(key), p, Device())->variant.parameters["vector"];
  };
  EXPECT_EQ(widest(CudaAppend(1, 32, 64), "cuda.append.rotary"), 8);
  EXPECT_EQ(widest(CudaAppend(1, 12, 64), "cuda.append.rotary"), 4);
  EXPECT_EQ(widest(CudaAppend(1, 1, 64), "cuda.append.rotary"), 1);
  EXPECT_EQ(widest(CudaAppend(1, 0, 64), "cuda.append.rows"), 8);
  EXPECT_EQ(widest(CudaAppend(1, 0, 35), "cuda.append.rows"), 1);
}

}  // namespace
}  // namespace aicf
