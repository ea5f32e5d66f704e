// One stage of a Hopper product in shared memory: a tile of A (kTileM rows of m) and a tile of B
// (kTileN columns of n) over kTileK of k, as the copy engine writes them and the tensor cores read
// them. The instance defines kTileM, kTileN, kTileK, kStages, kConsumers, kSwap, kPingPong and
// kSplit: see gemm/hopper.cuh; kHeldB: see conv/hopper.cuh.
#pragma once

#include "common/enums.cuh"
#include "common/tma.cuh"
#include "common/wgmma_bytes.cuh"

namespace aicf {

typedef In0::S tile_t;  ///< elements of A; those of B have as many bytes
template <class T>
constexpr bool kIsByteInteger = kSame<T, i8> || kSame<T, u8>;
constexpr bool kIntegers = kIsByteInteger<In0::S> && kIsByteInteger<In1::S>;
constexpr bool kFloat8 = kSame<tile_t, f8e4m3fn> || kSame<tile_t, f8e5m2>;
static_assert(kIntegers || kSame<In0::S, In1::S>, "both operands have one type, or are of 8 bits");
static_assert(kIntegers || kSame<tile_t, bf16> || kSame<tile_t, f16> ||
                  (kFloat8 && kMath == kFp8) || (kSame<tile_t, float> && kMath == kTf32),
              "multiplies bf16, f16, integers of 8 bits, float8, and f32 as tf32");
typedef Either<kIntegers, int, float>::T sum_t;
static_assert(kSame<raw_t, sum_t>, "sums are f32, those of integers i32");

// A cluster's blocks share tiles of operands, or, with kSplit above 1, the k of one tile.
constexpr int kSharing = kClusterX / kSplit;  ///< blocks that fetch for each other
static_assert(kSharing * kSplit == kClusterX, "the cluster is whole");
static_assert(kSplit == 1 || kSharing == 1, "blocks share operands or k");
/// The block's rank in its cluster. With kSplit it is also the number of its part of k.
AICF_DEVICE int RankInCluster() { return static_cast<int>(blockIdx.x) % kClusterX; }

/// Size of the pattern of the widest swizzle. Tiles start at a multiple of it.
constexpr int kPatternBytes = 1024;
/// Elements of a line of 128 bytes, the widest one.
constexpr int kLine = 128 / static_cast<int>(sizeof(tile_t));

// The tensor cores' rows run along m or, with kSwap, along n. They multiply 64 of these rows at a
// time but as few as 8 columns, so with kSwap a product with few m wastes little.
constexpr int kRows = kSwap ? kTileN : kTileM;
constexpr int kColumns = kSwap ? kTileM : kTileN;
constexpr int kConsumerRows = kPingPong ? kRows : kRows / kConsumers;
constexpr int kBlocksOfRows = (kConsumerRows + 63) / 64;
/// With kCutsRows the last of the 64 rows lie behind the tile: whatever shared memory has there is
/// multiplied, too, and nobody reads those sums (kSharedBytes in common/hopper_product.cuh: the
/// memory is the block's).
constexpr bool kCutsRows = kConsumerRows % 64 != 0;
static_assert(!kCutsRows || (kSwap && kConsumers == 1 && kConsumerRows % 16 == 0),
              "the only consumer has all rows of a tile");
static_assert(kPingPong || kConsumerRows * kConsumers == kRows, "consumers share the rows evenly");

/// Bytes of a stage that one row of A (one m) or one column of B (one n) takes, whichever way the
/// lines run.
constexpr int kRowBytes = kTileK * static_cast<int>(sizeof(tile_t));
static_assert(kRowBytes == 128 || kRowBytes == 64 || kRowBytes == 32, "k is one line");
constexpr int kStageSteps = kRowBytes / 32;  ///< products along k

/// With kHeldB a block fetches all of B once, kHeldB tiles of it, and holds them for all its tiles
/// of the output. Stages then consist of A alone.
constexpr bool kHoldsB = kHeldB > 0;
constexpr int kTileBytesB = kTileN * kRowBytes;
constexpr int kHeldBytes = kHeldB * kTileBytesB;
static_assert(!kHoldsB || kTileBytesB % kPatternBytes == 0, "stages begin where a pattern does");
static_assert(!kHoldsB || kClusterX == 1, "blocks that hold B share nothing");
constexpr int kStageBytesB = kHoldsB ? 0 : kTileBytesB;
constexpr int kStageBytes =
    (kTileM * kRowBytes + kStageBytesB + kPatternBytes - 1) / kPatternBytes * kPatternBytes;

/// Adds the products of one step to a warpgroup's sums of 64 rows. x names the operand that has the
/// tensor cores' rows, y the one that has their columns (OperandAt). kAcrossX and kAcrossY are 1
/// where the lines of that operand run across k.
template <int kAcrossX, int kAcrossY, int N = kColumns>
AICF_DEVICE void AddProducts(sum_t (&sums)[N / 2], u64 x, u64 y, int add) {
  typedef typename Either<kSwap, In1::S, In0::S>::T X;
  typedef typename Either<kSwap, In0::S, In1::S>::T Y;
  if constexpr (sizeof(tile_t) == 1)
    ByteProducts<N>::Add(ByteOperands<X, Y>{}, sums, x, y, add);
  else
    Products<N>::template Add<kAcrossX, kAcrossY>(tile_t{}, sums, x, y, add);
}

/// One operand's part of a stage. Its lines run along k and have kRowBytes each, or they run across
/// k, along m or n. Across k the tile is made of panels of 64 m or n, each with kTileK lines of 128
/// bytes.
template <bool kAlongK_>
struct StageOperand {
  static constexpr bool kAlongK = kAlongK_;
  static constexpr int kLineBytes = kAlongK ? kRowBytes : 128;
  static_assert(kAlongK || sizeof(tile_t) == 2, "only 16-bit operands may lie across k");
  /// Columns of a run in B of a product of two halves (kProductHalves). In a tile runs of the first
  /// half alternate with runs of the second, so that a thread that has the sum of a column has that
  /// of the other half's column as well.
  static constexpr int kHalfRun = kAlongK ? 8 : kLine;

