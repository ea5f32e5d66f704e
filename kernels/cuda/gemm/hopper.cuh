// cuda.gemm.hopper: out[b, m, n] = epilogue(sum_k A[b, m, k] * B[b, k, n]) by Hopper's warpgroup
// products (wgmma) and its bulk tensor copy engine. One warpgroup (the producer) asks the copy
// engine for tiles of A and B, up to kStages of them ahead; kConsumers warpgroups multiply them out
// of shared memory. Blocks are persistent: each takes one output tile after the other, so that the
// copies for its next tile run during the epilogue of the current one. Blocks of a cluster share
// operand tiles: each fetches a part and sends it to all blocks that need it. With kSplit above 1
// they divide the k of one output tile instead, and each finishes a part of that tile from the sums
// of all blocks (common/hopper_split.cuh).
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kTileM, kTileN, kTileK  the block's tile
//   kStages                 tiles in flight
//   kAhead                  1: B is a constant, and copies of it begin before the wait for the
//                           preceding kernel (WaitForPredecessors)
//   kSplit                  blocks of a cluster that divide k among them; where it is 1, they share
//                           operand tiles, with
//   kClusterM               blocks of the cluster along m, and kClusterX / kClusterM along n
//   kConsumers              warpgroups that multiply
//   kGroupM                 rows of cluster tiles that are walked together (1 or more)
//   kSwap                   1: the rows of the tensor cores' tile run along n instead of m (for few
//                           m, and the faster choice for an output that is contiguous along m)
//   kPingPong               1: every consumer has tiles of its own, and the epilogue of one runs
//                           while another multiplies; 0: consumers divide the rows of one tile
//   kPromote                1: the sums of every stage are added up in f32 outside of the tensor
//                           cores, for float8; 0: the tensor cores accumulate over all of k
//   attr_scale_terms        128: operands have scales of blocks (GemmAttrs), which the producer
//                           puts beside each stage (gemm/scale_fetch.cuh); 0: none
//   AICF_SEES_MOMENTS  a macro, 1: the epilogue has the moments of A's rows (GemmAttrs) as two more
//                      raw inputs. The consumers sum them up from A (gemm/row_moments.cuh), unless
//                      there is AICF_READS_PARTS. MomentsView is the view of the last output, where
//                      the moments are stored, too, with attr_stores_moments
//   AICF_READS_PARTS   a macro, 1: consumers compute these moments from those of the rows' parts
//                      instead, which are In2 (gemm/part_moments.cuh)
//   AICF_STORES_PARTS  a macro, 1: the moments of parts of 64 (attr_part_columns) results of a row
//                      are stored, too (gemm/store_parts.cuh), in PartsView, the view of the
//                      last output
//   TensorMap               alignas(64), 128 bytes
//   Args::map               addresses of the tensor maps of A and of B
//
// Tensor maps. Rank 3, element type that of the operand (f32: TFLOAT32, which rounds on the way),
// no interleaving, 128-byte swizzle, zeros outside, element strides 1, 1, 1. The base address
// includes the view's offset. `peers` is the number of blocks that share a tile of the operand: 1
// with kSplit above 1, otherwise kClusterX / kClusterM for A and kClusterM for B. With tile =
// kTileM for A and kTileN for B (mn stands for m in A and for n in B):
//   stride of k is 1:              extents {k, mn, batch}, strides of mn and batch in bytes,
//                                  box {kTileK, tile / peers, 1}
//   otherwise, stride of mn is 1:  extents {mn, k, batch}, strides of k and batch in bytes,
//                                  box {64, kTileK, 1}, or, where tile / 64 is not a multiple of
//                                  peers, {64, kTileK / peers, 1}
// B of a product of two halves (kProductHalves, N columns each), its stride of k 1:
//                                  extents {k, 8, 2, N / 8, batch}, strides those of n, of N times
//                                  n, of 8 times n and of the batch in bytes, element strides of 1,
//                                  box {kTileK, 8, 2, kTileN / 16 / peers, 1}
// The batch axis walks the output's batch in the order of the output's memory. One stride has to
// walk it in the operand; where all batch strides of the operand are 0, one matrix serves the whole
// batch, and the axis has extent 1. An axis with one element may have any legal stride.
//
// Illegal, and for the host to refuse:
//   - operands that are not both bf16, both f16, both f32 under tf32, both f8e4m3fn or both f8e5m2
//     under fp8, each with sums in f32, or each i8 or u8 with sums in i32
//   - no k; no axis of stride 1 among k and mn; elements of other than 16 bits with the stride of k
//     other than 1
//   - an address, or a stride of an axis with several elements other than the innermost, that is
//     not a multiple of 16 bytes; negative strides; strides of 2^40 bytes and more; extents above
//     2^31 - 1 - 512; batch axes that one stride does not walk
//   - kTileK other than 128 bytes of elements
//   - kTileN (kSwap: kTileM) not among 8, 16, 32, 64, 96, 128, 160, 192, 256
//   - kPromote other than 0 for operands that are not float8
//   - kTileM (kSwap: kTileN) not a multiple of 64 * kConsumers (kPingPong: of 64); but in
//     gemm/stream_rows.cuh, for an output that is not contiguous along m, a kTileN not a multiple
//     of 16
//   - more sums of a thread, ceil(rows of a consumer / 64) * (columns / 2), than fit its registers:
//     160 with 1 or 2 consumers, 96 with 3; with kPromote, which holds a stage's sums of 64 rows
//     beside them and counts these, too, 192 and 128
//   - along k: tile / peers not a multiple of 8 or above 256; across k: tile not a multiple of
//     64
//   - two halves: an N that is no multiple of 8; along k tile / peers not a multiple of 16;
//     across k kTileN not a multiple of 128, kSwap
//   - kClusterX above 8 or not a multiple of kClusterM, clusters in both directions (kClusterM and
//     kClusterX / kClusterM both above 1), a grid that is not whole clusters
//   - kPingPong with fewer than 2 consumers, or with kSplit above 1
//   - kSplit above 1 and other than kClusterX, with kClusterM above 1, or above the steps of k
//   - threads other than 128 * (kConsumers + 1), kConsumers outside 1 to 3
//   - scales that are not in f32, not of 128 terms, not of 1 or 128 columns, or of operands other
//     than float8. With scales: kSwap, kPromote 0, two halves, blocks that share operands. With
//     scales of 1 column: more than 192 (3 consumers: 128) sums and scales of a thread together,
//     of which kTileN / 4 are scales
//   - moments (AICF_SEES_MOMENTS) with operands of other than 16 bits, or together with scales.
//     With moments that are summed up from A, not made of parts: an A whose lines do not run along
//     k, kSwap, kSplit above 1
//   - stored parts of other than 64 columns. With stored parts: two halves, an output contiguous
//     along m, a kVector of 1, a kTileN that is no multiple of 64 and, with kSwap and kSplit 1, a
//     kTileM that is above 64 and no multiple of it
//   - dynamic shared memory below SharedBytes = 1024 + kStages * (kTileM + kTileN) * 128 +
//     kConsumers * 16384 + 16 * kStages, or SharedBytes above 232448. SharedBytes has, with kSplit
//     above 1, HopperStoreBytes instead of 16384; with scales, HopperScaleBytes more for every
//     stage; with moments, 8 bytes more for every row of every consumer (kSwap: kTileM rows); with
//     stored parts, kSwap and kSplit 1, 32 bytes more for each of min(64, kTileM) rows of every
//     consumer
//   - kStages below 2
// Workspace: none. Grid: kClusterX times the number of persistent clusters, any number of them.
#pragma once

