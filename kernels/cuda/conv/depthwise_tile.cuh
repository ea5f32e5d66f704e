// cuda.conv.depthwise_tile: one input channel per output channel, channels last, two spatial axes.
// A block computes kTileH x kTileW positions of kTileC channels: it asks at once for all the inputs
// that their windows meet, with zeros outside the image, and for the weights; so it waits for
// memory once. Then each thread computes kPiece neighbouring channels of kPixels neighbouring
// positions of a row from shared memory, one row of taps after the other.
#pragma once

namespace aicf {

constexpr index_t kChannels = Out0::extent(1);
constexpr index_t kHeight = Out0::extent(2), kWidth = Out0::extent(3);
constexpr int kStrideH = static_cast<int>(attr_strides(0));
constexpr int kStrideW = static_cast<int>(attr_strides(1));
constexpr int kDilationH = static_cast<int>(attr_dilations(0));
constexpr int kDilationW = static_cast<int>(attr_dilations(1));
constexpr int kTapsH = static_cast<int>(In1::extent(2)), kTapsW = static_cast<int>(In1::extent(3));

constexpr int kThreads = kBlockX;
constexpr int kPieces = kTileC / kPiece;                   ///< threads along channels
constexpr int kGroups = (kTileW + kPixels - 1) / kPixels;  ///< threads along a row
static_assert(kPieces * kGroups * kTileH <= kThreads, "every position has its thread");

// Inputs in shared memory: lines of columns of kPitch elements, kTileC of which are channels.
constexpr int kPitch = kTileC + kPad;
constexpr int kLines = (kTileH - 1) * kStrideH + (kTapsH - 1) * kDilationH + 1;
constexpr int kColumns = (kGroups * kPixels - 1) * kStrideW + (kTapsW - 1) * kDilationW + 1;
constexpr int kWeights = kTapsH * kTapsW * kTileC;  ///< f32 elements, in front of the inputs
static_assert(kDynamicShared >=
                  kWeights * 4 + static_cast<i64>(sizeof(In0::S)) * kLines * kColumns * kPitch,
              "the launch has the tile's shared memory");
/// Inputs that a thread needs for a row of taps.
constexpr int kSpan = (kPixels - 1) * kStrideW + (kTapsW - 1) * kDilationW + 1;

struct Tile {
  index_t channel, x, y, image;  ///< of its first output
};

AICF_DEVICE Tile TileOf(index_t block) {
  constexpr index_t kAcross = (kChannels + kTileC - 1) / kTileC;
  constexpr index_t kAlong = (kWidth + kTileW - 1) / kTileW;
  constexpr index_t kDown = (kHeight + kTileH - 1) / kTileH;
  return {block % kAcross * kTileC, block / kAcross % kAlong * kTileW,
          block / (kAcross * kAlong) % kDown * kTileH, block / (kAcross * kAlong * kDown)};
}

/// Starts copying the inputs of a tile. A thread keeps to the same channels and column while it
/// walks down the lines, so that it computes their coordinates only once.
AICF_DEVICE void FetchInputs(const Args& args, const Tile& tile, In0::S* inputs) {
  typedef In0::S S;
  constexpr int N = PieceOf<S>(kTileC, In0::run(1));
  constexpr int kChunks = kTileC / N, kBytes = N * static_cast<int>(sizeof(S));
  constexpr int kSlots = kChunks * kColumns;
  constexpr int kLinesAtOnce = MaxOf(1, kThreads / kSlots);
  constexpr int kRounds = (kLines + kLinesAtOnce - 1) / kLinesAtOnce;
  const int thread = static_cast<int>(threadIdx.x), first = thread / kSlots % kLinesAtOnce;
  if (kLinesAtOnce * kSlots < kThreads && thread >= kLinesAtOnce * kSlots) return;
  const S* base = static_cast<const S*>(args.in[0]) + In0::kOffset + tile.image * In0::stride(0);
  const index_t y = tile.y * kStrideH - static_cast<index_t>(attr_pads_begin(0)) + first;
  for (int slot = thread % MinOf(kSlots, kThreads); slot < kSlots; slot += kThreads) {
    const int chunk = slot % kChunks * N, column = slot / kChunks;
    const index_t channel = tile.channel + chunk;
    const index_t x = tile.x * kStrideW - static_cast<index_t>(attr_pads_begin(1)) + column;
    const bool inside = channel < kChannels && x >= 0 && x < In0::extent(3);
    const S* from = base + channel * In0::stride(1) + x * In0::stride(3) + y * In0::stride(2);
    S* to = inputs + (first * kColumns + column) * kPitch + chunk;
#pragma unroll 8
    for (int r = 0; r < kRounds; ++r) {
      const int line = r * kLinesAtOnce;
      if (kLines % kLinesAtOnce != 0 && first + line >= kLines) break;
      const bool valid = inside && y + line >= 0 && y + line < In0::extent(2);
      if constexpr (kBytes >= 4)
        CopyAsync<kBytes>(to + line * kColumns * kPitch,
                          valid ? from + line * In0::stride(2) : base, valid);
      else
        to[line * kColumns * kPitch] = valid ? from[line * In0::stride(2)] : S{};
    }
  }
}

/// The weights of a tile as f32, [taps][channels].
AICF_DEVICE void FetchWeights(const Args& args, const Tile& tile, float* weights) {
  typedef In1::S S;
  constexpr int N = PieceOf<S>(kTileC, In1::run(0));
  constexpr int kChunks = kTileC / N, kStore = MinOf(N, 4);
  const S* base = static_cast<const S*>(args.in[1]) + In1::kOffset;
  for (int i = static_cast<int>(threadIdx.x); i < kTapsH * kTapsW * kChunks; i += kThreads) {
    const int chunk = i % kChunks * N, tap = i / kChunks;
    const index_t channel = tile.channel + chunk;
    Pack<S, N> pack = {};
    if (channel < kChannels) {
      pack = *reinterpret_cast<const Pack<S, N>*>(base + channel * In1::stride(0) +
                                                  tap / kTapsW * In1::stride(2) +
                                                  tap % kTapsW * In1::stride(3));
    }
#pragma unroll
    for (int j = 0; j < N; j += kStore) {
      Pack<float, kStore> wide;
#pragma unroll
      for (int k = 0; k < kStore; ++k) wide.v[k] = Widen(pack.v[j + k]);
      *reinterpret_cast<Pack<float, kStore>*>(weights + tap * kTileC + chunk + j) = wide;
    }
  }
}

/// kPiece neighbouring elements of shared memory.
template <class S>
AICF_DEVICE void LoadPiece(const S* from, float (&to)[kPiece]) {
  constexpr int N = PieceOf<S>(kPiece, kPiece);
#pragma unroll
  for (int j = 0; j < kPiece; j += N) {
    const Pack<S, N> pack = *reinterpret_cast<const Pack<S, N>*>(from + j);
#pragma unroll
    for (int i = 0; i < N; ++i) to[j + i] = Widen(pack.v[i]);
  }
}

/// Adds a row of taps, whose weights begin at `weights`. Tap 0 of pixel 0 reads *inputs.
AICF_DEVICE void AddRow(const In0::S* inputs, const float* weights, float (&sum)[kPixels][kPiece]) {
  float row[kSpan][kPiece];
#pragma unroll
  for (int s = 0; s < kSpan; ++s) LoadPiece(inputs + s * kPitch, row[s]);
#pragma unroll
  for (int t = 0; t < kTapsW; ++t) {
    float weight[kPiece];
    LoadPiece(weights + t * kTileC, weight);
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
#pragma unroll
      for (int j = 0; j < kPiece; ++j) {
        sum[p][j] = fmaf(row[p * kStrideW + t * kDilationW][j], weight[j], sum[p][j]);
      }
    }
  }
}

