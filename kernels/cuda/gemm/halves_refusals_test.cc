// What CUDA kernels refuse of products of two halves, each rule broken once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem WholeGemm(int64_t m, int64_t k, int64_t n, DType dtype = DType::kF32,
                  MathMode math = MathMode::kFp32) {
  Problem p =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2, {DenseView(dtype, {m, k}), DenseView(dtype, {k, n})},
                {DenseView(dtype, {m, n})});
  p.math = math;
  return p;
}

// [m, k] x [k, 2 * n], the halves multiplied; with k innermost in B or n.
Problem GemmOfHalves(int64_t m, int64_t k, int64_t n, bool along_k, DType dtype = DType::kF32,
                     MathMode math = MathMode::kFp32) {
  Problem p = WholeGemm(m, k, n, dtype, math);
  std::get<GemmAttrs>(p.attrs).halves = 2;
  const Dims shape = {k, 2 * n}, strides = along_k ? Dims{1, k} : Dims{2 * n, 1};
  p.inputs[1] = {dtype, shape, strides, 0};
  p.epilogue = *ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2");
  return p;
}

TEST(CudaRefusals, OfFewRowsOfTwoHalves) {
  const char* key = "cuda.gemm.gemv";
  EXPECT_EQ(Refused(key, GemmOfHalves(1, 64, 64, false), {{"piece", 4}}), "");
  ExpectParametersRefused(key, GemmOfHalves(1, 64, 66, false),
                          {{"a piece of a power of two up to 2", {{"piece", 4}}}});
  // Either half's partial sums take the room of a product's.
  EXPECT_EQ(Refused(key, WholeGemm(8, 64, 128), {{"along_n", 1}, {"piece", 4}, {"warps", 8}}), "");
  ExpectParametersRefused(
      key, GemmOfHalves(8, 64, 64, false),
      {{"needs 65536 bytes of static", {{"along_n", 1}, {"piece", 4}, {"warps", 8}}}});
  const Problem wide = GemmOfHalves(1, 64, 4096, false);
  const Parameters set = {{"along_n", 1}, {"piece", 4}, {"warps", 8}};
  EXPECT_EQ(FindKernel(key)->variant(wide, set).launch.grid[0], 4096u / 128);
}

TEST(CudaRefusals, OfTheHopperProductOfTwoHalves) {
  const char* key = "cuda.gemm.hopper";
  using enum MathMode;
  const Edits base = HopperProductTile();
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  const Problem along = GemmOfHalves(256, 128, 256, true, DType::kF16, kFp16);
  const Problem across = GemmOfHalves(256, 128, 256, false, DType::kF16, kFp16);
  EXPECT_EQ(Refused(key, along, base), "");
  EXPECT_EQ(Refused(key, along, with({{"swap", 1}})), "");
  EXPECT_EQ(Refused(key, along, with({{"tile_n", 16}})), "");
  EXPECT_EQ(Refused(key, across, base), "");
  const Edits shared = {{"cluster", 2}, {"cluster_m", 2}, {"tile_n", 16}};
  ExpectParametersRefused(
      key, along,
      {{"two halves share no part of 8 columns in runs of 8", with({{"tile_n", 8}})},
       {"two halves share no part of 8 columns in runs of 8", with(shared)}});
  ExpectParametersRefused(
      key, across,
      {{"swapped tiles take two halves along k alone", with({{"swap", 1}})},
       {"two halves share no 64 columns in runs of 64", with({{"tile_n", 64}})}});
  ExpectUnsupported(key, GemmOfHalves(256, 128, 20, true, DType::kF16, kFp16),
                    "operand 1 has halves of 20 columns, no multiple of 8");
  ExpectUnsupported(key, GemmOfHalves(256, 128, 20, false, DType::kF16, kFp16),
                    "operand 1 has halves of 20 columns, no multiple of 8");
  EXPECT_EQ(Unsupported(key, GemmOfHalves(256, 128, 24, false, DType::kF16, kFp16)), "");
  // Blocks that share k send lines of results, each of both halves: 6 blocks share 32 of them.
  Edits split = base;
  for (Parameter& parameter : split) {
    if (parameter.name == "split" || parameter.name == "cluster") parameter.value = 6;
  }
  const Problem deep = GemmOfHalves(256, 1024, 256, true, DType::kF16, kFp16);
  const uint32_t one =
      FindKernel(key)
          ->variant(WholeGemm(256, 1024, 256, DType::kF16, kFp16), Parameters(split))
          .launch.dynamic_shared_bytes;
  const uint32_t two =
      FindKernel(key)->variant(deep, Parameters(split)).launch.dynamic_shared_bytes;
  EXPECT_EQ(two - one, 2u * 6 * (6 * 2 - 11) * 256);
}

}  // namespace
}  // namespace aicf
