// cuda.normalize.lines: layer and RMS norm of groups each of which has a short run of every line in
// memory, as the groups of a group normalisation have where channels are stored next to each other.
// The domain's first group of axes walks a line, its second one the lines, batch after batch. A
// block takes kGroups neighbouring groups. Threads along x walk the stretch that these have of a
// line, in vectors that need not end where a group does; threads along y take kLines lines at a
// time. So a thread has the same few channels in all its lines, loads an epilogue's operands for a
// channel once, and tells groups apart only when it has seen all its lines. The blocks of a cluster
// share the lines and exchange their partial results for each group through their shared memory.
#pragma once

#include "common/block.cuh"
#include "normalize/statistics.cuh"

namespace aicf {

static_assert(attr_kind == kLayerNorm || attr_kind == kRmsNorm, "knows means and squares only");
constexpr int kThreads = kBlockX * kBlockY;
static_assert(kBlockY == kLines && kThreads % 32 == 0, "whole warps walk the lines");
static_assert(kBlockX * kVector % kGroups == 0, "a block has whole groups");

AICF_DEVICE constexpr int GreatestCommonDivisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
AICF_DEVICE constexpr i64 LengthOfGroup() {
  i64 length = 1;
  for (int k = 0; k < attr_axes_count; ++k) length *= In0::extent(static_cast<int>(attr_axes(k)));
  return length;
}

constexpr i64 kLength = LengthOfGroup();
constexpr int kRun = kBlockX * kVector / kGroups;  ///< elements that a group has of a line
constexpr index_t kLinesOfAll = static_cast<index_t>(kLength / kRun);
constexpr index_t kStep = static_cast<index_t>(kLines) * kClusterX;
constexpr index_t kPerThread = (kLinesOfAll + kStep - 1) / kStep;
constexpr index_t kStretches = kDomainCount0 / (kBlockX * kVector);

/// Both runs and vectors begin at multiples of kGrain. This bounds how many runs, and so groups, a
/// vector touches (kParts) and how many vectors touch a run (kVectorsOfRun).
constexpr int kGrain = GreatestCommonDivisor(kRun, kVector);
constexpr int kParts = (kRun - kGrain + kVector - 1) / kRun + 1;            ///< groups of a vector
constexpr int kVectorsOfRun = (kVector - kGrain + kRun - 1) / kVector + 1;  ///< at most

/// The most elements that a thread keeps in registers: as many as its share of the registers has
/// room for.
constexpr int kMostKept = MinOf(64, 65536 / kThreads - 40);
constexpr bool kKeep = kPerThread * kVector <= kMostKept;
/// Whether the epilogue's operands are loaded together with the elements, because their latency
/// would otherwise be added. An operand that is the same in all lines takes registers only once.
constexpr bool kEarly = kKeep && kPerThread * kVector * (kInputs - kCoreInputs) <= 128;

/// What normalises the elements of a group: the value that is subtracted from them, and the
/// divisor.
struct Moments {
  value_t shift;
  Quotient scaled;
};

/// What a block knows of a group from its own elements: their mean, and the sum of their squared
/// distances from it.
struct OfBlock {
  sum_t mean, squares;
};

/// Shared memory: what each thread knows of the groups of its vector, what the block knows of its
/// groups, and what the whole cluster knows of these.
struct Shared {
  Deviations of_threads[kThreads * kParts];
  OfBlock of_block[kGroups];
  Moments of_cluster[kGroups];
};
static_assert(kDynamicShared >= sizeof(Shared), "the launch has the values' shared memory");
AICF_DEVICE Shared& SharedOfBlock() { return *reinterpret_cast<Shared*>(DynamicShared()); }

AICF_DEVICE int RankInCluster() { return static_cast<int>(blockIdx.x) % kClusterX; }

/// Number of elements that block `rank` of the cluster has of one group.
AICF_DEVICE sum_t CountOfBlock(int rank) {
  constexpr index_t kWhole = kLinesOfAll / kStep * kLines, kRest = kLinesOfAll % kStep;
  const index_t rest = kRest - rank * kLines;
  return static_cast<sum_t>((kWhole + (rest < 0 ? 0 : rest < kLines ? rest : kLines)) * kRun);
}

/// The thread's vectors.
struct Stretch {
  const Args& args;
  index_t column;      ///< of the thread's first element, in its line
  index_t batch_line;  ///< first line of the batch
  int place;           ///< of the thread's first element, in its group's run
  value_t kept[kKeep ? kPerThread : 1][kVector];
  Epilogue::Operands<kVector> held[kEarly ? kPerThread : 1];

  AICF_DEVICE explicit Stretch(const Args& a) : args(a) {
    const index_t own = static_cast<index_t>(blockIdx.x) / kClusterX;
    const int in_stretch = static_cast<int>(threadIdx.x) * kVector;
    column = own % kStretches * (kBlockX * kVector) + in_stretch;
    batch_line = own / kStretches * kLinesOfAll;
    place = in_stretch % kRun;
  }