#include "gemm/hopper_tile.cuh"

#include "gemm/block_scales.cuh"

namespace aicf {
typedef Either<attr_scale_terms != 0, BlockScales<static_cast<int>(attr_scale_terms)>, NoScales>::T
    StageScales;
}
#if AICF_READS_PARTS
#include "gemm/part_moments.cuh"
#elif AICF_SEES_MOMENTS
#include "gemm/row_moments.cuh"
#endif
#if AICF_STORES_PARTS
#include "gemm/store_parts.cuh"
#endif
namespace aicf {
#if AICF_STORES_PARTS
typedef ResultParts Parts;
#else
typedef NoParts Parts;
#endif
#if AICF_READS_PARTS
typedef PartMoments Moments;
#elif AICF_SEES_MOMENTS
typedef RowMoments Moments;
#else
typedef NoMoments Moments;
#endif
}  // namespace aicf

// The headers below are written in terms of the types above.
#include "common/hopper_product.cuh"
#include "gemm/scale_fetch.cuh"

namespace aicf {

/// The tiles of A and B that the producer requests for one step of k. Next() goes on to the next.
struct Fetch {
  static constexpr int kBytes = kStageBytes;
  static constexpr unsigned kAll = (1u << kSharing) - 1;

  const void *map_a, *map_b;
  int row, column, batch_a, batch_b, rank_m, rank_n, k;

  AICF_DEVICE Fetch(const Args& args, const TileWalk& walk, index_t step)
      : map_a(args.map[0]),
        map_b(args.map[1]),
        row(static_cast<int>(walk.row0)),
        column(static_cast<int>(walk.column0)),
        batch_a(BatchOf<In0>(walk.batch)),
        batch_b(BatchOf<In1>(walk.batch)),
        rank_m(walk.rank_m),
        rank_n(walk.rank_n),
        k(static_cast<int>(step) * kTileK) {}
  AICF_DEVICE void Next() { k += kTileK; }
  AICF_DEVICE void A(unsigned to, unsigned barrier) const {
    TileA::Fetch(map_a, to, barrier, row, k, batch_a, rank_n, kAll);
  }
  AICF_DEVICE void B(unsigned to, unsigned barrier) const {
    TileB::Fetch(map_b, to, barrier, column, k, batch_b, rank_m, kAll);
  }
};

template <class Scales>
AICF_DEVICE void RunWithScales(const Args& args) {
  if constexpr (Scales::kLines)
    RunProduct<FetchWithScales<Scales, Fetch>>(args);
  else if constexpr (Scales::kFloats > 0)
    RunProduct<Fetch>(args, FetchScales<Scales>);
  else
    RunProduct<Fetch>(args);
}
AICF_DEVICE void Kernel(const Args& args) { RunWithScales<StageScales>(args); }

}  // namespace aicf
