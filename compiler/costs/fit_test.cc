#include "compiler/costs/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "compiler/tune/testing.h"

namespace aicf::tune {
namespace {

using testing::Kernel;
using testing::kH200;
using testing::Noise;
using testing::Product;

std::vector<FitPoint> Points(double scale, double offset, int count, uint64_t seed) {
  std::vector<FitPoint> points;
  Noise noise(seed);
  for (int i = 0; i < count; ++i) {
    const double predicted = std::pow(10, 0.2 + 3.0 * i / count);
    points.push_back({predicted, noise.Next(scale * predicted + offset)});
  }
  return points;
}

TEST(FitPoints, FindsWhatThePointsWereMadeFrom) {
  // Noise adds 2 % on the median, and a twentieth of the points are far off.
  for (const auto& [scale, offset] : {std::pair(2.0, 3.0), {0.5, 0.0}, {1.0, 10.0}, {8.0, 1.0}}) {
    const CostFit fit = FitPoints(Points(scale, offset, 400, 5), {});
    EXPECT_NEAR(fit.scale / scale, 1.02, 0.05) << scale << " " << offset;
    EXPECT_NEAR(fit.offset_us, offset, 0.06 * offset + 0.15) << scale << " " << offset;
    EXPECT_EQ(fit.samples, 400);
  }
}

TEST(FitPoints, NoOffsetIsNegative) {
  std::vector<FitPoint> points;
  for (int i = 1; i <= 100; ++i) points.push_back({i + 10.0, static_cast<double>(i)});
  const CostFit fit = FitPoints(points, {});
  EXPECT_EQ(fit.offset_us, 0);
  EXPECT_GT(fit.scale, 0.5);
  EXPECT_LT(fit.scale, 1);
}

TEST(FitPoints, FewPointsMoveLittle) {
  const CostFit one = FitPoints(std::vector<FitPoint>{{10, 40}}, {});
  EXPECT_GT(one.scale, 1.1);
  EXPECT_LT(one.scale, 2);
  EXPECT_LT(one.scale, FitPoints(Points(4, 0, 20, 1), {}).scale);
  EXPECT_EQ(FitPoints({}, {}).scale, 1);
  // Towards the prior, not towards 1.
  EXPECT_GT(FitPoints(std::vector<FitPoint>{{10, 10}}, {4, 0, 50}).scale, 2);
}

TEST(FitPoints, EqualPredictionsGiveAScaleAndNoOffset) {
  const CostFit fit = FitPoints(std::vector<FitPoint>(50, {10, 30}), {});
  EXPECT_NEAR(fit.scale, 3, 0.3);
  EXPECT_EQ(fit.offset_us, 0);
}

TEST(FitPoints, PointsWithoutATimeAreLeftOut) {
  const CostFit fit = FitPoints(std::vector<FitPoint>{{0, 5}, {5, 0}, {-1, 3}}, {});
  EXPECT_EQ(fit.samples, 0);
  EXPECT_EQ(fit.scale, 1);
}

TEST(FitTable, AKernelWithoutARowTakesItsFamilys) {
  const FitTable table(
      FitTable::Rows{{{"cuda.gemm.*", "*"}, {2, 1, 9}}, {{"cuda.gemm.gemv", "fp32"}, {3, 0, 5}}});
  EXPECT_EQ(table.Find("cuda.gemm.gemv", abi::MathMode::kFp32)->scale, 3);
  EXPECT_EQ(table.Find("cuda.gemm.gemv", abi::MathMode::kFp16)->scale, 2);
  EXPECT_EQ(table.Find("cuda.gemm.tiled_64x64", abi::MathMode::kFp32)->scale, 2);
  EXPECT_EQ(table.Find("cuda.conv.direct", abi::MathMode::kFp32), nullptr);
  EXPECT_EQ(FamilyRow("cublaslt.matmul"), "cublaslt.matmul.*");
}

TEST(FitTable, EitherModeOf16BitsTakesTheOthersRow) {
  const FitTable table(FitTable::Rows{{{"cuda.gemm.*", "*"}, {2, 1, 9}},
                                      {{"cuda.gemm.gemv", "bf16"}, {3, 0, 5}},
                                      {{"cuda.gemm.tensor_64x64", "fp16"}, {4, 0, 5}}});
  EXPECT_EQ(table.Find("cuda.gemm.gemv", abi::MathMode::kFp16)->scale, 3);
  EXPECT_EQ(table.Find("cuda.gemm.gemv", abi::MathMode::kTf32)->scale, 2);
  EXPECT_EQ(table.Find("cuda.gemm.tensor_64x64", abi::MathMode::kBf16)->scale, 4);
}

TEST(FitTable, ATileWithoutARowTakesThatOfAllTilesInItsMathMode) {
  const FitTable table(FitTable::Rows{{{"cuda.conv.*", "*"}, {2, 1, 9}},
                                      {{"cuda.conv.hopper_*", "fp32"}, {3, 0, 5}},
                                      {{"cuda.conv.hopper_one_64x64", "fp32"}, {4, 0, 5}}});
  EXPECT_EQ(table.Find("cuda.conv.hopper_one_64x64", abi::MathMode::kFp32)->scale, 4);
  EXPECT_EQ(table.Find("cuda.conv.hopper_many_64x64", abi::MathMode::kFp32)->scale, 3);
  EXPECT_EQ(table.Find("cuda.conv.hopper_many_64x64", abi::MathMode::kFp16)->scale, 2);
  EXPECT_EQ(table.Find("cuda.conv.tensor_64x64", abi::MathMode::kFp32)->scale, 2);
}

// Times of two kernels that are `slow` and `fast` times their prediction.
TimingCache Measured(double slow, double fast) {
  TimingCache cache;
  for (int64_t size : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    const abi::Problem p = Product(size, size, size);
    for (const auto& [key, factor] :
         {std::pair("cuda.gemm.tiled_64x64", slow), {"cuda.gemm.tiled_32x32", fast}}) {
      const KernelOption option = testing::Option(p, key);
      cache.Put(kH200, p, option.Name(), {factor * option.candidate.cost_us, 0.1, 15, "v", {}});
    }
  }
  return cache;
}

TEST(FitCosts, FittedPredictionsAreBetter) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const TimingCache cache = Measured(4, 0.5);
  const FitTable table = FitCosts(cache, kH200, device);
  const FitQuality before = Judge(FitTable(), cache, kH200, device);
  const FitQuality after = Judge(table, cache, kH200, device);
  EXPECT_EQ(before.times, 20);
  EXPECT_EQ(before.problems, 10);
  EXPECT_GT(before.median_error, 0.5);
  EXPECT_LT(after.median_error, 0.35);
  EXPECT_GT(after.near_best, before.near_best);
  EXPECT_EQ(after.near_best, 10);
  EXPECT_LT(after.mean_ratio, before.mean_ratio);
  // A kernel that was never measured takes what its family has in common.
  EXPECT_NE(table.Find("cuda.gemm.tiled_128x128", abi::MathMode::kFp32), nullptr);
}

TEST(FitCosts, WhatThisBuildDoesNotUnderstandIsLeftOut) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  TimingCache cache = Measured(2, 2);
  std::string text = cache.ToText();
  const std::string tile = "cuda.gemm.tiled{tile_m=64,tile_n=64";
  const size_t first = text.find(tile);
  ASSERT_NE(first, std::string::npos) << text;
  text.replace(first, 15, "cuda.gemm.later");
  const auto parsed = TimingCache::Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const FitTable table = FitCosts(*parsed, kH200, device);
  EXPECT_EQ(table.Find("cuda.gemm.tiled_64x64", abi::MathMode::kFp32)->samples, 9);
  EXPECT_FALSE(table.rows().contains({"cuda.gemm.later", "fp32"}));
}