  /// Bytes from one step of products along k to the next.
  static constexpr int kStepBytes = kAlongK ? 32 : kTileK / kStageSteps * kLineBytes;
  /// Names the tile for AddProducts, or its part that begins at a multiple of 64 rows or of a block
  /// of lines.
  static AICF_DEVICE u64 Operand(unsigned tile) {
    return OperandAt<kLineBytes>(tile, kAlongK ? 16 : kTileK * kLineBytes, 8 * kLineBytes);
  }
};

/// StageScales of a product without scales of blocks. Those that lie beside a stage are in
/// gemm/block_scales.cuh.
struct NoScales {
  static constexpr bool kLines = false;
  static constexpr int kFloats = 0, kWarps = 0, kArrivals = 0;

  AICF_DEVICE void ReadRows(const float*, int) {}
  AICF_DEVICE void ReadColumns(const float*) {}
  AICF_DEVICE float Of(int) const { return 1; }
};

/// Moments of a product whose epilogue does not see the moments of A's rows. Where it does:
/// gemm/row_moments.cuh and gemm/part_moments.cuh.
struct NoMoments {
  static constexpr bool kSeen = false, kReadsStages = false;
  static constexpr int kRaws = 0, kFloats = 0;

  template <class Walk>
  AICF_DEVICE void Begin(const Args&, const Walk&, int) {}
  AICF_DEVICE void AddStage(unsigned) {}
  static AICF_DEVICE void Meet(int) {}
  AICF_DEVICE void Finish(float*) {}
  template <class Walk>
  AICF_DEVICE void Store(const Args&, const Walk&, int, const float*) const {}
};

/// Parts of a product that does not store the moments of parts of its results. Where it does:
/// gemm/store_parts.cuh.
struct NoParts {
  static constexpr bool kStored = false;
  static constexpr int kFloats = 0;

  template <int V>
  static AICF_DEVICE void Add(const Args&, const float (&)[V], bool, index_t, index_t, index_t, int,
                              float*) {}
  template <class LineOf>
  static AICF_DEVICE void Join(const Args&, int, index_t, const LineOf&, index_t, const float*) {}
};

AICF_DEVICE constexpr index_t TilesIn(index_t extent, index_t tile) {
  return extent > 0 ? (extent - 1) / tile + 1 : 1;
}

}  // namespace aicf