  /// Number of element j's group, counted from the vector's first.
  AICF_DEVICE int PartOf(int j) const {
    if constexpr (kParts == 1) return 0;
    if constexpr (kVector % kRun == 0) return j / kRun;
    return (place + j) / kRun;
  }
  static AICF_DEVICE index_t LineOf(index_t v) {
    return v * kStep + RankInCluster() * kLines + static_cast<index_t>(threadIdx.y);
  }
  static AICF_DEVICE bool Holds(index_t line) {
    return kLinesOfAll % kStep == 0 || line < kLinesOfAll;
  }

  AICF_DEVICE void LoadVector(value_t (&x)[kVector], index_t line) const {
    element_t raw[kVector];
    Prologue::Load<kVector>(args, raw, column, batch_line + line);
#pragma unroll
    for (int j = 0; j < kVector; ++j) x[j] = static_cast<value_t>(raw[j]);
  }
  AICF_DEVICE void Load() {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t v = 0; v < kPerThread; ++v) {
        if (!Holds(LineOf(v))) continue;
        LoadVector(kept[v], LineOf(v));
        if constexpr (kEarly) held[v].Load(args, column, batch_line + LineOf(v), 0);
      }
    }
  }
  /// Calls f(x, line, v) for every vector v of the thread.
  template <class F>
  AICF_DEVICE void Visit(F&& f) {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t v = 0; v < kPerThread; ++v) {
        if (Holds(LineOf(v))) f(kept[v], LineOf(v), v);
      }
    } else {
#pragma unroll 4
      for (index_t v = 0; v < kPerThread; ++v) {
        if (!Holds(LineOf(v))) continue;
        value_t x[kVector];
        LoadVector(x, LineOf(v));
        f(x, LineOf(v), 0);
      }
    }
  }
};

/// The one of `parts` that is for the group of element j. T must be a number: with structs the
/// compiler would choose between their addresses, and so keep them in memory.
template <class T>
AICF_DEVICE T PartFor(const Stretch& own, const T (&parts)[kParts], int j) {
  T part = parts[0];
#pragma unroll
  for (int p = 1; p < kParts; ++p) {
    if (own.PartOf(j) == p) part = parts[p];
  }
  return part;
}

/// Sums of `each`, which has a value for each element of a vector, by group.
AICF_DEVICE void SumsOfParts(const Stretch& own, const sum_t (&each)[kVector],
                             sum_t (&sums)[kParts]) {
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    sums[p] = 0;
#pragma unroll
    for (int j = 0; j < kVector; ++j) sums[p] += own.PartOf(j) == p ? each[j] : sum_t(0);
  }
}

/// Computes count, mean and squared distances of the thread's own elements, for each group that its
/// vector touches.
AICF_DEVICE void OwnDeviations(Stretch& own, Deviations (&parts)[kParts]) {
  sum_t lines = 0, count[kVector], sum[kVector] = {}, squares[kVector] = {};
  own.Visit([&](value_t(&x)[kVector], index_t, index_t) {
    lines += 1;
    if constexpr (attr_kind == kRmsNorm) return;  // deviations from 0
#pragma unroll
    for (int j = 0; j < kVector; ++j) sum[j] += x[j];
  });
#pragma unroll
  for (int j = 0; j < kVector; ++j) count[j] = lines;
  sum_t counts[kParts], sums[kParts], distances[kParts];
  SumsOfParts(own, count, counts);
  SumsOfParts(own, sum, sums);
  value_t means[kParts], shift[kVector];
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    means[p] = counts[p] == 0 ? value_t(0) : static_cast<value_t>(sums[p] / counts[p]);
  }
#pragma unroll
  for (int j = 0; j < kVector; ++j) shift[j] = PartFor(own, means, j);
  own.Visit([&](value_t(&x)[kVector], index_t, index_t) {
#pragma unroll
    for (int j = 0; j < kVector; ++j) squares[j] += (x[j] - shift[j]) * (x[j] - shift[j]);
  });
  SumsOfParts(own, squares, distances);
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    parts[p] = {counts[p], static_cast<sum_t>(means[p]), distances[p]};
  }
}

/// Sum over 2^n neighbouring lanes, in all of them.
template <int kLanes>
AICF_DEVICE sum_t SumOfLanes(sum_t value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) value += ShuffleXor(value, step);
  return value;
}

/// Calls f with what each of the block's threads knows of a group. The lanes of the warp share out
/// the calls.
template <class F>
AICF_DEVICE void VisitGroup(int group, int lane, F&& f) {
  const int first = group * kRun / kVector;
#pragma unroll 4
  for (int i = lane; i < kVectorsOfRun * kLines; i += 32) {
    const int x = first + i % kVectorsOfRun, part = group - x * kVector / kRun;
    if (x >= kBlockX || part < 0 || part >= kParts) continue;
    f(SharedOfBlock().of_threads[(i / kVectorsOfRun * kBlockX + x) * kParts + part]);
  }
}

