// What the kernels of cpu.blockgemm.* leave to the reference.
#include <gtest/gtest.h>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {
namespace {

std::string RefusalOf(BlockFormat format, int64_t rows, int64_t columns, int64_t depth) {
  abi::Problem p;
  p.family = abi::Family::kBlockGemm;
  p.attrs = abi::BlockGemmAttrs{format};
  p.core_inputs = 2;
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(depth)));
  p.inputs = {abi::DenseView(DType::kF32, {rows, depth}),
              abi::DenseView(DType::kU8, {columns, bytes})};
  p.outputs = {abi::DenseView(DType::kF32, {rows, columns})};
  EXPECT_EQ(abi::ValidateProblem(p).message(), "");
  return abi::FindKernel("cpu.blockgemm.columns_avx2")->supports(p, *abi::FindDevice("cpu:avx2"));
}

TEST(CpuRefusals, OfBlocks) {
  EXPECT_EQ(RefusalOf(BlockFormat::kQ4_1, 3, 20, 64), "");
  EXPECT_EQ(RefusalOf(BlockFormat::kF16, 3, 20, 64), "");
  EXPECT_NE(RefusalOf(BlockFormat::kF32, 3, 20, 64), "");
  EXPECT_NE(RefusalOf(BlockFormat::kF16, 3, 20, 33), "");
  EXPECT_NE(RefusalOf(BlockFormat::kQ4_1, 0, 20, 64), "");
  EXPECT_NE(RefusalOf(BlockFormat::kQ4_1, 3, 0, 64), "");
  EXPECT_NE(RefusalOf(BlockFormat::kQ4_1, 3, 20, 0), "");
}

TEST(CpuRefusals, OfHalvesAndNormsOfBlocks) {
  abi::Problem p;
  p.family = abi::Family::kBlockGemm;
  p.attrs = abi::BlockGemmAttrs{BlockFormat::kQ8_0, {2}};
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF32, {1, 32}), abi::DenseView(DType::kU8, {8, 34})};
  p.outputs = {abi::DenseView(DType::kF32, {1, 4})};
  abi::ExprBuilder b;
  p.epilogue =
      b.Finish({b.Binary(abi::ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  EXPECT_EQ(abi::ValidateProblem(p).message(), "");
  const auto refusal = [&] {
    return abi::FindKernel("cpu.blockgemm.columns_avx2")->supports(p, *abi::FindDevice("cpu:avx2"));
  };
  EXPECT_EQ(refusal(), "takes no product in two halves");
  p.attrs = abi::BlockGemmAttrs{BlockFormat::kQ8_0, {}, {1e-5}};
  p.inputs[1] = abi::DenseView(DType::kU8, {4, 34});
  p.inputs.push_back(abi::DenseView(DType::kF32, {1, 32}));
  p.core_inputs = 3;
  p.epilogue = {};
  EXPECT_EQ(abi::ValidateProblem(p).message(), "");
  EXPECT_EQ(refusal(), "does not normalise rows");
}

}  // namespace
}  // namespace aicf::cpu
