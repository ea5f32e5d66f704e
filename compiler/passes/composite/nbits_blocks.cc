#include "compiler/passes/composite/nbits_blocks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/checked.h"
#include "base/float16.h"
#include "base/status.h"

namespace aicf {
namespace {

constexpr int64_t kBlock = 32;  // elements of a block in all three formats

// Code i of a row whose first code is in byte `first`.
int64_t CodeAt(const ir::Tensor& packed, int64_t first, int64_t i, int64_t bits) {
  const int64_t per_byte = 8 / bits;
  const auto byte =
      std::to_integer<int64_t>(packed.bytes()[static_cast<size_t>(first + i / per_byte)]);
  return byte >> (i % per_byte * bits) & ((int64_t{1} << bits) - 1);
}

// Zero points of all blocks, row after row; empty where one is not a whole number or is beyond 255.
std::vector<int64_t> ZeroPointsOf(const NBitsWeights& w) {
  std::vector<int64_t> zeros;
  const int64_t row_bytes = CeilDiv(w.count * w.bits, 8);
  for (int64_t i = 0; i < w.n * w.count; ++i) {
    if (!w.zeros.has_data()) {
      zeros.push_back(int64_t{1} << (w.bits - 1));
    } else if (!IsFloat(w.zeros.dtype())) {
      zeros.push_back(CodeAt(w.zeros, i / w.count * row_bytes, i % w.count, w.bits));
    } else {
      const double zero = w.zeros.FloatAt(i);
      if (!(std::fabs(zero) <= 255) || zero != std::nearbyint(zero)) return {};
      zeros.push_back(static_cast<int64_t>(zero));
    }
  }
  return zeros;
}

// Scales of the model's blocks as f16, row after row. Sets `refusal` where f16 cannot express one
// exactly.
std::vector<uint16_t> ScalesOf(const NBitsWeights& w, std::string* refusal) {
  std::vector<uint16_t> scales;
  for (int64_t i = 0; i < w.n * w.count; ++i) {
    const auto scale = static_cast<float>(w.scales.FloatAt(i));
    scales.push_back(F32ToF16(scale));
    if (std::isfinite(scale) && F16ToF32(scales.back()) == scale) continue;
    *refusal = StrCat("rounding: the scale ", scale, " of row ", i / w.count,
                      " is no number of f16, as blocks have them");
    break;
  }
  return scales;
}

// Codes minus zero points.
class Differences {
 public:
  explicit Differences(const NBitsWeights& w) : w_(w), zeros_(ZeroPointsOf(w)) {}

  bool whole() const { return !zeros_.empty(); }
  int64_t At(int64_t row, int64_t i) const {
    const int64_t first = row * (w_.count * w_.size * w_.bits / 8);
    return CodeAt(w_.codes, first, i, w_.bits) -
           zeros_[static_cast<size_t>(row * w_.count + i / w_.size)];
  }

 private:
  const NBitsWeights& w_;
  const std::vector<int64_t> zeros_;
};

// Chooses the smallest format in which every difference has a code. Returns "", or the refusal if
// there is none.
std::string ChooseFormat(const NBitsWeights& w, const Differences& differences,
                         BlockFormat* format) {
  int64_t low = 0, high = 0;
  for (int64_t row = 0; row < w.n; ++row) {
    for (int64_t i = 0; i < w.k; ++i) {
      const int64_t d = differences.At(row, i);
      low = std::min(low, d);
      high = std::max(high, d);
    }
  }
  const auto within = [&](int64_t reach) { return low >= -reach && high < reach; };
  *format = within(8) ? BlockFormat::kQ4_0 : within(16) ? BlockFormat::kQ5_0 : BlockFormat::kQ8_0;
  if (within(128)) return "";
  return StrCat("range: codes minus zero points lie between ", low, " and ", high,
                ", which takes more than 8 bits");
}

// Writes 32 differences as one block of the format; base/block_decode_32.cc reads such blocks.
void Encode(BlockFormat format, uint16_t scale, const int64_t (&d)[kBlock], uint8_t* block) {
  block[0] = static_cast<uint8_t>(scale);
  block[1] = static_cast<uint8_t>(scale >> 8);
  if (format == BlockFormat::kQ8_0) {
    for (int i = 0; i < kBlock; ++i) block[2 + i] = static_cast<uint8_t>(d[i]);
    return;
  }
  const bool five = format == BlockFormat::kQ5_0;
  uint32_t fifth = 0;
  for (int i = 0; i < kBlock; ++i) {
    const auto code = static_cast<uint32_t>(d[i] + (five ? 16 : 8));
    fifth |= code >> 4 << i;
    block[(five ? 6 : 2) + i % 16] |= static_cast<uint8_t>((code & 15) << (i / 16 * 4));
  }
  for (int i = 0; five && i < 4; ++i) block[2 + i] = static_cast<uint8_t>(fifth >> (8 * i));
}

}  // namespace

NBitsBlocks PackNBits(const NBitsWeights& w) {
  NBitsBlocks packed;
  if (w.size % kBlock != 0 || w.k % kBlock != 0) {
    packed.refusal = StrCat("size: blocks of ", w.size, " elements in rows of ", w.k,
                            ", and those that products read have ", kBlock);
    return packed;
  }
  const std::vector<uint16_t> scales = ScalesOf(w, &packed.refusal);
  if (!packed.refusal.empty()) return packed;
  const Differences differences(w);
  packed.refusal = differences.whole() ? ChooseFormat(w, differences, &packed.format)
                                       : "rounding: not all zero points are whole numbers";
  if (!packed.refusal.empty()) return packed;
  const int64_t bytes = InfoOf(packed.format).bytes, blocks = w.k / kBlock;
  std::vector<std::byte> rows(static_cast<size_t>(w.n * blocks * bytes));
  for (int64_t row = 0; row < w.n; ++row) {
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t d[kBlock];
      for (int64_t i = 0; i < kBlock; ++i) d[i] = differences.At(row, b * kBlock + i);
      const int64_t of_model = row * w.count + b * kBlock / w.size;
      Encode(packed.format, scales[static_cast<size_t>(of_model)], d,
             reinterpret_cast<uint8_t*>(&rows[static_cast<size_t>((row * blocks + b) * bytes)]));
    }
  }
  packed.rows = ir::Tensor::Own(DType::kU8, {w.n, blocks * bytes}, std::move(rows));
  return packed;
}

}  // namespace aicf
