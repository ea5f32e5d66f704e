// cuda.excite.cluster: one cluster of blocks per image, which reads and writes the image once; it
// reads it twice where registers cannot keep it (kKeep). kChannelParts x kPositionParts blocks
// share the image: a block has a slice of the channels at a part of the positions, and its threads
// along x walk the slice in vectors of kVector and then the positions. The blocks of one slice send
// each other their sums over positions, so that each block gets all sums for its own share of the
// slice's channels. From the means of its share a block computes a part of every hidden unit, and
// sends it to all blocks. Values are sent straight into the other block's shared memory. The
// weights of both products are loaded while x is.
#pragma once

#include "common/block.cuh"
#include "common/inbox.cuh"

namespace aicf {

constexpr bool kIsEmpty = kOutputCount0 == 0 || kOutputCount1 == 0 || kOutputCount2 == 0;
constexpr index_t kChannels = kOutputCount0 > 0 ? kOutputCount0 : 1;
constexpr index_t kPositions = kOutputCount1 > 0 ? kOutputCount1 : 1;
constexpr int kHidden = static_cast<int>(In0::extent(0));
static_assert(kClusterX == kChannelParts * kPositionParts, "the launch has a block for each part");
static_assert(kOutputCount0 % kVector == 0, "channels are whole vectors");

AICF_DEVICE constexpr int CeilOf(int a, int b) { return (a + b - 1) / b; }

/// Threads along a block's channels (kLanes), and positions that a block handles at a time
/// (kLines).
constexpr int kLanes = CeilOf(CeilOf(static_cast<int>(kChannels), kVector), kChannelParts);
constexpr int kLines = kBlockX / kLanes;
constexpr int kSlice = kLanes * kVector;
/// Channels whose means a block computes: its share of the slice, in whole vectors.
constexpr int kShare = CeilOf(kLanes, kPositionParts) * kVector;
static_assert(kLines > 0, "a block has a thread for every vector of its slice");
/// kRounds: vectors of the image that a thread handles.
constexpr index_t kRound = static_cast<index_t>(kLines) * kPositionParts;
constexpr index_t kRounds = (kPositions - 1) / kRound + 1;

/// kSpare: bytes of registers that a thread can spend on the image and on weights. kKeep: whether
/// it keeps its part of the image in them. kWeightBytes: how much is left for the weights of each
/// of the two products.
constexpr int kSpare = 4 * (65536 / kBlockX - 56);
typedef Epilogue::Operands<kVector> Held;
constexpr bool kKeep = kRounds * static_cast<index_t>(sizeof(Held)) <= MinOf(256, kSpare);
constexpr int kWeightBytes =
    MinOf(128, (kSpare - (kKeep ? static_cast<int>(kRounds * sizeof(Held)) : 0)) / 2);

/// Layout of the block's shared memory, in floats; each part begins at a multiple of 16 bytes.
AICF_DEVICE constexpr int PartOf(int floats) { return CeilOf(floats, 4) * 4; }
constexpr int kPitch = kSlice | 1;  // neighbouring lines lie in different banks
constexpr int kSumsAt = PartOf(kLines * kPitch);
constexpr int kMeansAt = kSumsAt + PartOf(kPositionParts * kShare);
constexpr int kPartsAt = kMeansAt + PartOf(kShare);
constexpr int kHiddenAt = kPartsAt + PartOf(kClusterX * kHidden);
constexpr int kGatesAt = kHiddenAt + PartOf(kHidden);
static_assert(kDynamicShared >= 4 * (kGatesAt + PartOf(kSlice)),
              "the launch has the shared memory");

AICF_DEVICE float* SharedFloats(int at) { return reinterpret_cast<float*>(DynamicShared()) + at; }

/// Loads N values from shared memory. REQUIRES: their place is a multiple of N.
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

/// Writes `value` to block `rank` of the cluster, at the place where this block has *own.
AICF_DEVICE void SendFloat(Inbox& inbox, float* own, float value, int rank) {
  if constexpr (kClusterX == 1)
    *own = value;
  else
    inbox.Send(own, value, rank);
}

/// Waits until all that was sent to this block has arrived.
AICF_DEVICE void AfterSending(Inbox& inbox) {
  if constexpr (kClusterX > 1)
    inbox.Await();
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

}  // namespace aicf

// The headers below use the constants above.
#include "excite/pixels.cuh"
#include "excite/rows.cuh"

namespace aicf {

/// What blocks send each other: sums over positions, parts of hidden units.
struct Inboxes {
  Inbox sums, units;

