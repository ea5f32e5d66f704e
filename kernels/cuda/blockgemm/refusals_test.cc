// Every rule that the blockgemm kernels have about their problem or their parameters, broken once.
#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem BlocksOf(BlockFormat format, int64_t m, int64_t n, int64_t k) {
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(k)));
  return ProblemOf(Family::kBlockGemm, BlockGemmAttrs{format}, 2,
                   {DenseView(DType::kBF16, {m, k}), DenseView(DType::kU8, {n, bytes})},
                   {DenseView(DType::kF32, {m, n})});
}

TEST(CudaRefusals, OfFewRowsTimesBlocks) {
  const char* key = "cuda.blockgemm.gemv";
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 33, 64, 512),
                    "is for 1 to 32 rows, here are 33");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 0, 64, 512),
                    "is for 1 to 32 rows, here are 0");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 1, 0, 512), "the product is empty");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 1, 64, 0), "the product is empty");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kF32, 1, 1, (int64_t{1} << 25) + 32),
                    "rows of blocks are too long");
  ExpectParametersRefused(key, BlocksOf(BlockFormat::kQ4_K, 1, 64, 4096),
                          {{"3 warps along k do not divide 4", {{"warps", 4}, {"along_k", 3}}},
                           {"whole clusters", {{"cluster", 2}, {"blocks", 3}}},
                           {"bytes of shared memory", {{"warps", 32}, {"stages", 16}}}});
  Problem wide = BlocksOf(BlockFormat::kQ4_K, 17, 64, 512);
  wide.inputs[0].dtype = DType::kF32;
  ExpectUnsupported(key, wide, "at most 48 rows of 16 bits, here are 51");
  // What lanes have of A, the sums of its groups, the rings and the partial sums, all count.
  const Problem p = BlocksOf(BlockFormat::kQ4_K, 8, 64, 8192);
  const Parameters small = {{"warps", 4},   {"along_k", 4}, {"stages", 2},
                            {"cluster", 1}, {"blocks", 1},  {"ahead", 0}};
  EXPECT_EQ(FindKernel(key)->variant(p, small).launch.dynamic_shared_bytes,
            8u * (8192 * 2 + 64) + 256 * 2 * 8 * 4 + 4 * (2 * 2304 + 2 * 16 * 16 * 4));
}

Problem HalvesOfBlocks(int64_t m, int64_t n, int64_t k) {
  Problem p = BlocksOf(BlockFormat::kQ4_K, m, 2 * n, k);
  std::get<BlockGemmAttrs>(p.attrs).halves = 2;
  p.outputs = {DenseView(DType::kF32, {m, n})};
  ExprBuilder b;
  p.epilogue = b.Finish({b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  return p;
}

Problem NormalisedBlocks(DType x, MathMode math) {
  Problem p = BlocksOf(BlockFormat::kQ4_K, 1, 64, 512);
  std::get<BlockGemmAttrs>(p.attrs).rms_epsilon = 1e-5;
  p.inputs[0].dtype = x;
  p.inputs.push_back(DenseView(DType::kF32, {1, 512}));
  p.core_inputs = 3;
  p.math = math;
  return p;
}

TEST(CudaRefusals, OfDecodeStepsTimesBlocks) {
  const char* key = "cuda.blockgemm.decode";
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 9, 64, 512),
                    "is for 1 to 8 rows, here are 9");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 0, 64, 512),
                    "is for 1 to 8 rows, here are 0");
  for (const BlockFormat format : {BlockFormat::kF16, BlockFormat::kBF16, BlockFormat::kF32}) {
    ExpectUnsupported(key, BlocksOf(format, 1, 64, 512), "scales groups of elements");
  }
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 1, 0, 512), "the product is empty");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 1, 64, 0), "the product is empty");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ8_0, 1, 1, (int64_t{1} << 27) + 128),
                    "rows of blocks are too long");
  const Parameters whole = {
      {"warps", 4}, {"along_k", 4}, {"stages", 2}, {"cluster", 1}, {"blocks", 1}};
  ExpectParametersRefused(key, BlocksOf(BlockFormat::kQ4_K, 1, 64, 4096),
                          {{"3 warps along k do not divide 4", {{"warps", 4}, {"along_k", 3}}},
                           {"whole clusters", {{"cluster", 2}, {"blocks", 3}}},
                           {"bytes of shared memory", {{"warps", 32}, {"stages", 16}}}});
  // The rows of A, the sums of their groups, the rings and the partial sums, all count.
  EXPECT_EQ(FindKernel(key)
                ->variant(BlocksOf(BlockFormat::kQ4_K, 8, 64, 8192), whole)
                .launch.dynamic_shared_bytes,
            8u * (8192 * 2 + 64) + 256 * 8 * 4 + 4 * (2 * 2304 + 2 * 16 * 8 * 4));
}

