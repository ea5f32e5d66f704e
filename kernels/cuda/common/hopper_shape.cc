#include "kernels/cuda/common/hopper_shape.h"

#include <algorithm>
#include <span>

#include "base/checked.h"

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Parameters;

// Numbers of columns that a tile of the tensor cores may have. Above 32, instructions for integers
// take multiples of 16 only, so operands of 8 bits have no 56.
bool IsHopperColumns(int64_t n, bool takes_sevens, int64_t element) {
  constexpr int64_t kColumns[] = {8, 16, 32, 64, 96, 128, 160, 192, 256};
  constexpr int64_t kSevens[] = {112, 224, 56};
  const auto sevens = std::span(kSevens).first(element > 1 ? 3 : 2);
  return std::ranges::find(kColumns, n) != std::end(kColumns) ||
         (takes_sevens && std::ranges::find(sevens, n) != sevens.end());
}

bool IsHopperFloat8(DType d) { return d == DType::kF8E4M3FN || d == DType::kF8E5M2; }

// The most sums that a thread may have. Where stages are added in parts (HopperPromotion), it is
// the most for which the compiled loops were free of spills.
int64_t MostSums(int64_t consumers, bool in_parts) {
  if (consumers == 3) return in_parts ? 128 : 96;
  return in_parts ? 192 : 160;
}

}  // namespace

std::string RefuseHopperTypes(const abi::Problem& p) {
  const DType a = p.inputs[0].dtype, b = p.inputs[1].dtype;
  if (IsByteInteger(a) && IsByteInteger(b)) return {};
  if (a == b && ((a == DType::kBF16 && p.math == MathMode::kBf16) ||
                 (a == DType::kF16 && p.math == MathMode::kFp16) ||
                 (a == DType::kF32 && p.math == MathMode::kTf32) ||
                 (IsHopperFloat8(a) && p.math == MathMode::kFp8))) {
    return {};
  }
  return "multiplies bf16 in math mode bf16, f16 in fp16, f32 in tf32, f8e4m3fn and f8e5m2 in fp8, "
         "and integers of 8 bits";
}

std::string RefuseHopperTile(const Parameters& c, DType operands, HopperForms forms) {
  const int64_t element = DTypeBytes(operands);
  const int64_t rows = c[c["swap"] != 0 ? "tile_n" : "tile_m"];
  const int64_t columns = c[c["swap"] != 0 ? "tile_m" : "tile_n"];
  const int64_t consumers = c["consumers"], line = c["tile_k"] * element;
  const bool turns = c["ping_pong"] != 0;
  if (line != 32 && line != 64 && line != 128) {
    return StrCat("takes 32, 64 or 128 bytes along k, not ", line);
  }
  if (!IsHopperColumns(columns, forms.sevens, element))
    return StrCat(columns, " columns are none that tensor cores take");
  if (turns && consumers < 2) return "taking turns needs two consumers";
  const int64_t shares = turns ? 1 : consumers;
  const bool cut = forms.cut_rows && c["swap"] != 0 && consumers == 1 && rows % 16 == 0;
  if (rows % (64 * shares) != 0 && !cut) return StrCat(rows, " rows are no whole parts of 64");
  const bool in_parts = c["promote"] != 0;
  if (in_parts && !IsHopperFloat8(operands)) return "sums of float8 alone are added in parts";
  // A thread has all its sums and, with promotion, those of the part that is being added as well:
  // 64 rows of a consumer.
  const int64_t sums = (CeilDiv(rows / shares, int64_t{64}) + (in_parts ? 1 : 0)) * (columns / 2);
  const int64_t most = MostSums(consumers, in_parts);
  return sums <= most ? "" : StrCat(sums, " sums of a thread are above ", most);
}

int64_t HopperPromotion(const abi::Problem& p, int64_t steps) {
  constexpr int64_t kMostSteps = 64;
  if (HasBlockScales(p)) return 1;
  return IsHopperFloat8(p.inputs[0].dtype) && steps > kMostSteps ? 1 : 0;
}

int64_t HopperVector(const abi::Problem& p, int64_t usual) {
  constexpr int64_t kMost = 8;
  const auto is_byte = [](const abi::View& v) { return DTypeBytes(v.dtype) == 1; };
  return std::all_of(p.outputs.begin(), p.outputs.begin() + ResultCount(p), is_byte)
             ? std::max(usual, kMost)
             : usual;
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
