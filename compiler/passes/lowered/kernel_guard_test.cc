#include "compiler/passes/lowered/kernel_guard.h"

#include <gtest/gtest.h>

#include "compiler/passes/lowered/conv_testing.h"

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

abi::Problem Convolution(bool to_pixels) {
  abi::Problem p = ConvolutionOf(DType::kF32, 64, 64, 16);
  if (!to_pixels) p.outputs[0] = abi::DenseView(DType::kF32, p.outputs[0].shape);
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
