// The CUDA stopwatch on a driver made of host memory: everything but the time.
#include "tools/tune/cuda_measurer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/codegen/nvrtc.h"
#include "compiler/tune/testing.h"
#include "compiler/tune/tuner.h"
#include "kernels/cpu/functions.h"
#include "runtime/cuda/fake_driver.h"

namespace aicf::tools {
namespace {

using tune::testing::Kernel;
using tune::testing::Product;

const char* const kKeys[] = {"cuda.gemm.tiled_32x32", "cuda.gemm.gemv"};

class CudaMeasurerTest : public ::testing::Test {
 protected:
  CudaMeasurerTest() : driver_(cuda::testing::FakeApi()) {
    cuda::testing::Machine() = &machine_;
    for (const char* key : kKeys) AddKernel(key);
  }
  ~CudaMeasurerTest() override {
    EXPECT_EQ(machine_.problem, "");
    EXPECT_EQ(machine_.memory_used, 0u);
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.contexts, 0);
    cuda::testing::Machine() = nullptr;
  }
  void SetUp() override {
    if (!Nvrtc::Open().ok()) GTEST_SKIP() << Nvrtc::Open().status().message();
  }

  /// The reference kernel stands for the device code; it would crash on operands that are not
  /// there.
  void AddKernel(std::string_view key) {
    cuda::testing::FakeFunction function;
    function.parameters = 4;
    function.run = [this, key](void** parameters) {
      ++runs_[std::string(key)];
      std::vector<void*> buffers;
      for (int i = 0; i < 3; ++i) buffers.push_back(*static_cast<void**>(parameters[i]));
      cpu::RunSerial("cpu.gemm.ref", problem_, buffers.data());
    };
    const KernelOption option = tune::testing::Option(problem_, key);
    machine_
        .functions[abi::InstanceSymbol(option.kernel->key, problem_, option.candidate.variant)] =
        function;
  }
  tune::BenchRequest Request() const {
    tune::BenchRequest request{&problem_, {}};
    for (const char* key : kKeys) {
      request.options.push_back(tune::testing::Option(problem_, key));
    }
    return request;
  }

