// cuda.excite.cluster: one cluster of blocks per image, which reads and writes the image once.
// kChannelParts x kPositionParts blocks share it: a block has a slice of the channels at a part of
// the positions, threads along x walk the slice in vectors of kVector and then the positions. What
// blocks know of the same channels (sums over positions) and of different ones (parts of the hidden
// units) they write into each other's shared memory. The two products' weights are on their way
// while x is: they depend on no step before this one more than x does.
#pragma once

#include "common/block.cuh"

namespace aicf {

constexpr bool kIsEmpty = kOutputCount0 == 0 || kOutputCount1 == 0 || kOutputCount2 == 0;
constexpr index_t kChannels = kOutputCount0 > 0 ? kOutputCount0 : 1;
constexpr index_t kPositions = kOutputCount1 > 0 ? kOutputCount1 : 1;
constexpr int kHidden = static_cast<int>(In0::extent(0));
static_assert(kClusterX == kChannelParts * kPositionParts, "the launch has a block for each part");
static_assert(kOutputCount0 % kVector == 0, "channels are whole vectors");

/// Threads along a block's channels, and lines of positions at a time.
constexpr int kLanes = static_cast<int>((kChannels / kVector - 1) / kChannelParts + 1);
constexpr int kLines = kBlockX / kLanes;
constexpr int kSlice = kLanes * kVector;
static_assert(kLines > 0, "a block has a thread for every vector of its slice");
/// Vectors of a thread.
constexpr index_t kRound = static_cast<index_t>(kLines) * kPositionParts;
constexpr index_t kRounds = (kPositions - 1) / kRound + 1;

/// Bytes of registers that a thread has for what it keeps of the image, and of the weights.
constexpr int kSpare = 4 * (65536 / kBlockX - 56);
typedef Epilogue::Operands<kVector> Held;
constexpr bool kKeep = kRounds * static_cast<index_t>(sizeof(Held)) <= MinOf(256, kSpare);
constexpr int kWeightBytes =
    MinOf(64, (kSpare - (kKeep ? static_cast<int>(kRounds * sizeof(Held)) : 0)) / 2);

AICF_DEVICE constexpr int CeilOf(int a, int b) { return (a + b - 1) / b; }

/// The block's shared memory, in floats; each part begins at 16 bytes.
AICF_DEVICE constexpr int PartOf(int floats) { return CeilOf(floats, 4) * 4; }
constexpr int kPitch = kSlice | 1;  // neighbouring lines lie in different banks
constexpr int kSumsAt = PartOf(kLines * kPitch);
constexpr int kMeansAt = kSumsAt + PartOf(kPositionParts * kSlice);
constexpr int kPartsAt = kMeansAt + PartOf(kSlice);
constexpr int kHiddenAt = kPartsAt + PartOf(kChannelParts * kHidden);
constexpr int kGatesAt = kHiddenAt + PartOf(kHidden);
static_assert(kDynamicShared >= 4 * (kGatesAt + PartOf(kSlice)),
              "the launch has the shared memory");

AICF_DEVICE float* SharedFloats(int at) { return reinterpret_cast<float*>(DynamicShared()) + at; }

/// N values from a place of the shared memory that is a multiple of N.
template <int N>
AICF_DEVICE void LoadFloats(const float* from, float* to) {
  constexpr int kPiece = MinOf(N, 4);
#pragma unroll
  for (int i = 0; i < N; i += kPiece) {
    const Pack<float, kPiece> pack = *reinterpret_cast<const Pack<float, kPiece>*>(from + i);
#pragma unroll
    for (int j = 0; j < kPiece; ++j) to[i + j] = pack.v[j];
  }
}

/// Writes to *own in block `rank` of the cluster, one of kParts that need the value.
template <int kParts>
AICF_DEVICE void SendFloat(float* own, float value, int rank) {
  if constexpr (kParts == 1)
    *own = value;
  else
    StoreClusterWord(own, __float_as_uint(value), rank);
}

/// Between what blocks send and what they read.
template <int kParts>
AICF_DEVICE void AfterSending() {
  if constexpr (kParts > 1)
    ClusterBarrier();
  else
    __syncthreads();
}

/// The largest power of two that is at most `most`, at most 32, and for which `lines` lines of so
/// many threads fit into the block.
AICF_DEVICE constexpr int GroupFor(int lines, int most) {
  int group = 1;
  while (group < 32 && 2 * group <= most && 2 * group * lines <= kBlockX) group *= 2;
  return group;
}

/// The sum over neighbouring lanes, in all of them.
template <int kGroup>
AICF_DEVICE float SumOfGroup(float value) {
#pragma unroll
  for (int step = kGroup / 2; step > 0; step /= 2) value = value + ShuffleXor(value, step);
  return value;
}

/// Where the thread is in its image.
struct Share {
  index_t image;
  int channel_part, position_part;
  index_t channel0;  ///< of the block
  int channels;      ///< of the block: the last slice may be shorter
  int lane, line;

