#include "tools/tune/cpu_measurer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/tune/bench_data.h"
#include "compiler/tune/testing.h"

namespace aicf::tools {
namespace {

using tune::testing::Kernel;
using tune::testing::Product;

class CpuMeasurerTest : public ::testing::Test {
 protected:
  std::vector<KernelOption> Supported(const abi::Problem& p) const {
    std::vector<KernelOption> options;
    for (const abi::KernelInfo& k : abi::KernelsOf(p.family)) {
      if (k.backend != abi::Backend::kCpu || !k.supports(p, device_).empty()) continue;
      options.push_back({&k, *abi::BestCandidate(k, p, device_)});
    }
    return options;
  }
  const abi::DeviceSpec device_ = *abi::FindDevice("cpu");
};

TEST_F(CpuMeasurerTest, EveryKernelOfAProblemIsTimed) {
  CpuMeasurer measurer({});
  const auto id = measurer.Open(device_);
  ASSERT_TRUE(id.ok()) << id.status().ToString();
  EXPECT_EQ(id->target, "cpu");
  EXPECT_NE(id->name.find(" thread"), std::string::npos);
  const abi::Problem small = Product(4, 4, 4), large = Product(96, 512, 512);
  const std::vector<tune::BenchRequest> requests = {{&small, Supported(small)},
                                                    {&large, Supported(large)}};
  ASSERT_TRUE(measurer.Prepare(requests).ok());
  double fastest[2] = {1e300, 1e300};
  for (size_t r = 0; r < 2; ++r) {
    auto bench = measurer.Make(r);
    ASSERT_TRUE(bench.ok()) << bench.status().ToString();
    for (size_t k = 0; k < requests[r].options.size(); ++k) {
      EXPECT_EQ((*bench)->Refusal(k), "");
      EXPECT_EQ(measurer.VersionOf(*requests[r].options[k].kernel), "aicf-" AICF_VERSION);
      for (int i = 0; i < 3; ++i) {
        const auto us = (*bench)->Sample(k);
        ASSERT_TRUE(us.ok()) << us.status().ToString();
        EXPECT_GT(*us, 0) << requests[r].options[k].kernel->key;
        fastest[r] = std::min(fastest[r], *us);
      }
    }
  }
  // 400,000 times the arithmetic is not as fast.
  EXPECT_GT(fastest[1], 3 * fastest[0]);
}

TEST_F(CpuMeasurerTest, WarmRunsAreOthersThanColdOnes) {
  CpuMeasurer warm({.warm = true});
  ASSERT_TRUE(warm.Open(device_).ok());
  EXPECT_EQ(warm.VersionOf(*Kernel("cpu.gemm.ref")), "warm,aicf-" AICF_VERSION);
  EXPECT_EQ(warm.VersionOf(*Kernel("cuda.gemm.gemv")), "");
  const abi::Problem p = Product(16, 16, 16);
  const std::vector<tune::BenchRequest> requests = {{&p, Supported(p)}};
  ASSERT_TRUE(warm.Prepare(requests).ok());
  auto bench = warm.Make(0);
  ASSERT_TRUE(bench.ok()) << bench.status().ToString();
  EXPECT_GT(*(*bench)->Sample(0), 0);
}

/// A problem of every family that has operands which must be more than numbers.
std::vector<abi::Problem> SpecialProblems() {
  std::vector<abi::Problem> problems;
  abi::Problem gather;
  gather.family = abi::Family::kGather;
  gather.attrs = abi::GatherAttrs{};
  gather.core_inputs = 2;
  gather.inputs = {abi::DenseView(DType::kF32, {50, 64}), abi::DenseView(DType::kI64, {200})};
  gather.outputs = {abi::DenseView(DType::kF32, {200, 64})};
  problems.push_back(gather);
  abi::Problem scatter;
  scatter.family = abi::Family::kScatter;
  abi::ScatterAttrs points;
  points.kind = abi::ScatterKind::kPoints;
  scatter.attrs = points;
  scatter.core_inputs = 3;
  scatter.inputs = {abi::DenseView(DType::kF32, {9, 700}), abi::DenseView(DType::kI32, {40, 2}),
                    abi::DenseView(DType::kF32, {40})};
  scatter.outputs = {abi::DenseView(DType::kF32, {9, 700})};
  problems.push_back(scatter);
  return problems;
}

TEST_F(CpuMeasurerTest, IndicesAreInRangeAndReachEverywhere) {
  for (const abi::Problem& p : SpecialProblems()) {
    ASSERT_TRUE(abi::ValidateProblem(p).ok()) << abi::ValidateProblem(p).ToString();
    const std::vector<std::byte> data = tune::BenchData(p, 1);
    const abi::View& view = p.inputs[1];
    int64_t largest = 0;
    for (size_t at = 0; at < data.size(); at += static_cast<size_t>(DTypeBytes(view.dtype))) {
      int64_t index = 0;
      std::memcpy(&index, &data[at], static_cast<size_t>(DTypeBytes(view.dtype)));
      const size_t column = at / static_cast<size_t>(DTypeBytes(view.dtype)) % 2;
      const int64_t limit = p.family == abi::Family::kGather ? 50 : column == 0 ? 9 : 700;
      EXPECT_GE(index, 0);
      EXPECT_LT(index, limit);
      largest = std::max(largest, index);
    }
    EXPECT_GT(largest, p.family == abi::Family::kGather ? 40 : 600);
    CpuMeasurer measurer({.warm = true});
    ASSERT_TRUE(measurer.Open(device_).ok());
    const std::vector<tune::BenchRequest> requests = {{&p, Supported(p)}};
    ASSERT_TRUE(measurer.Prepare(requests).ok());
    EXPECT_TRUE(measurer.Make(0).ok()) << measurer.Make(0).status().ToString();
  }
}

TEST_F(CpuMeasurerTest, AppendedRowsHavePlacesOfTheirOwn) {
  const abi::View cache = abi::DenseView(DType::kF32, {4, 8, 2, 16});
  const abi::View rows = abi::DenseView(DType::kF32, {3, 5, 2, 16});
  abi::Problem p;
  p.family = abi::Family::kAppend;
  p.attrs = abi::AppendAttrs{};
  p.core_inputs = 5;
  p.inputs = {rows, rows, abi::DenseView(DType::kI32, {3, 5, 2}), cache, cache};
  p.outputs = {cache, cache};
  ASSERT_TRUE(abi::ValidateProblem(p).ok()) << abi::ValidateProblem(p).ToString();
  const std::vector<std::byte> data = tune::BenchData(p, 2);
  for (int32_t row = 0; row < 15; ++row) {
    int32_t place[2];
    std::memcpy(place, &data[static_cast<size_t>(row) * sizeof place], sizeof place);
    EXPECT_EQ(place[0], row / 8);
    EXPECT_EQ(place[1], row % 8);
  }
}

TEST_F(CpuMeasurerTest, DataSuitTheirDType) {
  for (int d = 0; d < kDTypeCount; ++d) {
    abi::Problem p;
    p.family = abi::Family::kElementwise;
    p.attrs = abi::ElementwiseAttrs{};
    p.inputs = {abi::DenseView(static_cast<DType>(d), {1000})};
    const std::vector<std::byte> data = tune::BenchData(p, 0);
    ASSERT_EQ(data.size(), static_cast<size_t>(1000 * DTypeBytes(static_cast<DType>(d))));
    if (static_cast<DType>(d) == DType::kBool) {
      for (std::byte b : data) EXPECT_LE(static_cast<int>(b), 1);
    }
    if (static_cast<DType>(d) == DType::kF32) {
      for (size_t at = 0; at < data.size(); at += 4) {
        float value;
        std::memcpy(&value, &data[at], 4);
        EXPECT_LE(std::abs(value), 1);
        EXPECT_GE(std::abs(value), 1.0f / 4096);
      }
    }
    EXPECT_EQ(tune::BenchData(p, 0), data);
  }
}

TEST_F(CpuMeasurerTest, ACpuWithoutTheInstructionsIsRefused) {
  if (abi::HostIsa() == abi::CpuIsa::kAvx512) GTEST_SKIP() << "this CPU has everything";
  CpuMeasurer measurer({});
  EXPECT_EQ(measurer.Open(*abi::FindDevice("cpu:avx512")).status().code(), Code::kDevice);
}

}  // namespace
}  // namespace aicf::tools
