// A column of results of a product with few rows, as one thread computes it. As for gemm/rows.cuh,
// the including source has defined kPiece.
#pragma once

#include "gemm/rows.cuh"

namespace aicf {

/// A column of results and the operands of its epilogue. Load() asks for these before the sums are
/// complete, so that their latency overlaps with that of the sums.
struct Column {
  Epilogue::Operands<1> held[kM];
  index_t n, batch;

  AICF_DEVICE Column(index_t n, index_t batch) : n(n), batch(batch) {}
  AICF_DEVICE Column(const Args& args, index_t n, index_t batch) : Column(n, batch) { Load(args); }

  AICF_DEVICE void Load(const Args& args) {
#pragma unroll
    for (int m = 0; m < kM; ++m) held[m].Load(args, kRowsInner ? m : n, kRowsInner ? n : m, batch);
  }
  AICF_DEVICE void Store(const Args& args, const float (&sum)[kProductHalves][kM]) const {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      raw_t raw[kProductHalves];
#pragma unroll
      for (int h = 0; h < kProductHalves; ++h) raw[h] = sum[h][m];
      Epilogue::Store<1>(args, raw, held[m], kRowsInner ? m : n, kRowsInner ? n : m, batch);
    }
  }
};

}  // namespace aicf
