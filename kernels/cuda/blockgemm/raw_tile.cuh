// Loads tiles of B from blocks as GGUF files store them.
#pragma once

namespace aicf {

/// Decodes runs of elements along k. Neighbouring threads have neighbouring columns, so that their
/// stores go to different banks of shared memory.
template <>
struct LoadTileOf<false> {
  static constexpr int kRun = kTileK % 8 == 0 ? 8 : 4;
  static constexpr int kRuns = kTileK / kRun * kTileN;
  static constexpr int kCount = (kRuns + kBlockX - 1) / kBlockX;
  static_assert(kTileK % 4 == 0, "runs divide the tile");

  index_t column0;
  tile_t held[kCount][kRun];

  AICF_DEVICE void Init(const SourceB&, int, index_t column) { column0 = column; }

  static AICF_DEVICE int RunOfThread(int thread, int i) { return thread + i * kBlockX; }
  static AICF_DEVICE bool IsIdle(int run) { return kRuns % kBlockX != 0 && run >= kRuns; }

  AICF_DEVICE void Fetch(const SourceB& source, int thread, index_t k0, tile_t*) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int run = RunOfThread(thread, i);
      if (IsIdle(run)) break;
      const index_t column = column0 + run % kTileN;
      const index_t k = k0 + run / kTileN * kRun;
      FetchRun(source.base + (column < kColumns ? column : 0) * In1::stride(0), k,
               column < kColumns && k < kLength, held[i]);
    }
  }
  static AICF_DEVICE void FetchRun(const u8* row, index_t k, bool valid, tile_t (&run)[kRun]) {
    if constexpr (BlockOf<kFormat>::kElements == 1) {
#pragma unroll
      for (int j = 0; j < kRun; ++j) {
        float one[1] = {0.0f};
        if (valid && k + j < kLength) DecodeRun<kFormat>(row, k + j, one);
        run[j] = ToTile<tile_t>(one[0]);
      }
    } else {
      float values[kRun] = {};
      if (valid) DecodeRun<kFormat>(row, k, values);
#pragma unroll
      for (int j = 0; j < kRun; ++j) run[j] = ToTile<tile_t>(values[j]);
    }
  }

  AICF_DEVICE void Commit(int thread, tile_t* tile) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int run = RunOfThread(thread, i);
      if (IsIdle(run)) break;
      tile_t* to = tile + run / kTileN * kRun * kPitchB + run % kTileN;
#pragma unroll
      for (int j = 0; j < kRun; ++j) to[j * kPitchB] = held[i][j];
    }
  }
};

}  // namespace aicf
