// cuda.attention.tensor: both products on tensor cores (mma.sync) in tf32, f16 or bf16 by kMath. A
// warp has 16 rows; kWarps of them share blocks of keys in shared memory. Scores, weights, sums and
// the output stay in the warp's fragments. The next keys load while weights are multiplied by
// values, and the next values while the next scores are computed. Where tiles of rows are too few
// to fill the device, kKeyWarps groups of warps take the same rows, each with kStep keys of every
// block of keys. In the end the first group adds up the sums of all groups, always in the same
// order.
#pragma once

#include "attention/keys.cuh"
#include "common/fragment.cuh"

namespace aicf {

constexpr bool kWord = kMath == kTf32;  ///< elements of a tile are 32 bits wide

constexpr int kThreads = kBlockX * kBlockY;
constexpr int kRows = 16 * kWarps;
constexpr int kStep = kWord ? 32 : 64;  ///< keys of a warp's turn
constexpr int kKeyStep = kStep * kKeyWarps;
constexpr int kHalves = 2, kUnroll = 4;
constexpr bool kShortWeights = false;

}  // namespace aicf

// The header below is written in terms of the constants above.
#include "attention/warp_rows.cuh"

namespace aicf {

/// Adds the rows of the other groups of warps to those of the first.
AICF_DEVICE void AddGroups(WarpRows& rows, float* saved, int warp, int group, int lane) {
  const auto place = [&](int g) {
    return saved + ((g - 1) * kWarps + warp) * WarpRows::kSaved * 32;
  };
  CopyWait<0>();    // the queries may still be on their way where there were no keys
  __syncthreads();  // nobody reads keys and values any more
  if (group > 0) rows.Save(place(group), lane);
  __syncthreads();
  if (group > 0) return;
  for (int g = 1; g < kKeyWarps; ++g) rows.Add(place(g), lane);
}

AICF_DEVICE void Kernel(const Args& args) {
  if constexpr (kNoRows) return;
  tile_t* query = reinterpret_cast<tile_t*>(DynamicShared());
  tile_t* keys = query + kRows * kHeadPitch;
  tile_t* values = keys + kKeyStep * kHeadPitch;
  __shared__ bool present[2][kKeyStep];
  const int lane = threadIdx.x, warp = threadIdx.y % kWarps, group = threadIdx.y / kWarps;
  const int row = warp * 16, key = group * kStep;
  const Tile tile(kRows);
  const Request request(args, tile.b);
  const i64 last = tile.first + kRows < kAllRows ? tile.first + kRows : kAllRows;
  const int begin = request.Begin(tile.Query(0));
  const int end = request.End(static_cast<int>((last - 1) / kGroup));

  LoadRows<In0, tile_t, kThreads, kHead, kHeadWidth, kHeadPitch>(
      args, 0, kRows, query, [&](int r, index_t* at) {
        *at = tile.Holds(r) ? tile.Offset<In0>(r) : 0;
        return tile.Holds(r);
      });
  // load_keys and load_values each commit one group of copies, an empty one where no keys are left,
  // because CopyWait counts groups.
  const auto load_keys = [&](int first, bool* found) {
    if (first < end) {
      LoadRows<In1, tile_t, kThreads, kHead, kHeadWidth, kHeadPitch>(
          args, 1, kKeyStep, keys, [&](int r, index_t* at) {
            return first + r < end && KeyOffset<In1>(args, tile.b, tile.g, first + r, at);
          });
      for (int r = ThreadInBlock(); r < kKeyStep; r += kThreads) {
        index_t at = 0;
        found[r] = first + r < end && KeyOffset<In1>(args, tile.b, tile.g, first + r, &at);
      }
    }
    CopyCommit();
  };
  const auto load_values = [&](int first) {
    if (first < end) {
      LoadRows<In2, tile_t, kThreads, kValueHead, kValueWidth, kValuePitch>(
          args, 2, kKeyStep, values, [&](int r, index_t* at) {
            return first + r < end && KeyOffset<In2>(args, tile.b, tile.g, first + r, at);
          });
    }
    CopyCommit();
  };
  WarpRows rows;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    rows.max[half] = NoScore();
    rows.place[half].Set(tile, request, row + lane / 4 + half * 8);
  }
  load_keys(begin, present[0]);
  load_values(begin);
  int turn = 0;
  for (int first = begin; first < end; first += kKeyStep, turn ^= 1) {
    CopyWait<1>();
    __syncthreads();  // the keys are there
    rows.Multiply(query + row * kHeadPitch, keys + key * kHeadPitch, lane);
    __syncthreads();  // nobody reads the keys any more
    load_keys(first + kKeyStep, present[turn ^ 1]);
    rows.Score(args, tile.b, first + key, present[turn] + key, lane);
    rows.Soften();
    CopyWait<1>();
    __syncthreads();  // the values are there
    rows.AddValues(values + key * kValuePitch, lane);
    __syncthreads();  // nobody reads the values any more
    load_values(first + kKeyStep);
  }
  if constexpr (kKeyWarps > 1) {
    AddGroups(rows, reinterpret_cast<float*>(query), warp, group, lane);
    if (group > 0) return;
  }
  rows.Store(args, tile, row, lane);
}

}  // namespace aicf
