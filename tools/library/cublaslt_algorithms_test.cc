#include "tools/library/cublaslt_algorithms.h"

#include <gtest/gtest.h>

#include "runtime/cuda/driver.h"

namespace aicf::tools {
namespace {

abi::Problem Product() {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF32, {64, 32}), abi::DenseView(DType::kF32, {32, 48})};
  p.outputs = {abi::DenseView(DType::kF32, {64, 48})};
  return p;
}

TEST(CublasLtAlgorithms, WithoutAGpuTheRefusalSaysWhatHelps) {
  if (cuda::Driver::Get().ok()) GTEST_SKIP() << "this machine has a GPU";
  CublasLtAlgorithms library(*abi::FindDevice("cuda:sm_90a"));
  for (int time = 0; time < 2; ++time) {
    const Status refused = library.For(Product()).status();
    EXPECT_EQ(refused.code(), Code::kDevice);
    EXPECT_NE(refused.message().find("compile on a machine with an sm_90 GPU and cuBLAS 13"),
              std::string::npos)
        << refused.message();
  }
}

TEST(GpuCublasLtAlgorithms, EqualQuestionsHaveEqualAnswers) {
  if (!cuda::Driver::Get().ok()) GTEST_SKIP() << cuda::Driver::Get().status().message();
  const abi::DeviceSpec target = *abi::FindDevice("cuda:sm_90a");
  CublasLtAlgorithms first(target);
  CublasLtAlgorithms second(target);
  const auto a = first.For(Product());
  if (a.status().code() == Code::kDevice) GTEST_SKIP() << a.status().message();
  const auto b = second.For(Product());
  ASSERT_TRUE(a.ok() && b.ok()) << a.status().ToString() << b.status().ToString();
  EXPECT_EQ(a->bytes, b->bytes);
  EXPECT_EQ(a->library_version, b->library_version);
  EXPECT_EQ(a->workspace_bytes, b->workspace_bytes);
  EXPECT_EQ(a->bytes.size(), 64u);
}

TEST(GpuCublasLtAlgorithms, NoGpuOfAnotherArchitectureIsAsked) {
  if (!cuda::Driver::Get().ok()) GTEST_SKIP() << cuda::Driver::Get().status().message();
  abi::DeviceSpec target = *abi::FindDevice("cuda:sm_90a");
  target.sm = 37;
  EXPECT_EQ(CublasLtAlgorithms(target).For(Product()).status().code(), Code::kDevice);
}

}  // namespace
}  // namespace aicf::tools