/// Combines, in one warp, what the block's threads know of a group: the mean first, then the
/// squared distances from it.
AICF_DEVICE OfBlock DeviationsOfBlock(int group, int lane) {
  sum_t sum = 0, squares = 0;
  VisitGroup(group, lane, [&](const Deviations& d) { sum += d.count * d.mean; });
  const sum_t count = CountOfBlock(RankInCluster());
  const sum_t mean = count == 0 ? sum_t(0) : SumOfLanes<32>(sum) / count;
  VisitGroup(group, lane, [&](const Deviations& d) {
    squares += d.squares + d.count * (d.mean - mean) * (d.mean - mean);
  });
  return {mean, SumOfLanes<32>(squares)};
}

/// Combines, in one warp, what the cluster's blocks know of a group. Each of kClusterX lanes has
/// what one block knows.
AICF_DEVICE Moments MomentsOfGroup(const OfBlock& known, int rank) {
  constexpr sum_t kPart = static_cast<sum_t>(1.0 / static_cast<double>(kLength));
  const sum_t count = CountOfBlock(rank);
  const sum_t mean = SumOfLanes<kClusterX>(count * known.mean) * kPart;
  const sum_t apart = known.mean - mean;
  const sum_t squares = SumOfLanes<kClusterX>(known.squares + count * apart * apart);
  const sum_t variance = squares * kPart + static_cast<sum_t>(attr_epsilon);
  return {static_cast<value_t>(mean), Quotient(OpSqrt(static_cast<value_t>(variance)))};
}

/// Calls f(group, lane) in one warp for each of the block's groups.
template <class F>
AICF_DEVICE void WithWarpOfGroup(F&& f) {
  for (int group = ThreadInBlock() / 32; group < kGroups; group += kThreads / 32) {
    f(group, ThreadInBlock() % 32);
  }
}

/// The moments of the group that each element of the thread's vectors belongs to.
AICF_DEVICE void MomentsOfElements(const Stretch& own, Moments (&of_elements)[kVector]) {
  value_t shift[kParts], divisor[kParts], reciprocal[kParts];
  bool corrected[kParts];
  const int first = static_cast<int>(threadIdx.x) * kVector / kRun;
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    // A vector that ends with a group has no element of the next one.
    const Moments& of_group = SharedOfBlock().of_cluster[MinOf(first + p, kGroups - 1)];
    shift[p] = of_group.shift;
    divisor[p] = of_group.scaled.divisor;
    reciprocal[p] = of_group.scaled.reciprocal;
    corrected[p] = of_group.scaled.corrected;
  }
#pragma unroll
  for (int j = 0; j < kVector; ++j) {
    of_elements[j].shift = PartFor(own, shift, j);
    of_elements[j].scaled.divisor = PartFor(own, divisor, j);
    of_elements[j].scaled.reciprocal = PartFor(own, reciprocal, j);
    of_elements[j].scaled.corrected = PartFor(own, corrected, j);
  }
}

AICF_DEVICE void StoreAll(Stretch& own, const Moments (&moments)[kVector]) {
  own.Visit([&](value_t(&x)[kVector], index_t line, index_t v) {
    raw_t raw[kVector];
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      raw[j] = OpCast<raw_t>(moments[j].scaled(x[j] - moments[j].shift));
    }
    if constexpr (kEarly)
      Epilogue::Store<kVector>(own.args, raw, own.held[v], own.column, own.batch_line + line, 0);
    else
      Epilogue::Store<kVector>(own.args, raw, own.column, own.batch_line + line);
  });
}

/// Computes the moments of the block's groups, for all of its threads to read.
AICF_DEVICE void FindMoments() {
  Shared& shared = SharedOfBlock();
  if constexpr (kClusterX == 1) {
    WithWarpOfGroup([&](int group, int lane) {
      const Moments moments = MomentsOfGroup(DeviationsOfBlock(group, lane), 0);
      if (lane == 0) shared.of_cluster[group] = moments;
    });
  } else {
    WithWarpOfGroup([&](int group, int lane) {
      const OfBlock known = DeviationsOfBlock(group, lane);
      if (lane == 0) shared.of_block[group] = known;
    });
    ClusterSharedBarrier();
    WithWarpOfGroup([&](int group, int lane) {
      // The lanes read what different blocks know, so that all these loads are under way at once.
      const int rank = lane % kClusterX;
      const Moments moments = MomentsOfGroup(LoadCluster(&shared.of_block[group], rank), rank);
      if (lane == 0) shared.of_cluster[group] = moments;
    });
  }
  __syncthreads();
  // The block will read no more of the other blocks' shared memory.
  if constexpr (kClusterX > 1) ClusterArrive();
}

AICF_DEVICE void Kernel(const Args& args) {
  Shared& shared = SharedOfBlock();
  Stretch own(args);
  own.Load();
  Deviations parts[kParts];
  OwnDeviations(own, parts);
#pragma unroll
  for (int p = 0; p < kParts; ++p) shared.of_threads[ThreadInBlock() * kParts + p] = parts[p];
  __syncthreads();
  FindMoments();
  Moments of_elements[kVector];
  MomentsOfElements(own, of_elements);
  StoreAll(own, of_elements);
  // A block must not exit while other blocks may still read its shared memory.
  if constexpr (kClusterX > 1) ClusterWait();
}

}  // namespace aicf