  AICF_DEVICE void Open(const Share& at) {
    if constexpr (kPositionParts > 1) {
      const int channels = MaxOf(0, MinOf(kShare, kSlice - at.position_part * kShare));
      sums.Open(4 * kPositionParts * channels);
    }
    units.Open(4 * kClusterX * kHidden);
  }
};

/// Adds up the block's channels over its positions and sends the sums to the blocks of the same
/// slice, each channel's to the block whose share it is in.
AICF_DEVICE void SendSums(const Share& at, Inbox& inbox, const float (&sum)[kVector]) {
  float* const of_lines = SharedFloats(0);
  // Element j of lane l is stored at j * kLanes + l, so that neighbouring lanes write to
  // neighbouring banks.
  if (at.line < kLines) {
#pragma unroll
    for (int j = 0; j < kVector; ++j) of_lines[at.line * kPitch + j * kLanes + at.lane] = sum[j];
  }
  __syncthreads();
  if constexpr (kClusterX > 1) ClusterWait();  // every block has opened its inboxes
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
    if (place >= kSlice || of_group != 0) continue;
    const int channel = place % kLanes * kVector + place / kLanes;
    if constexpr (kPositionParts == 1) {
      SharedFloats(kMeansAt)[channel] = total / static_cast<float>(kPositions);
    } else {
      float* const place = SharedFloats(kSumsAt) + at.position_part * kShare + channel % kShare;
      SendFloat(inbox, place, total, at.channel_part * kPositionParts + channel / kShare);
    }
  }
}

/// Computes the means of the block's share of the channels and stores them in its shared memory.
AICF_DEVICE void FindMeans(Inbox& inbox) {
  if constexpr (kPositionParts > 1) {
    AfterSending(inbox);
    const float* const sums = SharedFloats(kSumsAt);
    for (int c = static_cast<int>(threadIdx.x); c < kShare; c += kBlockX) {
      float sum = sums[c];
#pragma unroll
      for (int part = 1; part < kPositionParts; ++part) sum = sum + sums[part * kShare + c];
      SharedFloats(kMeansAt)[c] = sum / static_cast<float>(kPositions);
    }
  }
  __syncthreads();
}

/// Threads that share a row of weights, which is a hidden unit's or the gate's of a channel: as
/// many as allow for all rows at once, but at least as many as read whole sectors.
AICF_DEVICE constexpr int RowLanesFor(int rows, int length) {
  const int most = CeilOf(MaxOf(1, length), 4);
  return MaxOf(GroupFor(MaxOf(1, rows), most), GroupFor(1, MinOf(8, most)));
}
constexpr int kUnitLanes = RowLanesFor(kHidden, kShare);
constexpr int kGateLanes = RowLanesFor(kSlice, kHidden);
typedef RowsOfWeights<In0, kHidden, kShare, MinOf(kVector, 4), kUnitLanes> FirstWeights;
typedef RowsOfWeights<In1, kSlice, kHidden, 4, kGateLanes> SecondWeights;

AICF_DEVICE int UnitOfThread(int sweep) { return sweep * kBlockX + static_cast<int>(threadIdx.x); }

AICF_DEVICE void Kernel(const Args& args) {
  if constexpr (kIsEmpty) return;
  const Share at;
  __shared__ Inboxes inboxes;
  if constexpr (kClusterX > 1) {
    if (threadIdx.x == 0) inboxes.Open(at);
    ClusterArrive();
  }
  Pixels pixels;
  pixels.Load(args, at);
  const int share0 = at.position_part * kShare;
  const int of_share = MaxOf(0, MinOf(kShare, at.channels - share0));
  const FirstWeights first(args.in[0], 0, at.channel0 + share0, kHidden, of_share);
  const SecondWeights second(args.in[1], at.channel0, 0, at.channels, kHidden);
  constexpr int kUnitSweeps = CeilOf(kHidden, kBlockX);
  MiddleOperands<Hidden, kUnitSweeps> of_hidden;
  of_hidden.Load(args, at, 0, kHidden, UnitOfThread);
  MiddleOperands<Gate, SecondWeights::kSweeps> of_gates;
  of_gates.Load(args, at, at.channel0, at.channels, SecondWeights::Row);
  float sum[kVector] = {};
  pixels.Sum(args, at, sum);
  SendSums(at, inboxes.sums, sum);
  FindMeans(inboxes.sums);

  float* const own_parts =
      SharedFloats(kPartsAt) + static_cast<int>(blockIdx.x) % kClusterX * kHidden;
  first.Multiply(SharedFloats(kMeansAt), [&](int unit, float product, int) {
    if (unit >= kHidden) return;
    for (int rank = static_cast<int>(threadIdx.x) % kUnitLanes; rank < kClusterX;
         rank += kUnitLanes) {
      SendFloat(inboxes.units, own_parts + unit, product, rank);
    }
  });
  AfterSending(inboxes.units);
#pragma unroll
  for (int s = 0; s < kUnitSweeps; ++s) {
    const int unit = UnitOfThread(s);
    if (unit >= kHidden) continue;
    const float* const parts = SharedFloats(kPartsAt) + unit;
    float product = parts[0];
#pragma unroll
    for (int part = 1; part < kClusterX; ++part) product = product + parts[part * kHidden];
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
