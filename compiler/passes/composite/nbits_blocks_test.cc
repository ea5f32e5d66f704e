// Weights of MatMulNBits as blocks: exactly what the op says, or a sentence why not.
#include "compiler/passes/composite/nbits_blocks.h"

#include <gtest/gtest.h>

#include <random>

#include "base/checked.h"
#include "base/float16.h"

namespace aicf {
namespace {

class RandomWeights {
 public:
  explicit RandomWeights(uint32_t seed) : random_(seed) {}

  /// Zero points and codes between both ends, both ends included.
  NBitsWeights Draw(int64_t bits, int64_t size, int zeros) {
    NBitsWeights w;
    w.bits = bits;
    w.size = size;
    w.n = Between(1, 5);
    w.k = 32 * Between(1, 6);
    w.count = CeilDiv(w.k, size);
    w.codes = Bytes({w.n, w.count, size * bits / 8});
    std::vector<float> scales;
    for (int64_t i = 0; i < w.n * w.count; ++i) {
      scales.push_back(F16ToF32(F32ToF16(std::uniform_real_distribution<float>(-2, 2)(random_))));
    }
    scales[0] = 0x1p-24f;  // the smallest number of f16
    w.scales = ir::Tensor::FromValues<float>(DType::kF32, {w.n * w.count}, scales);
    if (zeros == 1) w.zeros = Bytes({w.n, CeilDiv(w.count * bits, 8)});
    if (zeros == 2) {
      std::vector<float> values;
      for (int64_t i = 0; i < w.n * w.count; ++i) {
        values.push_back(static_cast<float>(Between(0, (int64_t{1} << bits) - 1)));
      }
      w.zeros = ir::Tensor::FromValues<float>(DType::kF32, {w.n * w.count}, values);
    }
    return w;
  }

 private:
  int64_t Between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  ir::Tensor Bytes(const Dims& shape) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < *ElementCount(shape); ++i) {
      const int64_t ends[] = {0, 255, Between(0, 255), Between(0, 255)};
      bytes.push_back(static_cast<uint8_t>(ends[Between(0, 3)]));
    }
    return ir::Tensor::FromValues<uint8_t>(DType::kU8, shape, bytes);
  }

  std::mt19937 random_;
};

// By the op's definition.
int64_t BitsAt(const ir::Tensor& packed, int64_t first, int64_t i, int64_t bits) {
  const int64_t bit = i * bits;
  return packed.IntAt(first + bit / 8) >> (bit % 8) & ((1 << bits) - 1);
}
double ZeroPointAt(const NBitsWeights& w, int64_t row, int64_t block) {
  if (!w.zeros.has_data()) return static_cast<double>(1 << (w.bits - 1));
  if (IsFloat(w.zeros.dtype())) return w.zeros.FloatAt(row * w.count + block);
  return static_cast<double>(BitsAt(w.zeros, row * CeilDiv(w.count * w.bits, 8), block, w.bits));
}

void ExpectExact(const NBitsWeights& w, const NBitsBlocks& packed) {
  ASSERT_EQ(packed.rows.shape()[0], w.n);
  std::vector<float> row(static_cast<size_t>(w.k));
  const auto bytes = static_cast<size_t>(packed.rows.shape()[1]);
  for (int64_t n = 0; n < w.n; ++n) {
    DecodeBlocks(packed.format, packed.rows.bytes().subspan(static_cast<size_t>(n) * bytes, bytes),
                 row);
    for (int64_t k = 0; k < w.k; ++k) {
      const int64_t block = k / w.size;
      const auto code =
          static_cast<double>(BitsAt(w.codes, n * w.count * w.size * w.bits / 8, k, w.bits));
      const double want = (code - ZeroPointAt(w, n, block)) * w.scales.FloatAt(n * w.count + block);
      ASSERT_EQ(static_cast<double>(row[static_cast<size_t>(k)]), want) << n << ", " << k;
    }
  }
}