TEST(CudaRefusals, OfRowsOfBlocksAsIntegers) {
  const char* key = "cuda.blockgemm.decode";
  const Parameters integers = {{"warps", 4},  {"along_k", 4}, {"stages", 2},   {"cluster", 1},
                               {"blocks", 1}, {"ahead", 0},   {"integers", 1}, {"batch", 3}};
  const auto refused = [&](const Problem& p) {
    return FindKernel(key)->refuse(p, integers, Device());
  };
  Problem p = BlocksOf(BlockFormat::kQ4_K, 1, 64, 8192);
  EXPECT_NE(refused(p).find("in the math modes bf16 and fp16 alone"), std::string::npos);
  p.math = MathMode::kBf16;
  EXPECT_EQ(refused(p), "");
  // For each of 32 chunks two sets of 336 bytes, then the rings, then the sums of three turns and,
  // since there are four, of three further ones.
  EXPECT_EQ(FindKernel(key)->variant(p, integers).launch.dynamic_shared_bytes,
            32u * 2 * 336 + 4 * (2 * 2304 + 6 * 16 * 4));
  Problem two = BlocksOf(BlockFormat::kQ4_K, 2, 64, 8192);
  two.math = MathMode::kBf16;
  EXPECT_NE(refused(two).find("of a single row alone"), std::string::npos);
}

TEST(CudaRefusals, OfBlocksThatStream) {
  const char* key = "cuda.blockgemm.stream";
  Problem p = BlocksOf(BlockFormat::kQ4_K, 1, 64, 8192);
  ExpectUnsupported(key, p, "in the math modes bf16 and fp16 alone");
  p.math = MathMode::kBf16;
  EXPECT_EQ(Unsupported(key, p), "");
  Problem two = BlocksOf(BlockFormat::kQ4_K, 2, 64, 8192);
  two.math = MathMode::kBf16;
  ExpectUnsupported(key, two, "of a single row alone");
  ExpectUnsupported(key, BlocksOf(BlockFormat::kQ4_K, 9, 64, 512), "is for 1 to 8 rows");
  ExpectUnsupported(key, HalvesOfBlocks(1, 40, 512), "halves of whole panels of 16 columns");
  ExpectUnsupported(key, NormalisedBlocks(DType::kF16, MathMode::kBf16),
                    "rows of 16 bits only in the math mode of the same name");
  const DeviceSpec older = *FindDevice("cuda:sm_80");
  EXPECT_NE(FindKernel(key)->supports(p, older).find("Hopper's bulk copies"), std::string::npos);

  const Parameters ring = {
      {"warps", 8}, {"stages", 10}, {"flight", 3}, {"blocks", 132}, {"ahead", 0}};
  ExpectParametersRefused(key, p,
                          {{"no more stages on their way than there are", {{"flight", 11}}},
                           {"bytes of shared memory", {{"stages", 12}}}});
  // For each of 32 chunks two sets of 336 bytes, then stages of 8 chunks, then the sums of two
  // panels, then two barriers for each stage and each of these panels.
  EXPECT_EQ(FindKernel(key)->variant(p, ring).launch.dynamic_shared_bytes,
            32u * 2 * 336 + 10 * 8 * 2304 + 2 * 8 * 16 * 4 + 2 * 8 * (10 + 2));
  // A normalised row adds a sum of squares for each warp, and halves have twice the panels.
  Problem norm = NormalisedBlocks(DType::kBF16, MathMode::kBf16);
  EXPECT_EQ(FindKernel(key)->variant(norm, ring).launch.dynamic_shared_bytes,
            2u * 2 * 336 + 32 + 10 * 8 * 2304 + 2 * 8 * 16 * 4 + 2 * 8 * (10 + 2));
  Problem halves = HalvesOfBlocks(1, 32, 512);
  halves.math = MathMode::kBf16;
  EXPECT_EQ(FindKernel(key)->variant(halves, ring).launch.dynamic_shared_bytes,
            2u * 2 * 336 + 10 * 8 * 2304 + 4 * 8 * 16 * 4 + 2 * 8 * (10 + 4));
}

