// Which weights lie along the sum: those for tiles of 96 and 160 columns, and for few rows.
#include "compiler/passes/lowered/weight_order.h"

#include <gtest/gtest.h>

#include "compiler/passes/lowered/conv_testing.h"

namespace aicf {
namespace {

const abi::DeviceSpec kHopper = *abi::FindDevice("cuda:sm_90a");

std::optional<WeightOrder> ChooseOrder(const abi::Problem& p,
                                       const abi::DeviceSpec& device = kHopper) {
  return ChooseWeightOrder(p, device, /*alone=*/true);
}

abi::Problem Product(int64_t k, int64_t n, DType dtype = DType::kF16,
                     abi::MathMode math = abi::MathMode::kFp16, int64_t rows = 512) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.math = math;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(dtype, {rows, k}), abi::DenseView(dtype, {k, n})};
  p.outputs = {abi::DenseView(dtype, {rows, n})};
  p.core_inputs = 2;
  return p;
}

abi::Problem Convolution(int64_t channels, int64_t outputs) {
  abi::Problem p = ConvolutionOf(DType::kF16, channels, outputs, 16);
  p.inputs[1] = abi::DenseView(DType::kF16, p.inputs[1].shape);
  return p;
}

TEST(WeightOrder, LiesAlongTheSumWhereTilesOf96Or160ColumnsDivide) {
  for (int64_t n : {96, 160, 288, 320, 480, 1120}) {
    const auto order = ChooseOrder(Product(256, n));
    ASSERT_TRUE(order.has_value()) << n;
    EXPECT_EQ(order->name, "k innermost") << n;
    EXPECT_EQ(order->axes, (Dims{1, 0})) << n;
  }
  const auto order = ChooseOrder(Convolution(64, 320));
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->name, "input channels innermost");
  EXPECT_EQ(order->axes, (Dims{0, 2, 3, 1}));
}

TEST(WeightOrder, StaysWhereOtherTilesDivide) {
  for (int64_t n : {64, 128, 192, 384, 640, 768, 960, 1000}) {
    EXPECT_FALSE(ChooseOrder(Product(256, n)).has_value()) << n;
  }
  EXPECT_EQ(ChooseOrder(Convolution(64, 256))->name, "output channels innermost");
}

TEST(WeightOrder, StaysWhereNoSuchTileReadsThem) {
  using abi::MathMode;
  // Operands of 32 bits in a mode of 16, sums of which no line is whole pieces of 16 bytes, and
  // devices without the copy engine.
  EXPECT_FALSE(ChooseOrder(Product(256, 320, DType::kF32)).has_value());
  EXPECT_FALSE(ChooseOrder(Product(300, 320)).has_value());
  EXPECT_FALSE(ChooseOrder(Product(256, 320), *abi::FindDevice("cuda:sm_80")).has_value());
  // In tf32 they lie so whatever their columns are.
  const auto tf32 = ChooseOrder(Product(64, 128, DType::kF32, MathMode::kTf32));
  ASSERT_TRUE(tf32.has_value());
  EXPECT_EQ(tf32->why, "what tensor cores of Hopper read");
}

TEST(WeightOrder, StaysWhereSumsAreShort) {
  EXPECT_FALSE(ChooseOrder(Product(248, 320)).has_value());
  // Four matrices of 64 terms.
  abi::Problem stack = Product(64, 320);
  for (abi::View* v : {&stack.inputs[0], &stack.inputs[1], &stack.outputs[0]}) {
    *v = abi::DenseView(v->dtype, {4, v->shape[0], v->shape[1]});
  }
  EXPECT_FALSE(ChooseOrder(stack).has_value());
  // Nine taps of 24 and of 32 channels.
  EXPECT_EQ(ChooseOrder(Convolution(24, 320))->name, "output channels innermost");
  EXPECT_EQ(ChooseOrder(Convolution(32, 320))->name, "input channels innermost");
}

TEST(WeightOrder, LiesAlongTheSumWhereFewRowsAreFasterWithIt) {
  using abi::MathMode;
  for (int64_t rows : {1, 2, 4, 16, 32, 64}) {
    const auto order = ChooseOrder(Product(4096, 14336, DType::kBF16, MathMode::kBf16, rows));
    ASSERT_TRUE(order.has_value()) << rows;
    EXPECT_EQ(order->axes, (Dims{1, 0})) << rows;
    EXPECT_EQ(order->reason, Reason::kPredicted) << rows;
    EXPECT_LT(order->cost_us, order->alternatives.at(0).cost_us) << rows;
  }
  EXPECT_TRUE(ChooseOrder(Product(1024, 1000, DType::kF16, MathMode::kFp16, 2)));
  EXPECT_TRUE(ChooseOrder(Product(3072, 768, DType::kF16, MathMode::kFp16, 1)));
  const abi::Problem sixteen = Product(4096, 14336, DType::kBF16, MathMode::kBf16, 16);
  EXPECT_FALSE(ChooseWeightOrder(sixteen, kHopper, /*alone=*/false).has_value());
  // More rows, weights of 32 bits, a kernel that is as fast with both orders, and what was measured
  // to be slower.
  const auto stays = [](int64_t k, int64_t n, int64_t rows, DType dtype = DType::kBF16,
                        MathMode math = MathMode::kBf16) {
    return !ChooseOrder(Product(k, n, dtype, math, rows)).has_value();
  };
  EXPECT_TRUE(stays(768, 14336, 65));
  EXPECT_TRUE(stays(768, 14336, 16, DType::kF32, MathMode::kFp32));
  EXPECT_TRUE(stays(768, 768, 16));
  EXPECT_TRUE(stays(3072, 768, 2));
  EXPECT_TRUE(stays(768, 3072, 4));
  EXPECT_TRUE(stays(2048, 2048, 32));
}

}  // namespace
}  // namespace aicf
