// cuda.attention.general: ordinary arithmetic in f32 (f64 for f64), any layout. Blocks of kStep
// keys pass through shared memory. A thread has kThreadRows rows and, of each, every kBlockX-th key
// of a block and every kBlockX-th column of values, with a running maximum and sum for each row.
#pragma once

#include "attention/keys.cuh"

namespace aicf {

constexpr int kStep = 32;
constexpr int kThreadRows = 4;
constexpr int kRows = kThreadRows * kBlockY;
constexpr int kThreads = kBlockX * kBlockY;
constexpr int kStepColumns = kStep / kBlockX;
constexpr int kColumns = (kValueHead + kBlockX - 1) / kBlockX;
// Odd pitches: neighbouring rows start in different banks.
constexpr int kQueryPitch = kHead | 1;
constexpr int kValuePitch = kValueHead | 1;
constexpr int kWeightPitch = kStep + 1;

template <class T, class Op>
AICF_DEVICE T AcrossColumns(T value, Op op) {
#pragma unroll
  for (int step = kBlockX / 2; step > 0; step /= 2) value = op(value, ShuffleXor(value, step));
  return value;
}

AICF_DEVICE float ExpOf(float x) { return ExpF32(x); }
AICF_DEVICE double ExpOf(double x) { return exp(x); }

struct Sums {
  raw_t sum[kThreadRows][kColumns] = {};
  raw_t max[kThreadRows], total[kThreadRows];
  RowPlace place[kThreadRows];
  raw_t score[kThreadRows][kStepColumns];
};

AICF_DEVICE void Multiply(const raw_t* query, const raw_t* keys, Sums& s) {
  const int row = threadIdx.y * kThreadRows, column = threadIdx.x;
#pragma unroll
  for (int a = 0; a < kThreadRows; ++a) {
#pragma unroll
    for (int c = 0; c < kStepColumns; ++c) s.score[a][c] = 0;
  }
  for (int d = 0; d < kHead; ++d) {
    raw_t q[kThreadRows], k[kStepColumns];
#pragma unroll
    for (int a = 0; a < kThreadRows; ++a) q[a] = query[(row + a) * kQueryPitch + d];
#pragma unroll
    for (int c = 0; c < kStepColumns; ++c) k[c] = keys[(column + c * kBlockX) * kQueryPitch + d];
#pragma unroll
    for (int a = 0; a < kThreadRows; ++a) {
#pragma unroll
      for (int c = 0; c < kStepColumns; ++c) s.score[a][c] = OpFma(q[a], k[c], s.score[a][c]);
    }
  }
}

/// Turns the scores into weights, which it puts into shared memory, and scales the older sums to
/// the new maximum.
AICF_DEVICE void Soften(const Args& args, const Tile& tile, int first, const bool* present, Sums& s,
                        raw_t* weights) {
  const int row = threadIdx.y * kThreadRows;
#pragma unroll
  for (int a = 0; a < kThreadRows; ++a) {
    raw_t most = s.max[a];
#pragma unroll
    for (int c = 0; c < kStepColumns; ++c) {
      const int j = threadIdx.x + c * kBlockX;
      s.score[a][c] = s.place[a].Score(args, tile.b, first + j, present[j],
                                       s.score[a][c] * static_cast<raw_t>(attr_scale));
      most = s.score[a][c] > most ? s.score[a][c] : most;
    }
    most = AcrossColumns(most, [](raw_t x, raw_t y) { return x > y ? x : y; });
    // While every score is -inf, 0 takes the place of the maximum: the exponents are then -inf,
    // whose exponential is 0, instead of -inf - -inf, which is NaN.
    const raw_t base = most == static_cast<raw_t>(NoScore()) ? 0 : most;
    const raw_t shrink = most == s.max[a] ? 1 : ExpOf(s.max[a] - base);
    s.max[a] = most;
    raw_t total = 0;
#pragma unroll
    for (int c = 0; c < kStepColumns; ++c) {
      const raw_t weight = ExpOf(s.score[a][c] - base);
      total += weight;
      weights[(row + a) * kWeightPitch + threadIdx.x + c * kBlockX] = weight;
    }
    s.total[a] = s.total[a] * shrink + total;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) s.sum[a][c] *= shrink;
  }
}