  AICF_DEVICE Share() {
    const int rank = static_cast<int>(blockIdx.x) % kClusterX;
    image = static_cast<index_t>(blockIdx.x) / kClusterX;
    channel_part = rank / kPositionParts;
    position_part = rank % kPositionParts;
    channel0 = static_cast<index_t>(channel_part) * kSlice;
    const index_t left = kChannels - channel0;
    channels = left < 0 ? 0 : left < kSlice ? static_cast<int>(left) : kSlice;
    lane = static_cast<int>(threadIdx.x) % kLanes;
    line = static_cast<int>(threadIdx.x) / kLanes;
  }
  AICF_DEVICE index_t Channel() const { return channel0 + lane * kVector; }
  AICF_DEVICE index_t Position(index_t round) const {
    return (round * kPositionParts + position_part) * kLines + line;
  }
  AICF_DEVICE bool Has(index_t round) const {
    return line < kLines && lane * kVector < channels && Position(round) < kPositions;
  }
};

/// The thread's part of the image, in registers where they suffice.
struct Pixels {
  Held held[kKeep ? kRounds : 1];

  AICF_DEVICE void Load(const Args& args, const Share& at) {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t r = 0; r < kRounds; ++r) {
        if (at.Has(r)) held[r].Load(args, at.Channel(), at.Position(r), at.image);
      }
    }
  }

  static AICF_DEVICE void Add(const HeldRun<Excited, kVector>& run, float (&sum)[kVector]) {
    float x[kVector];
    run.To(x);
#pragma unroll
    for (int j = 0; j < kVector; ++j) sum[j] = sum[j] + x[j];
  }
  AICF_DEVICE void Sum(const Args& args, const Share& at, float (&sum)[kVector]) const {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t r = 0; r < kRounds; ++r) {
        if (at.Has(r)) Add(ExcitedOf<kVector>(held[r]), sum);
      }
    } else {
      constexpr int kUnroll = 4;
      for (index_t r = 0; r < kRounds; r += kUnroll) {
        HeldRun<Excited, kVector> run[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          if (!at.Has(r + u)) continue;
          run[u].Load(args.in[kExcited], at.Channel(), at.Position(r + u), at.image);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          if (at.Has(r + u)) Add(run[u], sum);
        }
      }
    }
  }

  AICF_DEVICE void Store(const Args& args, const Share& at, const float (&gate)[kVector]) const {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t r = 0; r < kRounds; ++r) {
        if (!at.Has(r)) continue;
        Epilogue::Store<kVector>(args, gate, held[r], at.Channel(), at.Position(r), at.image);
      }
    } else {
      for (index_t r = 0; r < kRounds; ++r) {
        if (!at.Has(r)) continue;
        Epilogue::Store<kVector>(args, gate, at.Channel(), at.Position(r), at.image);
      }
    }
  }
};

/// A matrix [rows, k] times the values of k, each row by kRowLanes neighbouring threads: the
/// weights that a thread multiplies, loaded ahead where its registers suffice. W: the operand's
/// view.
template <class W, int kRows, int kLength, int kMostPiece, int kRowLanes>
struct RowsOfWeights {
  typedef typename W::S S;
  /// As wide as one step of all lanes needs it.
  static AICF_DEVICE constexpr int Piece() {
    int piece = 1;
    while (2 * piece <= MinOf(W::run(1), kMostPiece) && kLength % (2 * piece) == 0 &&
           piece * kRowLanes < kLength) {
      piece *= 2;
    }
    return piece;
  }
  static constexpr int kPiece = Piece();
  static constexpr int kAtOnce = kBlockX / kRowLanes;  ///< rows
  static constexpr int kSweeps = CeilOf(kRows, kAtOnce);
  static constexpr int kSteps = CeilOf(kLength, kPiece* kRowLanes);
  typedef Pack<S, kPiece> Vector;
  static constexpr bool kAhead =
      kSweeps * kSteps * static_cast<int>(sizeof(Vector)) <= kWeightBytes;
  /// A thread multiplies the same values for all its rows.
  static constexpr bool kKnown = kSteps * kPiece <= 32;