/// What a thread computes: `x`, `y` and `channel` of its first result, and how many pixels of it
/// are results of the tile.
struct Share {
  int piece, group, row;
  index_t channel, x, y;
  int pixels;

  AICF_DEVICE explicit Share(const Tile& tile) {
    const int thread = static_cast<int>(threadIdx.x);
    piece = thread % kPieces;
    group = thread / kPieces % kGroups;
    row = thread / (kPieces * kGroups);
    channel = tile.channel + piece * kPiece;
    x = tile.x + group * kPixels;
    y = tile.y + row;
    const index_t end = tile.x + kTileW < kWidth ? tile.x + kTileW : kWidth;
    pixels = static_cast<int>(end - x);
    if (row >= kTileH || y >= kHeight || channel >= kChannels) pixels = 0;
  }
  AICF_DEVICE index_t Position(const Tile& tile, int p) const {
    return (tile.image * kHeight + y) * kWidth + x + p;
  }
};

AICF_DEVICE void Kernel(const Args& args) {
  float* weights = reinterpret_cast<float*>(DynamicShared());
  In0::S* inputs = reinterpret_cast<In0::S*>(weights + kWeights);
  const Tile tile = TileOf(static_cast<index_t>(blockIdx.x));
  FetchInputs(args, tile, inputs);
  CopyCommit();
  FetchWeights(args, tile, weights);
  const Share own(tile);
  // The epilogue's operands, unless they take too many registers, are loaded here, so that their
  // latency overlaps with that of the inputs.
  typedef Epilogue::Operands<kPiece> Operands;
  constexpr bool kHeld = sizeof(Operands) * kPixels <= 64;
  Operands held[kHeld ? kPixels : 1];
  if constexpr (kHeld) {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      if (p < own.pixels) held[p].Load(args, own.channel, own.Position(tile, p), 0);
    }
  }
  CopyWait<0>();
  __syncthreads();
  if (own.pixels <= 0) return;
  float sum[kPixels][kPiece] = {};
  const In0::S* from = inputs +
                       (own.row * kStrideH * kColumns + own.group * kPixels * kStrideW) * kPitch +
                       own.piece * kPiece;
  // Not unrolled: every launch fetches the kernel's instructions anew, so few of them are better.
#pragma unroll 1
  for (int t = 0; t < kTapsH; ++t) {
    AddRow(from + t * kDilationH * kColumns * kPitch,
           weights + t * kTapsW * kTileC + own.piece * kPiece, sum);
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    if (p >= own.pixels) break;
    if constexpr (kHeld)
      Epilogue::Store<kPiece>(args, sum[p], held[p], own.channel, own.Position(tile, p), 0);
    else
      Epilogue::Store<kPiece>(args, sum[p], own.channel, own.Position(tile, p));
  }
}

}  // namespace aicf