TEST(CudaRefusals, OfHalvesAndNormsOfBlocks) {
  const char* key = "cuda.blockgemm.decode";
  for (const char* other :
       {"cuda.blockgemm.gemv", "cuda.blockgemm.tiled", "cuda.blockgemm.tensor"}) {
    ExpectUnsupported(other, HalvesOfBlocks(1, 32, 512), "takes no product in two halves");
    ExpectUnsupported(other, NormalisedBlocks(DType::kF32, MathMode::kFp32),
                      "does not normalise rows");
  }
  ExpectUnsupported(key, HalvesOfBlocks(1, 40, 512), "halves of whole panels of 16 columns");
  ExpectParametersRefused(key, HalvesOfBlocks(1, 32, 4096),
                          {{"as many panels of the one half", {{"warps", 4}, {"along_k", 4}}}});
  for (const DType x : {DType::kBF16, DType::kF16}) {
    ExpectUnsupported(key, NormalisedBlocks(x, MathMode::kFp32),
                      "rows of 16 bits only in the math mode of the same name");
  }
  ExpectParametersRefused(key, NormalisedBlocks(DType::kBF16, MathMode::kBf16),
                          {{"share out k normalise no rows", {{"cluster", 2}, {"blocks", 2}}}});
}

TEST(CudaRefusals, OfTilesOfBlocks) {
  const Problem p = BlocksOf(BlockFormat::kQ4_K, 64, 64, 512);
  ExpectParametersRefused("cuda.blockgemm.tiled", p,
                          {{"in runs of 32 elements, a tile has 16",
                            {{"packed_b", 1},
                             {"tile_m", 64},
                             {"tile_n", 64},
                             {"tile_k", 16},
                             {"thread_m", 8},
                             {"thread_n", 8},
                             {"split", 2}}},
                           {"do not divide the tile", {{"tile_m", 100}}}});
  Problem empty = BlocksOf(BlockFormat::kQ4_K, 64, 64, 0);
  EXPECT_NE(Refused("cuda.blockgemm.tiled", empty, {{"packed_b", 1}, {"tile_k", 32}})
                .find("packs no empty B"),
            std::string::npos);
  ExpectUnsupported("cuda.blockgemm.tensor", p, "the math mode is fp32");
  Problem narrowed = p;
  narrowed.math = MathMode::kFp16;
  ExpectUnsupported("cuda.blockgemm.tensor", narrowed, "would narrow bf16 data");
}

// A launch counts its shared memory in 32 bits, in which 4 GiB would look like none.
TEST(CudaRefusals, OfMoreSharedMemoryThanALaunchCanSay) {
  const Problem p = BlocksOf(BlockFormat::kF16, 32, 64, int64_t{1} << 26);
  const Parameters whole = {{"warps", 4},   {"along_k", 4}, {"stages", 2},
                            {"cluster", 1}, {"blocks", 1},  {"ahead", 0}};
  EXPECT_NE(FindKernel("cuda.blockgemm.gemv")->refuse(p, whole, Device()).find("shared memory"),
            std::string::npos);
}

// Prefill and decode read one and the same constant.
TEST(PackedBlocks, AreTheSameForAllKernels) {
  const Problem decode = BlocksOf(BlockFormat::kQ6_K, 1, 100, 512);
  Problem prefill = BlocksOf(BlockFormat::kQ6_K, 128, 100, 512);
  prefill.math = MathMode::kBf16;
  const PackedLayout one = *FindKernel("cuda.blockgemm.gemv")->packed(decode, {}, 1);
  const PackedLayout other =
      *FindKernel("cuda.blockgemm.tensor")->packed(prefill, {{"packed_b", 1}}, 1);
  EXPECT_EQ(one.name, other.name);
  EXPECT_EQ(one.bytes, other.bytes);
  EXPECT_EQ(one.bytes, 7u * 2 * (16 * 256 * 6 / 8 + 16 * 18));
  EXPECT_FALSE(FindKernel("cuda.blockgemm.gemv")->packed(decode, {}, 0).has_value());
}

}  // namespace
}  // namespace aicf
