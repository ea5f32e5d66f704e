// A thread's part of an image: where it is, and its elements in registers where those suffice.
// Included by cluster.cuh, whose constants say how the image is cut.
#pragma once

namespace aicf {

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

}  // namespace aicf