TEST(FitCosts, TheDefinitionHoldsEveryRow) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const FitTable table = FitCosts(Measured(2, 3), kH200, device);
  const std::string text = DefinitionText(table, kH200, device);
  EXPECT_NE(text.find("// Measured on: NVIDIA H200\n"), std::string::npos) << text;
  EXPECT_NE(text.find("AICF_FITTED_COST(\"cuda:sm_90a\", \"cuda.gemm.tiled_32x32\", \"fp32\", "),
            std::string::npos)
      << text;
  size_t rows = 0;
  for (size_t at = 0; (at = text.find("\nAICF_FITTED_COST", at)) != std::string::npos; ++at) ++rows;
  EXPECT_EQ(rows, table.rows().size());
}

// Whether a row is a kernel's key, or the key with "_" and the name of some of its variants.
bool NamesKernel(const std::string& row) {
  for (size_t end = row.size(); end != std::string::npos; end = row.rfind('_', end - 1)) {
    if (Kernel(row.substr(0, end)) != nullptr) return true;
  }
  return false;
}

// The committed table parses, names kernels that exist, and corrects no cost out of all proportion.
TEST(BuiltInFit, RowsNameKernelsAndStayInProportion) {
  for (const char* target : {"cuda", "cpu:avx512"}) {
    const abi::DeviceSpec device = *abi::FindDevice(target);
    for (const auto& [key, fit] : BuiltInFit(device).rows()) {
      if (!key.first.ends_with(".*")) {
        EXPECT_TRUE(NamesKernel(key.first)) << key.first;
        EXPECT_TRUE(abi::ParseMathMode(key.second).has_value()) << key.second;
      }
      EXPECT_GT(fit.scale, 0.02) << key.first;
      EXPECT_LT(fit.scale, 50) << key.first;
      EXPECT_GE(fit.offset_us, 0) << key.first;
    }
  }
}

}  // namespace
}  // namespace aicf::tune
