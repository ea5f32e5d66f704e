#include "compiler/passes/graph/attention_band.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace aicf {
namespace {

ir::Value Value(DType dtype, const Dims& shape, const std::vector<float>& values) {
  ir::Value v;
  v.dtype = dtype;
  v.shape = shape;
  if (dtype == DType::kBool) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    v.constant = ir::Tensor::FromValues<uint8_t>(dtype, shape, bytes);
  } else {
    v.constant = ir::Tensor::FromValues<float>(dtype, shape, values);
  }
  return v;
}

// Bool [rows, keys] of the keys with first <= j - i <= last.
std::vector<float> Seen(int64_t rows, int64_t keys, int64_t first, int64_t last) {
  std::vector<float> out;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < keys; ++j) out.push_back(j - i >= first && j - i <= last ? 1.0f : 0.0f);
  }
  return out;
}

// What a band says is the mask, whatever the bounds are called.
void ExpectSays(const Band& band, const std::vector<float>& mask, int64_t rows, int64_t keys) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      const bool seen =
          (!band.first || j - i >= *band.first) && (!band.last || j - i <= *band.last);
      EXPECT_EQ(seen, mask[static_cast<size_t>(i * keys + j)] != 0) << i << " " << j;
    }
  }
}

TEST(AttentionBand, EveryWindowInWhichNoRowIsEmpty) {
  for (int64_t rows = 1; rows <= 4; ++rows) {
    for (int64_t keys = 1; keys <= 5; ++keys) {
      for (int64_t first = -6; first <= 6; ++first) {
        for (int64_t last = first; last <= 6; ++last) {
          const std::vector<float> mask = Seen(rows, keys, first, last);
          const auto band = BandOfMask(Value(DType::kBool, {rows, keys}, mask), rows, keys, false);
          bool empty = false;
          for (int64_t i = 0; i < rows; ++i) empty |= i + last < 0 || i + first >= keys;
          ASSERT_EQ(band.has_value(), !empty) << rows << " " << keys << " " << first << " " << last;
          if (band) ExpectSays(*band, mask, rows, keys);
        }
      }
    }
  }
}

TEST(AttentionBand, ARandomMaskIsABandOnlyIfItSaysTheSame) {
  std::mt19937 rng(7);
  int found = 0;
  for (int n = 0; n < 4000; ++n) {
    std::vector<float> mask(9);
    for (float& m : mask) m = rng() % 3 != 0 ? 1.0f : 0.0f;
    const auto band = BandOfMask(Value(DType::kBool, {3, 3}, mask), 3, 3, false);
    if (!band) continue;
    ++found;
    ExpectSays(*band, mask, 3, 3);
  }
  EXPECT_GT(found, 50);
}

TEST(AttentionBand, InvertedAndAdded) {
  std::vector<float> seen = Seen(3, 3, -9, 0), hidden, bias;
  for (float s : seen) hidden.push_back(1 - s);
  for (float s : seen) bias.push_back(s != 0 ? 0 : -INFINITY);
  EXPECT_TRUE(BandOfMask(Value(DType::kBool, {3, 3}, hidden), 3, 3, true));
  const auto band = BandOfBias(Value(DType::kF32, {1, 1, 3, 3}, bias), 3, 3);
  ASSERT_TRUE(band);
  EXPECT_EQ(band->last, 0);
  EXPECT_FALSE(band->first);
  bias[1] = -1e4f;  // hides only beside larger scores
  EXPECT_FALSE(BandOfBias(Value(DType::kF32, {1, 1, 3, 3}, bias), 3, 3));
}

TEST(AttentionBand, LeadingAxesMustRepeat) {
  std::vector<float> two = Seen(2, 2, -9, 0);
  const std::vector<float> one = two;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_TRUE(BandOfMask(Value(DType::kBool, {2, 1, 2, 2}, two), 2, 2, false));
  two[5] = 1;
  EXPECT_FALSE(BandOfMask(Value(DType::kBool, {2, 1, 2, 2}, two), 2, 2, false));
}

}  // namespace
}  // namespace aicf