AICF_DEVICE void AddValues(const raw_t* weights, const raw_t* values, Sums& s) {
  const int row = threadIdx.y * kThreadRows;
  for (int j = 0; j < kStep; ++j) {
    raw_t w[kThreadRows];
#pragma unroll
    for (int a = 0; a < kThreadRows; ++a) w[a] = weights[(row + a) * kWeightPitch + j];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = threadIdx.x + c * kBlockX;
      if (kValueHead % kBlockX != 0 && column >= kValueHead) break;
      const raw_t v = values[j * kValuePitch + column];
#pragma unroll
      for (int a = 0; a < kThreadRows; ++a) s.sum[a][c] = OpFma(w[a], v, s.sum[a][c]);
    }
  }
}

AICF_DEVICE void Store(const Args& args, const Tile& tile, Sums& s) {
#pragma unroll
  for (int a = 0; a < kThreadRows; ++a) {
    const int r = threadIdx.y * kThreadRows + a;
    const raw_t total = AcrossColumns(s.total[a], [](raw_t x, raw_t y) { return x + y; });
    if (!tile.Holds(r)) continue;
    const index_t at = tile.Offset<Out0>(r);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = threadIdx.x + c * kBlockX;
      if (column >= kValueHead) break;
      const raw_t value = total == 0 ? 0 : s.sum[a][c] / total;
      StoreElement<Out0>(args.out[0], at + column * Out0::stride(3), value);
    }
    if (threadIdx.x == 0) StoreLogSum(args, tile, r, s.max[a], total);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  if constexpr (kNoRows) return;
  raw_t* query = reinterpret_cast<raw_t*>(DynamicShared());
  raw_t* keys = query + kRows * kQueryPitch;
  raw_t* values = keys + kStep * kQueryPitch;
  raw_t* weights = values + kStep * kValuePitch;
  __shared__ bool present[kStep];
  const Tile tile(kRows);
  const Request request(args, tile.b);
  LoadRows<In0, raw_t, kThreads, kHead, kHead, kQueryPitch>(
      args, 0, kRows, query, [&](int r, index_t* at) {
        *at = tile.Holds(r) ? tile.Offset<In0>(r) : 0;
        return tile.Holds(r);
      });
  Sums s;
#pragma unroll
  for (int a = 0; a < kThreadRows; ++a) {
    s.max[a] = static_cast<raw_t>(NoScore());
    s.total[a] = 0;
    s.place[a].Set(tile, request, threadIdx.y * kThreadRows + a);
  }
  const i64 last = tile.first + kRows < kAllRows ? tile.first + kRows : kAllRows;
  const int begin = request.Begin(tile.Query(0));
  const int end = request.End(static_cast<int>((last - 1) / kGroup));
  for (int first = begin; first < end; first += kStep) {
    const auto rows = [&](auto view) {
      return [&](int r, index_t* at) {
        return first + r < end && KeyOffset<decltype(view)>(args, tile.b, tile.g, first + r, at);
      };
    };
    LoadRows<In1, raw_t, kThreads, kHead, kHead, kQueryPitch>(args, 1, kStep, keys, rows(In1{}));
    LoadRows<In2, raw_t, kThreads, kValueHead, kValueHead, kValuePitch>(args, 2, kStep, values,
                                                                        rows(In2{}));
    for (int r = ThreadInBlock(); r < kStep; r += kThreads) {
      index_t at = 0;
      present[r] = first + r < end && KeyOffset<In1>(args, tile.b, tile.g, first + r, &at);
    }
    CopyCommit();
    CopyWait<0>();
    __syncthreads();
    Multiply(query, keys, s);
    Soften(args, tile, first, present, s, weights);
    __syncthreads();
    AddValues(weights, values, s);
    __syncthreads();
  }
  Store(args, tile, s);
}

}  // namespace aicf
