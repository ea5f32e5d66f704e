#include "compiler/passes/lowered/kernel_guard.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace aicf
