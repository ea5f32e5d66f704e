// What kernels refuse of products whose operands have scales of blocks, each rule broken once.
#include <gtest/gtest.h>

#include "base/checked.h"
#include "kernels/cuda/gemm/matmul_layout.h"
#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kScaledGemm = "cuda.gemm.hopper";

// [256, 1024] x [1024, 384], both along k.
Problem ScaledGemm(int64_t terms, int64_t columns, DType data = DType::kF8E4M3FN,
                   MathMode math = MathMode::kFp8) {
  GemmAttrs attrs;
  attrs.scale_terms = terms;
  attrs.scale_columns = columns;
  const int64_t steps = CeilDiv(int64_t{1024}, terms);
  Problem p = ProblemOf(Family::kGemm, attrs, 4,
                        {DenseView(data, {256, 1024}),
                         {data, {1024, 384}, {1, 1024}, 0},
                         DenseView(DType::kF32, {256, steps}),
                         DenseView(DType::kF32, {steps, CeilDiv(int64_t{384}, columns)})},
                        {DenseView(DType::kF32, {256, 384})});
  p.math = math;
  return p;
}

TEST(CudaRefusals, OfTheHopperProductWithScales) {
  for (const DType data : {DType::kF8E4M3FN, DType::kF8E5M2}) {
    EXPECT_EQ(Unsupported(kScaledGemm, ScaledGemm(128, 1, data)), "");
    EXPECT_EQ(Unsupported(kScaledGemm, ScaledGemm(128, 128, data)), "");
  }
  ExpectUnsupported(kScaledGemm, ScaledGemm(128, 128, DType::kBF16, MathMode::kBf16),
                    "takes scales of float8 alone, not of bf16");
  ExpectUnsupported(kScaledGemm, ScaledGemm(64, 128), "takes scales of 128 terms, not of 64");
  ExpectUnsupported(kScaledGemm, ScaledGemm(128, 64),
                    "takes scales of 1 or 128 columns, not of 64");
  Problem halves = ScaledGemm(128, 128);
  std::get<GemmAttrs>(halves.attrs).halves = 2;
  halves.outputs = {DenseView(DType::kF32, {256, 192})};
  halves.epilogue = *ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2");
  ExpectUnsupported(kScaledGemm, halves, "takes no scales of two halves");
  // A program has scales in f32 alone (ValidateProblem), but what stores values asks kernels first.
  for (const size_t i : {2, 3}) {
    Problem narrow = ScaledGemm(128, 128);
    narrow.inputs[i].dtype = DType::kF16;
    EXPECT_EQ(Unsupported(kScaledGemm, narrow), "takes scales in f32, not in f16");
  }
}

TEST(CudaRefusals, OfTheHopperProductsTilesWithScales) {
  Edits base = HopperProductTile();
  for (Parameter& p : base) p.value = p.name == "tile_k" ? 128 : p.value;
  base.push_back({"promote", 1});
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  const auto three = [&](int64_t n) {
    return with({{"tile_m", 192}, {"tile_n", n}, {"consumers", 3}});
  };
  const Problem blocks = ScaledGemm(128, 128), columns = ScaledGemm(128, 1);
  EXPECT_EQ(Refused(kScaledGemm, blocks, base), "");
  EXPECT_EQ(Refused(kScaledGemm, blocks, with({{"tile_n", 192}})), "");
  EXPECT_EQ(Refused(kScaledGemm, blocks, three(128)), "");
  EXPECT_EQ(Refused(kScaledGemm, blocks, with({{"tile_m", 256}, {"stages", 3}})), "");
  EXPECT_EQ(Refused(kScaledGemm, columns, base), "");
  ExpectParametersRefused(
      kScaledGemm, blocks,
      {{"swapped tiles take no scales", with({{"swap", 1}})},
       {"sums of one stage have one scale, those of all have not", with({{"promote", 0}})},
       {"blocks that share operands take no scales", with({{"cluster", 2}, {"cluster_m", 2}})}});
  ExpectParametersRefused(
      kScaledGemm, columns,
      {{"160 sums and scales of a thread are above 128", three(128)},
       {"224 sums and scales of a thread are above 192", with({{"tile_m", 256}})},
       {"200 sums and scales of a thread are above 192", with({{"tile_n", 160}})}});
}

TEST(CudaRefusals, TheLibraryTakesNoScales) {
  const Problem p = ScaledGemm(128, 128, DType::kBF16, MathMode::kBf16);
  EXPECT_NE(cuda::DescribeMatmul(p).status().message().find("its operands have scales of blocks"),
            std::string::npos);
}

TEST(CudaRefusals, OtherProductsTakeNoScales) {
  const Problem p = ScaledGemm(128, 128);
  const DeviceSpec hopper = *FindDevice("cuda:sm_90a");
  int refused = 0;
  for (const KernelInfo& kernel : KernelsOf(Family::kGemm)) {
    const std::string why = kernel.supports(p, hopper);
    if (kernel.key == kScaledGemm || kernel.key == ReferenceKey(Family::kGemm)) {
      EXPECT_EQ(why, "") << kernel.key;
      continue;
    }
    EXPECT_NE(why, "") << kernel.key;
    if (kernel.backend == Backend::kCuda) {
      EXPECT_EQ(why, "does not take scales of blocks") << kernel.key;
      ++refused;
    }
  }
  EXPECT_GT(refused, 2);
}

}  // namespace
}  // namespace aicf
