#include "kernels/cuda/common/hopper_shape.h"

#include <algorithm>

#include "base/checked.h"

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Parameters;

// Extents that the tensor cores' columns come in.
bool IsHopperColumns(int64_t n, bool takes_sevens) {
  constexpr int64_t kColumns[] = {8, 16, 32, 64, 96, 128, 160, 192, 256};
  constexpr int64_t kSevens[] = {56, 112, 224};
  return std::ranges::find(kColumns, n) != std::end(kColumns) ||
         (takes_sevens && std::ranges::find(kSevens, n) != std::end(kSevens));
}

}  // namespace

bool IsHopperProduct(const abi::Problem& p) {
  const DType a = p.inputs[0].dtype, b = p.inputs[1].dtype;
  return a == b && ((a == DType::kBF16 && p.math == MathMode::kBf16) ||
                    (a == DType::kF16 && p.math == MathMode::kFp16) ||
                    (a == DType::kF32 && p.math == MathMode::kTf32));
}

std::string RefuseHopperTile(const Parameters& c, int64_t element, bool takes_sevens) {
  const int64_t rows = c[c["swap"] != 0 ? "tile_n" : "tile_m"];
  const int64_t columns = c[c["swap"] != 0 ? "tile_m" : "tile_n"];
  const int64_t consumers = c["consumers"], line = c["tile_k"] * element;
  const bool turns = c["ping_pong"] != 0;
  if (line != 32 && line != 64 && line != 128) {
    return StrCat("takes 32, 64 or 128 bytes along k, not ", line);
  }
  if (!IsHopperColumns(columns, takes_sevens))
    return StrCat(columns, " columns are none that tensor cores take");
  if (turns && consumers < 2) return "taking turns needs two consumers";
  const int64_t shares = turns ? 1 : consumers;
  if (rows % (64 * shares) != 0) return StrCat(rows, " rows are no whole parts of 64");
  const int64_t sums = rows / shares / 64 * (columns / 2);
  const int64_t most = consumers < 3 ? 160 : 96;
  return sums <= most ? "" : StrCat(sums, " sums of a thread are above ", most);
}

int64_t HopperStageBytes(const Parameters& c, int64_t element) {
  constexpr int64_t kPattern = 1024;
  const int64_t bytes = (c["tile_m"] + c["tile_n"]) * c["tile_k"] * element;
  return CeilDiv(bytes, kPattern) * kPattern;
}

int64_t HopperStoreBytes(int64_t split, int64_t halves) {
  constexpr int64_t kLines = 64, kLineBytes = 64 * 4, kBarriers = 64;
  if (split <= 1) return kLines * kLineBytes;
  return split * CeilDiv(kLines / halves, split) * halves * kLineBytes + kBarriers;
}

}  // namespace aicf::cuda
