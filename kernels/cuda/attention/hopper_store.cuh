// Results of cuda.attention.hopper to memory: straight from registers, four threads to a row.
#pragma once

#include "attention/hopper_rows.cuh"

namespace aicf {

typedef Out0::S out_t;
constexpr bool kStoresShorts = kSame<out_t, bf16> || kSame<out_t, f16>;
constexpr bool kStoresCodes = kSame<out_t, f8e4m3fn>;
/// Whether eight neighbouring results of 16 or 8 bits are one store, and whether two results are.
constexpr bool kStoresEights =
    (kStoresShorts || kStoresCodes) && Out0::run(3) >= 8 && kValueHead % 8 == 0;
constexpr bool kStoresPairs = Out0::run(3) >= 2 && kValueHead % 2 == 0;

/// The 16-bit type that WordOf rounds results to: that of the output.
template <class T>
struct ShortOf {
  typedef bf16 S;
};
template <>
struct ShortOf<f16> {
  typedef f16 S;
};

/// Transposes words among four neighbouring lanes. Before, each lane has its own word of each line
/// i in w[i]; afterwards the i-th of the lanes has all four words of line i, in the lanes' order.
AICF_DEVICE void TransposeAmongFour(unsigned (&w)[4], int lane) {
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    const bool upper = (lane & step) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & step) != 0) continue;
      const unsigned given = upper ? w[i] : w[i + step];
      const unsigned taken = ShuffleXor(given, step);
      if (upper)
        w[i] = taken;
      else
        w[i + step] = taken;
    }
  }
}

/// Stores two neighbouring results of a row, the first at `column`.
AICF_DEVICE void StorePair(const Args& args, index_t at, int column, float low, float high) {
  if constexpr (kStoresPairs) {
    if (column >= kValueHead) return;
    const Pack<out_t, 2> pair = {Stored<out_t>(low), Stored<out_t>(high)};
    *reinterpret_cast<Pack<out_t, 2>*>(static_cast<out_t*>(args.out[0]) + at + column) = pair;
  } else {
    const index_t stride = Out0::stride(3);
    if (column < kValueHead) StoreElement<Out0>(args.out[0], at + column * stride, low);
    if (column + 1 < kValueHead) StoreElement<Out0>(args.out[0], at + (column + 1) * stride, high);
  }
}

/// Two neighbouring results in a word: of 16 bits each, or of 8 bits each in its lower half.
template <class S>
AICF_DEVICE unsigned WordOf(float low, float high) {
  if constexpr (kSame<S, f8e4m3fn>)
    return Stored<S>(low).bits | static_cast<unsigned>(Stored<S>(high).bits) << 8;
  else
    return RoundedPair(typename ShortOf<S>::S{}, low, high);
}

/// Stores groups [4 * q, 4 * q + 4) of eight columns each of a row. The four lanes that share the
/// row exchange results, so that each of them stores one group.
AICF_DEVICE void StoreFourGroups(const Args& args, index_t at, bool holds, int lane, int q,
                                 const float* sum, float factor) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = WordOf<out_t>(sum[4 * i] * factor, sum[4 * i + 1] * factor);
  }
  TransposeAmongFour(words, lane);
  const int column = q * 32 + lane % 4 * 8;
  if (!holds || column >= kValueHead) return;
  constexpr int kWords = kStoresCodes ? 2 : 4;
  Pack<unsigned, kWords> pack;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    pack.v[i] = kStoresCodes ? words[2 * i] | words[2 * i + 1] << 16 : words[i];
  }
  *reinterpret_cast<Pack<unsigned, kWords>*>(static_cast<out_t*>(args.out[0]) + at + column) = pack;
}

AICF_DEVICE void StoreRows(const Args& args, const TileWalk& tile, const GroupRows& rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kGroups = kColumns / 8;
  constexpr int kFours = kStoresEights ? kGroups / 4 : 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float all = rows.total[half] + ShuffleXor(rows.total[half], 1);
    all += ShuffleXor(all, 2);
    const float factor = all == 0 ? 0.0f : 1.0f / all;
    const bool holds = rows.Holds(half);
    const int head = rows.Head(tile, half), query = rows.Query(half);
    const index_t at =
        Out0::kOffset + tile.b * Out0::stride(0) + head * Out0::stride(1) + query * Out0::stride(2);
    if constexpr (kStoresEights) {
#pragma unroll
      for (int q = 0; q < kFours; ++q) {
        StoreFourGroups(args, at, holds, lane, q, rows.sum + 16 * q + 2 * half, factor);
      }
    }
    if (!holds) continue;
#pragma unroll
    for (int g = kFours * 4; g < kGroups; ++g) {
      const float* sum = rows.sum + 4 * g + 2 * half;
      StorePair(args, at, 8 * g + lane % 4 * 2, sum[0] * factor, sum[1] * factor);
    }
    if constexpr (kOutputs > 1) {
      const float max = rows.max[half] * (kFoldsScale ? static_cast<float>(attr_scale) : 1.0f);
      const index_t log_at = LogView::kOffset + tile.b * LogView::stride(0) +
                             head * LogView::stride(1) + query * LogView::stride(2);
      if (lane % 4 == 0) {
        StoreElement<LogView>(args.out[1], log_at, all == 0 ? NoScore() : max + OpLog(all));
      }
    }
  }
}

}  // namespace aicf
