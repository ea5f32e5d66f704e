// Every rule that cuda.dequantize.panels has about its problem, broken once.
#include "kernels/abi/packing.h"
#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kPanels = "cuda.dequantize.panels";

Problem ValuesOf(BlockFormat format, const Dims& rows, int64_t k) {
  Dims blocks = rows, values = rows;
  blocks.push_back(static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(k))));
  values.push_back(k);
  return ProblemOf(Family::kDequantize, DequantizeAttrs{format}, 1, {DenseView(DType::kU8, blocks)},
                   {DenseView(DType::kBF16, values)});
}

TEST(CudaRefusals, OfPanels) {
  const Problem p = ValuesOf(BlockFormat::kQ4_K, {20}, 512);
  EXPECT_EQ(FindKernel(kPanels)->supports(p, *FindDevice("cuda")), "");
  ExpectUnsupported(kPanels, ValuesOf(BlockFormat::kQ4_K, {2, 20}, 512), "here are 3 axes");
  ExpectUnsupported(kPanels, ValuesOf(BlockFormat::kQ4_K, {0}, 512), "packs no empty matrix");
  ExpectUnsupported(kPanels, ValuesOf(BlockFormat::kQ4_K, {20}, 0), "packs no empty matrix");
  ExpectUnsupported(kPanels, ValuesOf(BlockFormat::kBF16, {20}, 32), "takes no single elements");
  Problem turned = p;
  turned.outputs[0].strides = {1, 20};
  ExpectUnsupported(kPanels, turned, "stores along rows");
}

// A program with both kernels stores the blocks once.
TEST(CudaPackedBlocks, AreTheSameForValuesAndProducts) {
  const Problem p = ValuesOf(BlockFormat::kQ6_K, {24}, 512);
  const Problem product = ProblemOf(Family::kBlockGemm, BlockGemmAttrs{BlockFormat::kQ6_K}, 2,
                                    {DenseView(DType::kBF16, {1, 512}), p.inputs[0]},
                                    {DenseView(DType::kF32, {1, 24})});
  std::vector<uint8_t> blocks(static_cast<size_t>(*ElementCount(p.inputs[0].shape)));
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<uint8_t>(i * 37 + i / 251);
  const KernelInfo &values = *FindKernel(kPanels), &decode = *FindKernel("cuda.blockgemm.decode");
  ASSERT_TRUE(LayoutOf(values, p, {}, 0).has_value());
  EXPECT_EQ(LayoutOf(values, p, {}, 0)->name, LayoutOf(decode, product, {}, 1)->name);
  EXPECT_EQ(PackedInput(values, p, {}, 0, blocks.data()),
            PackedInput(decode, product, {}, 1, blocks.data()));
}

}  // namespace
}  // namespace aicf
