#include "compiler/ir/tensor.h"

#include <gtest/gtest.h>

#include "base/float16.h"
#include "base/float8.h"

namespace aicf::ir {
namespace {

TEST(Tensor, ConvertsEveryDType) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const DType dtype = static_cast<DType>(d);
    const Tensor t = VisitStorage(dtype, [&](auto tag) {
      using T = decltype(tag);
      std::vector<T> values = {static_cast<T>(1), static_cast<T>(0)};
      if (dtype == DType::kF16) values[0] = static_cast<T>(F32ToF16(1));
      if (dtype == DType::kBF16) values[0] = static_cast<T>(F32ToBF16(1));
      if (IsFloat(dtype) && IsStorageOnly(dtype)) values[0] = static_cast<T>(F32ToFloat8(1, dtype));
      return Tensor::FromValues<T>(dtype, {2}, std::span<const T>(values));
    });
    EXPECT_EQ(t.IntAt(0), 1) << DTypeName(dtype);
    EXPECT_EQ(t.IntAt(1), 0) << DTypeName(dtype);
    EXPECT_EQ(t.FloatAt(0), 1.0) << DTypeName(dtype);
  }
}

TEST(Tensor, IntegersAreExactAtTheLimits) {
  const std::vector<int64_t> values = {INT64_MIN, INT64_MAX, -1};
  const Tensor t = Tensor::FromValues<int64_t>(DType::kI64, {3}, std::span(values));
  EXPECT_EQ(t.IntAt(0), INT64_MIN);
  EXPECT_EQ(t.IntAt(1), INT64_MAX);
  EXPECT_EQ(t.IntAt(2), -1);
}

TEST(Tensor, SharesBytesAndKeepsThemAlive) {
  Tensor copy;
  {
    const std::vector<float> values = {1, 2, 3, 4};
    const Tensor t = Tensor::FromValues<float>(DType::kF32, {4}, std::span<const float>(values));
    copy = t.Reshaped({2, 2});
    EXPECT_EQ(copy.bytes().data(), t.bytes().data());
  }
  EXPECT_EQ(copy.at<float>(3), 4.0f);
  EXPECT_EQ(copy.shape(), (Dims{2, 2}));
}

TEST(Tensor, ReadsUnalignedBytes) {
  std::vector<std::byte> raw(9);
  const float value = 1.5f;
  __builtin_memcpy(raw.data() + 1, &value, sizeof value);
  const auto owner = std::make_shared<int>(0);
  const Tensor t(DType::kF32, {2}, std::span<const std::byte>(raw).subspan(1), owner);
  EXPECT_EQ(t.at<float>(0), 1.5f);
}

TEST(Tensor, EmptyIsStillData) {
  EXPECT_FALSE(Tensor().has_data());
  const Tensor empty = Tensor::Own(DType::kF32, {0, 4}, {});
  EXPECT_TRUE(empty.has_data());
  EXPECT_EQ(empty.count(), 0);
}

}  // namespace
}  // namespace aicf::ir