TEST(NBitsBlocks, AreWhatTheOpSays) {
  RandomWeights random(5);
  int formats[kBlockFormatCount] = {};
  for (int i = 0; i < 300; ++i) {
    const int64_t bits = i % 3 == 0 ? 2 : i % 3 == 1 ? 4 : 8;
    const int zeros = bits == 8 ? 0 : i % 4 % 3;
    const NBitsWeights w = random.Draw(bits, int64_t{32} << (i % 4), zeros);
    const NBitsBlocks packed = PackNBits(w);
    ASSERT_EQ(packed.refusal, "") << "case " << i;
    ASSERT_NO_FATAL_FAILURE(ExpectExact(w, packed)) << "case " << i;
    ++formats[static_cast<int>(packed.format)];
  }
  EXPECT_GT(formats[static_cast<int>(BlockFormat::kQ4_0)], 50);
  EXPECT_GT(formats[static_cast<int>(BlockFormat::kQ5_0)], 20);
  EXPECT_GT(formats[static_cast<int>(BlockFormat::kQ8_0)], 50);
}

// Both ends of four bits: differences of -15 and 15 need a fifth.
TEST(NBitsBlocks, ZeroPointsAtBothEnds) {
  NBitsWeights w{1, 32, 4, 32, 1, {}, {}, {}};
  w.scales = ir::Tensor::FromValues<float>(DType::kF32, {1}, std::vector<float>{0.5f});
  for (const auto& [code, zero, format] : {std::tuple{0x00, 15, BlockFormat::kQ5_0},
                                           {0xff, 0, BlockFormat::kQ5_0},
                                           {0x77, 0, BlockFormat::kQ4_0},
                                           {0x88, 0, BlockFormat::kQ5_0},
                                           {0x11, 9, BlockFormat::kQ4_0}}) {
    w.codes = ir::Tensor::FromValues<uint8_t>(DType::kU8, {1, 1, 16},
                                              std::vector<uint8_t>(16, static_cast<uint8_t>(code)));
    w.zeros = ir::Tensor::FromValues<uint8_t>(DType::kU8, {1, 1},
                                              std::vector<uint8_t>{static_cast<uint8_t>(zero)});
    const NBitsBlocks packed = PackNBits(w);
    ASSERT_EQ(packed.refusal, "");
    EXPECT_EQ(packed.format, format) << code << ", " << zero;
    ExpectExact(w, packed);
  }
}

TEST(NBitsBlocks, SayWhatNoFormatHas) {
  RandomWeights random(6);
  const auto expect = [](const NBitsWeights& w, std::string_view what) {
    EXPECT_NE(PackNBits(w).refusal.find(what), std::string::npos) << PackNBits(w).refusal;
  };
  NBitsWeights w = random.Draw(4, 32, 0);
  w.k = 40;
  expect(w, "size: blocks of 32 elements in rows of 40");
  expect(random.Draw(4, 16, 0), "size: blocks of 16 elements");
  w = random.Draw(4, 32, 0);
  const auto scales = [&](float first) {
    std::vector<float> values(static_cast<size_t>(w.n * w.count), 1);
    values[0] = first;
    return ir::Tensor::FromValues<float>(DType::kF32, {w.n * w.count}, values);
  };
  for (const float scale : {0.1f, 1e5f, 1e-10f, std::numeric_limits<float>::infinity()}) {
    w.scales = scales(scale);
    expect(w, "rounding: the scale");
  }
  w.scales = scales(1);
  w.zeros = scales(7.5f);
  expect(w, "rounding: not all zero points are whole numbers");
  NBitsWeights wide{1, 32, 8, 32, 1, {}, {}, {}};
  wide.codes =
      ir::Tensor::FromValues<uint8_t>(DType::kU8, {1, 1, 32}, std::vector<uint8_t>(32, 255));
  wide.scales = ir::Tensor::FromValues<float>(DType::kF32, {1}, std::vector<float>{1});
  wide.zeros = ir::Tensor::FromValues<uint8_t>(DType::kU8, {1, 1}, std::vector<uint8_t>{3});
  expect(wide, "range: codes minus zero points lie between 0 and 252");
}

}  // namespace
}  // namespace aicf