  const abi::Problem problem_ = Product(4, 64, 32);
  const abi::DeviceSpec device_ = *abi::FindDevice("cuda");
  cuda::testing::FakeMachine machine_;
  cuda::Driver driver_;
  std::map<std::string, int> runs_;
};

TEST_F(CudaMeasurerTest, SamplesAreOneLaunchBetweenTwoEvents) {
  CudaMeasurer measurer({}, &driver_);
  const auto id = measurer.Open(device_);
  ASSERT_TRUE(id.ok()) << id.status().ToString();
  EXPECT_EQ(id->name, "Fake GPU");
  EXPECT_EQ(id->target, "cuda:sm_90a");
  EXPECT_EQ(measurer.VersionOf(*Kernel("cuda.gemm.tiled")).find("nvrtc-"), 0u);
  EXPECT_EQ(measurer.VersionOf(*Kernel("cpu.gemm.ref")), "");
  const std::vector<tune::BenchRequest> requests = {Request()};
  ASSERT_TRUE(measurer.Prepare(requests).ok());
  auto bench = measurer.Make(0);
  ASSERT_TRUE(bench.ok()) << bench.status().ToString();
  EXPECT_EQ(runs_[kKeys[0]], 1);
  const auto us = (*bench)->Sample(0);
  ASSERT_TRUE(us.ok()) << us.status().ToString();
  EXPECT_NEAR(*us, 10, 1e-3);  // what the fake's events say
  EXPECT_EQ(runs_[kKeys[0]], 2);
  EXPECT_EQ(runs_[kKeys[1]], 1);
}

TEST_F(CudaMeasurerTest, WarmSamplesAreAGraphOfTenRuns) {
  CudaMeasurer measurer({.warm = true}, &driver_);
  ASSERT_TRUE(measurer.Open(device_).ok());
  EXPECT_EQ(measurer.VersionOf(*Kernel("cuda.gemm.tiled")).find("warm,nvrtc-"), 0u);
  const std::vector<tune::BenchRequest> requests = {Request()};
  ASSERT_TRUE(measurer.Prepare(requests).ok());
  auto bench = measurer.Make(0);
  ASSERT_TRUE(bench.ok()) << bench.status().ToString();
  const auto us = (*bench)->Sample(1);
  ASSERT_TRUE(us.ok());
  EXPECT_NEAR(*us, 1, 1e-3);
  EXPECT_EQ(runs_[kKeys[1]], 1 + 20);
}

TEST_F(CudaMeasurerTest, FailuresAreStatusesAndFreeEverything) {
  for (int call = 0; call < 60; ++call) {
    machine_.failed = false;
    machine_.fail_call = call;
    CudaMeasurer measurer({}, &driver_);
    const std::vector<tune::BenchRequest> requests = {Request()};
    const auto all = [&]() -> Status {
      AICF_RETURN_IF_ERROR(measurer.Open(device_).status());
      AICF_RETURN_IF_ERROR(measurer.Prepare(requests));
      AICF_ASSIGN_OR_RETURN(const std::unique_ptr<tune::Bench> bench, measurer.Make(0));
      for (int i = 0; i < 3; ++i) AICF_RETURN_IF_ERROR(bench->Sample(0).status());
      return OkStatus();
    };
    const bool ok = all().ok();
    EXPECT_EQ(ok, !machine_.failed) << "call " << call;
    if (!machine_.failed) break;
  }
  EXPECT_FALSE(machine_.failed) << "more calls than were tried";
  machine_.fail_call = -1;
}

TEST_F(CudaMeasurerTest, AGpuOfAnotherArchitectureIsNotMeasuredOn) {
  machine_.capability_major = 8;
  CudaMeasurer measurer({}, &driver_);
  const Status refused = measurer.Open(device_).status();
  EXPECT_EQ(refused.code(), Code::kDevice);
  EXPECT_NE(refused.message().find("none of this machine's 1 CUDA devices is an sm_90"),
            std::string::npos)
      << refused.message();
}

TEST_F(CudaMeasurerTest, ATunerRunsOnIt) {
  CudaMeasurer measurer({}, &driver_);
  tune::TuneRules rules;
  rules.now = [] { return 0.0; };
  tune::Tuner tuner({}, measurer, rules, {});
  CostQuestion question{"step 0 [product]", &problem_, Request().options, true};
  ASSERT_TRUE(tuner.Prepare({&question, 1}, device_).ok());
  EXPECT_EQ(tuner.problems_measured(), 1);
  const auto costs = tuner.CostsOf(question, device_);
  ASSERT_FALSE(costs.empty());
  for (const KernelCost& cost : costs) EXPECT_EQ(cost.measured_us, 10);
}

TEST(CudaMeasurer, WithoutAGpuItSaysSo) {
  if (cuda::Driver::Get().ok()) GTEST_SKIP() << "this machine has a GPU";
  CudaMeasurer measurer({});
  const Status refused = measurer.Open(*abi::FindDevice("cuda")).status();
  EXPECT_EQ(refused.code(), Code::kDevice);
  EXPECT_EQ(refused.message().find("--tune: "), 0u) << refused.message();
}

/// Kernel and library times on the real device.
class GpuCudaMeasurer : public ::testing::TestWithParam<bool> {};

TEST_P(GpuCudaMeasurer, TimesAreStableAndInProportion) {
  if (!cuda::Driver::Get().ok()) GTEST_SKIP() << cuda::Driver::Get().status().message();
  if (!Nvrtc::Open().ok()) GTEST_SKIP() << Nvrtc::Open().status().message();
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  CudaMeasurer measurer({.warm = GetParam(), .kernel_cache_dir = "none"});
  const auto id = measurer.Open(device);
  if (id.status().code() == Code::kDevice) GTEST_SKIP() << id.status().message();
  ASSERT_TRUE(id.ok()) << id.status().ToString();
  const abi::Problem small = Product(64, 64, 64), large = Product(2048, 2048, 2048);
  std::vector<tune::BenchRequest> requests;
  for (const abi::Problem* p : {&small, &large}) {
    requests.push_back({p, {tune::testing::Option(*p, "cuda.gemm.tiled_64x64")}});
    if (!measurer.VersionOf(*Kernel("cublaslt.matmul")).empty()) {
      requests.back().options.push_back(tune::testing::Option(*p, "cublaslt.matmul"));
    }
  }
  ASSERT_TRUE(measurer.Prepare(requests).ok());
  double us[2][2] = {};
  for (size_t r = 0; r < 2; ++r) {
    auto bench = measurer.Make(r);
    ASSERT_TRUE(bench.ok()) << bench.status().ToString();
    for (size_t k = 0; k < requests[r].options.size(); ++k) {
      std::vector<double> samples;
      for (int i = 0; i < 21; ++i) samples.push_back(*(*bench)->Sample(k));
      std::ranges::sort(samples);
      us[r][k] = samples[10];
      std::printf("%s %s: median %.3f us, p10 %.3f, p90 %.3f\n", id->name.c_str(),
                  requests[r].options[k].kernel->key.data(), samples[10], samples[2], samples[18]);
      EXPECT_LT(samples[18], 1.5 * samples[2] + 2);
    }
  }
  EXPECT_LT(us[0][0], 50);
  EXPECT_GT(us[1][0], 3 * us[0][0]);
  EXPECT_GT(us[1][0],
            2.0 * 2048 * 2048 * 2048 / 70e6);  // no GPU of the family does more than 67 TFLOP/s
}

INSTANTIATE_TEST_SUITE_P(GpuColdAndWarm, GpuCudaMeasurer, ::testing::Bool());

}  // namespace
}  // namespace aicf::tools
