// cuda.attention.decode executed on this machine: every way to share out keys against the reference
// kernels, and a request's result beside other requests.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/abi/attention.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

using abi::MathMode;

constexpr const char* kDecode = "cuda.attention.decode";

struct Sharing {
  int64_t split, warps, stages, tile_keys;
};

// One block and many, one warp and many; fewer tiles than stages, and rings that turn often.
const Sharing kSharings[] = {{1, 1, 2, 16}, {2, 2, 3, 16}, {4, 4, 2, 32},
                             {1, 4, 8, 16}, {8, 1, 2, 32}, {16, 2, 2, 16}};

abi::Parameters Set(const Sharing& s) {
  return {{"split", s.split}, {"warps", s.warps}, {"stages", s.stages}, {"tile_keys", s.tile_keys}};
}

Result<Buffers> Decoded(const Case& c, const Sharing& sharing) {
  const abi::KernelInfo& kernel = *abi::FindKernel(kDecode);
  return EmulatedBuffers(kernel, c, kernel.variant(c.problem, Set(sharing)));
}

class EmulatedDecode : public testing::TestWithParam<size_t> {};

// Random decode steps: lengths from none on, NaN where no key is, pages outside of the pool.
TEST_P(EmulatedDecode, AgreesWithTheReference) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const Sharing& sharing = kSharings[GetParam()];
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const abi::KernelInfo& kernel = *abi::FindKernel(kDecode);
  CaseOptions options;
  options.math = {MathMode::kFp16, MathMode::kBf16};
  int met = 0;
  for (uint64_t seed = 100 * GetParam(); met < 4; ++seed) {
    const Case c = RandomCase(abi::Family::kAttention, seed, options);
    if (!kernel.supports(c.problem, device).empty()) continue;
    if (!kernel.refuse(c.problem, Set(sharing), device).empty()) continue;
    ++met;
    const Result<Buffers> got = Decoded(c, sharing);
    ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Sharings, EmulatedDecode, testing::Range<size_t>(0, std::size(kSharings)));

// Two key heads of 64 numbers, four query heads each, `own_pages` pages of 16 keys for a request;
// every third page from its own number on is a request's, so that requests share none. Causal: the
// row is the last key's.
Case DecodeStep(const std::vector<int32_t>& lengths, const std::vector<int32_t>& requests,
                int32_t own_pages = 12) {
  const auto batch = static_cast<int64_t>(lengths.size());
  constexpr int64_t kRequests = 3;
  Case c;
  abi::AttentionAttrs a;
  a.scale = 0.125;
  a.lengths = a.pages = true;
  a.rows = abi::RowOrigin::kLastKeys;
  a.window_right = 0;
  c.problem.family = abi::Family::kAttention;
  c.problem.attrs = a;
  c.problem.math = MathMode::kFp16;
  const auto f16 = [](const Dims& shape) { return abi::DenseView(DType::kF16, shape); };
  c.problem.inputs = {f16({batch, 8, 1, 64}), f16({own_pages * kRequests, 2, 16, 64}),
                      f16({own_pages * kRequests, 2, 16, 64}), abi::DenseView(DType::kI32, {batch}),
                      abi::DenseView(DType::kI32, {batch, own_pages})};
  c.problem.core_inputs = 5;
  c.problem.outputs = {f16({batch, 8, 1, 64})};
  Random random(11);
  FillBuffers(random, c, false);
  std::vector<int32_t> pages;
  for (int32_t request : requests) {
    for (int32_t i = 0; i < own_pages; ++i) pages.push_back(i * kRequests + request);
  }
  std::memcpy(c.buffers[3].data(), lengths.data(), lengths.size() * 4);
  std::memcpy(c.buffers[4].data(), pages.data(), pages.size() * 4);
  c.tolerance = {1, 5e-3};  // eight roundings of weights and factors to 11 bits
  return c;
}

// The same parameters and the same request: the same bits, whatever the others are.
TEST(EmulatedDecodeStep, DependsOnTheRequestAlone) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const Sharing sharing = {4, 2, 3, 16};
  constexpr size_t kRow = 8 * 64 * 2;  // bytes of a request's queries, and of its results
  const Case three = DecodeStep({7, 0, 150}, {0, 1, 2});
  Case one = DecodeStep({150}, {2});
  std::memcpy(one.buffers[0].data(), three.buffers[0].data() + 2 * kRow, kRow);
  for (size_t cache : {1, 2}) one.buffers[cache] = three.buffers[cache];
  const Result<Buffers> alone = Decoded(one, sharing), together = Decoded(three, sharing);
  ASSERT_TRUE(alone.ok() && together.ok());
  EXPECT_EQ(Difference(three, *together, RunReference(three)), "");
  const std::byte* results = together->back().data();
  EXPECT_EQ(std::memcmp(alone->back().data(), results + 2 * kRow, kRow), 0);
  const std::vector<std::byte> zeros(kRow);
  EXPECT_EQ(std::memcmp(results + kRow, zeros.data(), kRow), 0) << "a request without keys";
}

// Lanes hold one entry of a table, several, or none because it is too long.
TEST(EmulatedDecodeStep, FindsThePagesOfTablesOfAnyLength) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const int32_t pages : {12, 70, 128, 129}) {
    const Case c = DecodeStep({16 * pages - 3, 7}, {2, 0}, pages);
    const Result<Buffers> got = Decoded(c, {4, 2, 3, 32});
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << pages;
  }
}

TEST(EmulatedDecodeStep, SeesNoKeysOfPagesThatThereAreNot) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const Sharing& sharing : {Sharing{1, 2, 2, 32}, Sharing{4, 2, 3, 16}}) {
    Case c = DecodeStep({150, 33}, {0, 1});
    // The pool has 36 pages; the first request's second and fourth are none of them.
    const int32_t none[] = {36, -1};
    std::memcpy(c.buffers[4].data() + 4, &none[0], 4);
    std::memcpy(c.buffers[4].data() + 12, &none[1], 4);
    const Result<Buffers> got = Decoded(c, sharing);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "");
  }
}

}  // namespace
}  // namespace aicf::conformance