  const S* from;     ///< of row 0 and k 0
  int rows, length;  ///< at most kRows and kLength
  Vector held[kAhead ? MaxOf(1, kSweeps* kSteps) : 1];

  static AICF_DEVICE int Row(int sweep) {
    return sweep * kAtOnce + static_cast<int>(threadIdx.x) / kRowLanes;
  }
  static AICF_DEVICE int K(int step) {
    return (step * kRowLanes + static_cast<int>(threadIdx.x) % kRowLanes) * kPiece;
  }
  AICF_DEVICE bool Has(int sweep, int step) const { return Row(sweep) < rows && K(step) < length; }
  AICF_DEVICE Vector At(int sweep, int step) const {
    return *reinterpret_cast<const Vector*>(from + Row(sweep) * W::stride(0) +
                                            K(step) * W::stride(1));
  }

  AICF_DEVICE RowsOfWeights(const void* base, index_t row0, index_t k0, int r, int l)
      : rows(r), length(l) {
    from = static_cast<const S*>(base) + W::kOffset + row0 * W::stride(0) + k0 * W::stride(1);
    if constexpr (kAhead) {
#pragma unroll
      for (int i = 0; i < kSweeps * kSteps; ++i) {
        if (Has(i / kSteps, i % kSteps)) held[i] = At(i / kSteps, i % kSteps);
      }
    }
  }

  static AICF_DEVICE float Added(const Vector& w, const float* values, float sum) {
#pragma unroll
    for (int j = 0; j < kPiece; ++j) sum = fmaf(Widen(w.v[j]), values[j], sum);
    return sum;
  }

  /// Calls f(row, sum, sweep) in all threads of a row's lanes, those of no row included.
  template <class F>
  AICF_DEVICE void Multiply(const float* values, F&& f) const {
    float known[kKnown ? MaxOf(1, kSteps * kPiece) : 1];
    if constexpr (kKnown) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (K(step) < length) LoadFloats<kPiece>(values + K(step), known + step * kPiece);
      }
    }
#pragma unroll(kAhead ? MaxOf(1, kSweeps) : 1)
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      float sum = 0;
#pragma unroll
      for (int step = 0; step < MinOf(kSteps, kKnown ? kSteps : 0); ++step) {
        if (!Has(sweep, step)) continue;
        const Vector w = kAhead ? held[kAhead ? sweep * kSteps + step : 0] : At(sweep, step);
        sum = Added(w, known + (kKnown ? step * kPiece : 0), sum);
      }
#pragma unroll 4
      for (int step = 0; step < (kKnown ? 0 : kSteps); ++step) {
        if (Has(sweep, step)) sum = Added(At(sweep, step), values + K(step), sum);
      }
      f(Row(sweep), SumOfGroup<kRowLanes>(sum), sweep);
    }
  }
};

/// Sums of the block's channels over its positions, sent to all blocks that have these channels.
AICF_DEVICE void SendSums(const Share& at, const float (&sum)[kVector]) {
  float* const of_lines = SharedFloats(0);
  // Element j of lane l in place j * kLanes + l: neighbouring lanes write to neighbouring banks.
  if (at.line < kLines) {
#pragma unroll
    for (int j = 0; j < kVector; ++j) of_lines[at.line * kPitch + j * kLanes + at.lane] = sum[j];
  }
  __syncthreads();
  if constexpr (kClusterX > 1) ClusterWait();  // every block has begun
  constexpr int kGroup = GroupFor(kSlice, kLines);
  const int of_group = static_cast<int>(threadIdx.x) % kGroup;
  for (int base = 0; base < kSlice; base += kBlockX / kGroup) {
    const int place = base + static_cast<int>(threadIdx.x) / kGroup;
    float total = 0;
    if (place < kSlice) {
      for (int line = of_group; line < kLines; line += kGroup) {
        total = total + of_lines[line * kPitch + place];
      }
    }
    total = SumOfGroup<kGroup>(total);
    if (place >= kSlice) continue;
    const int channel = place % kLanes * kVector + place / kLanes;
    float* const own = SharedFloats(kSumsAt) + at.position_part * kSlice + channel;
    for (int part = of_group; part < kPositionParts; part += kGroup) {
      SendFloat<kPositionParts>(own, total, at.channel_part * kPositionParts + part);
    }
  }
}

AICF_DEVICE void FindMeans() {
  const float* const sums = SharedFloats(kSumsAt);
  for (int c = static_cast<int>(threadIdx.x); c < kSlice; c += kBlockX) {
    float sum = sums[c];
#pragma unroll
    for (int part = 1; part < kPositionParts; ++part) sum = sum + sums[part * kSlice + c];
    SharedFloats(kMeansAt)[c] = sum / static_cast<float>(kPositions);
  }
  __syncthreads();
}

