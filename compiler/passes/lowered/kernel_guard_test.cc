#include "compiler/passes/lowered/kernel_guard.h"

#include <gtest/gtest.h>

#include "compiler/ir/views.h"

namespace aicf {
namespace {

abi::Problem Product(DType dtype) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(dtype, {64, 64}), abi::DenseView(dtype, {64, 64})};
  p.outputs = {abi::DenseView(dtype, {64, 64})};
  p.core_inputs = 2;
  return p;
}

// Fast products are for floats; the reference alone multiplies integers.
TEST(KernelGuard, NamesTheKernelThatWouldBeLost) {
  const abi::DeviceSpec device = *abi::FindDevice("cpu");
  const std::string lost = LosesKernel(Product(DType::kF32), Product(DType::kI64), device);
  EXPECT_TRUE(lost.starts_with("capability: cpu.gemm.")) << lost;
  EXPECT_NE(lost.find("would refuse"), std::string::npos) << lost;
}

TEST(KernelGuard, AllowsWhatKeepsOrGainsAKernel) {
  const abi::DeviceSpec device = *abi::FindDevice("cpu");
  EXPECT_EQ(LosesKernel(Product(DType::kF32), Product(DType::kF32), device), "");
  EXPECT_EQ(LosesKernel(Product(DType::kI64), Product(DType::kF32), device), "");
  EXPECT_EQ(LosesKernel(Product(DType::kI64), Product(DType::kI64), device), "");
}

TEST(KernelGuard, ADeviceWithoutANameHasNothingToLose) {
  abi::DeviceSpec device = *abi::FindDevice("cpu");
  device.name = "";
  EXPECT_EQ(LosesKernel(Product(DType::kF32), Product(DType::kI64), device), "");
}

// 64 channels of 16 x 16 pixels, channels innermost or the model's order.
abi::View Image(bool pixels) {
  const Dims shape = {1, 64, 16, 16};
  if (!pixels) return abi::DenseView(DType::kF32, shape);
  return {DType::kF32, shape, ir::StridesInOrder(shape, ir::ChannelsLastOrder(4)), 0};
}

abi::Problem Convolution(bool to_pixels) {
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.math = abi::MathMode::kFp16;
  p.attrs = abi::ConvAttrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, false};
  const Dims weights = {64, 64, 3, 3};
  p.inputs = {Image(true), {DType::kF32, weights, ir::StridesInOrder(weights, {2, 3, 1, 0}), 0}};
  p.outputs = {Image(to_pixels)};
  p.core_inputs = 2;
  return p;
}

// Tensor cores of Hopper 10 us, a copy 5, other convolutions kOthers.
template <int kOthers>
double Cost(const abi::Candidate& c, abi::MathMode, const abi::DeviceSpec&) {
  if (c.row.find("conv.hopper") != c.row.npos) return 10;
  return c.row.find("conv") != c.row.npos ? kOthers : 5;
}

std::string Slower(bool from_pixels, bool to_pixels, CorrectedCost costs,
                   std::string_view target = "cuda:sm_90a") {
  PassContext context;
  context.device = *abi::FindDevice(target);
  context.storage = context.device.backend == abi::Backend::kCuda ? DType::kF16 : DType::kF32;
  context.corrected_cost = costs;
  return SlowerThanPixels(Convolution(from_pixels), Convolution(to_pixels), context);
}

TEST(KernelGuard, PixelsAndACopyMayBeFasterThanTheModelsOrder) {
  EXPECT_EQ(Slower(true, false, Cost<16>),
            "cost: cuda.conv.hopper and a copy of its whole pixels take 10.0 and 5.0 us instead of "
            "16.0");
  EXPECT_EQ(Slower(true, false, Cost<15>), "");
}

TEST(KernelGuard, OnlyConvolutionsOfAGpuThatLeavePixelsAreAsked) {
  EXPECT_EQ(Slower(true, true, Cost<16>), "");
  EXPECT_EQ(Slower(false, false, Cost<16>), "");
  EXPECT_EQ(Slower(false, true, Cost<16>), "");
  EXPECT_EQ(Slower(true, false, Cost<16>, "cpu"), "");
}

}  // namespace
}  // namespace aicf