/// Threads of a hidden unit, and of a channel's gate: all, or as many as read whole sectors.
AICF_DEVICE constexpr int RowLanesFor(int rows, int length) {
  const int most = CeilOf(MaxOf(1, length), 4);
  return MaxOf(GroupFor(MaxOf(1, rows), most), GroupFor(1, MinOf(8, most)));
}
constexpr int kUnitLanes = RowLanesFor(kHidden, kSlice);
constexpr int kGateLanes = RowLanesFor(kSlice, kHidden);
typedef RowsOfWeights<In0, kHidden, kSlice, MinOf(kVector, 4), kUnitLanes> FirstWeights;
typedef RowsOfWeights<In1, kSlice, kHidden, 4, kGateLanes> SecondWeights;

/// What the expression of row i reads beside its product, held by the thread that applies it.
template <class Middle, int kSweeps>
struct MiddleOperands {
  static constexpr bool kAhead = kSweeps <= 2;
  typename Middle::Operands held[kAhead ? MaxOf(1, kSweeps) : 1];

  /// `row(sweep)`: the row of a sweep; of `rows`, counted from `first`.
  template <class Row>
  AICF_DEVICE void Load(const Args& args, const Share& at, index_t first, int rows, Row&& row) {
    if constexpr (kAhead) {
#pragma unroll
      for (int s = 0; s < kSweeps; ++s) {
        if (row(s) < rows) held[s] = Middle::Load(args, at.image, first + row(s));
      }
    }
  }
  AICF_DEVICE float Of(const Args& args, const Share& at, float product, index_t i,
                       int sweep) const {
    if constexpr (kAhead)
      return Middle::Of(held[sweep], product, at.image, i);
    else
      return Middle::Of(Middle::Load(args, at.image, i), product, at.image, i);
  }
};

AICF_DEVICE int UnitOfThread(int sweep) { return sweep * kBlockX + static_cast<int>(threadIdx.x); }

AICF_DEVICE void Kernel(const Args& args) {
  if constexpr (kIsEmpty) return;
  if constexpr (kClusterX > 1) ClusterArrive();
  const Share at;
  Pixels pixels;
  pixels.Load(args, at);
  const FirstWeights first(args.in[0], 0, at.channel0, kHidden, at.channels);
  const SecondWeights second(args.in[1], at.channel0, 0, at.channels, kHidden);
  constexpr int kUnitSweeps = CeilOf(kHidden, kBlockX);
  MiddleOperands<Hidden, kUnitSweeps> of_hidden;
  of_hidden.Load(args, at, 0, kHidden, UnitOfThread);
  MiddleOperands<Gate, SecondWeights::kSweeps> of_gates;
  of_gates.Load(args, at, at.channel0, at.channels, SecondWeights::Row);
  float sum[kVector] = {};
  pixels.Sum(args, at, sum);
  SendSums(at, sum);
  AfterSending<kPositionParts>();
  FindMeans();

  float* const own_parts = SharedFloats(kPartsAt) + at.channel_part * kHidden;
  first.Multiply(SharedFloats(kMeansAt), [&](int unit, float product, int) {
    if (unit >= kHidden) return;
    const int lane = static_cast<int>(threadIdx.x) % kUnitLanes;
    for (int part = lane; part < kChannelParts; part += kUnitLanes) {
      SendFloat<kChannelParts>(own_parts + unit, product, part * kPositionParts + at.position_part);
    }
  });
  AfterSending<kChannelParts>();
#pragma unroll
  for (int s = 0; s < kUnitSweeps; ++s) {
    const int unit = UnitOfThread(s);
    if (unit >= kHidden) continue;
    const float* const parts = SharedFloats(kPartsAt) + unit;
    float product = parts[0];
#pragma unroll
    for (int part = 1; part < kChannelParts; ++part) product = product + parts[part * kHidden];
    SharedFloats(kHiddenAt)[unit] = of_hidden.Of(args, at, product, unit, s);
  }
  __syncthreads();

  float* const gates = SharedFloats(kGatesAt);
  second.Multiply(SharedFloats(kHiddenAt), [&](int row, float product, int sweep) {
    if (row >= at.channels || threadIdx.x % kGateLanes != 0) return;
    gates[row] = of_gates.Of(args, at, product, at.channel0 + row, sweep);
  });
  __syncthreads();
  float gate[kVector];
  LoadFloats<kVector>(gates + at.lane * kVector, gate);
  pixels.Store(args, at, gate);
}

}  // namespace aicf
