#include "kernels/cuda/common/tile_choice.h"

#include <algorithm>
#include <cmath>

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::MathMode;
using abi::Problem;

struct TileRow {
  std::string_view text;
  bool tensor;
  int m, n, k, part_m, part_n, split, stages;
};

constexpr TileRow kRows[] = {
#define AICF_FFMA_TILE(text, m, n, k, pm, pn, split, stages) \
  {text, false, m, n, k, pm, pn, split, stages},
#define AICF_TENSOR_TILE(text, m, n, k, pm, pn, split, stages) \
  {text, true, m, n, k, pm, pn, split, stages},
#include "kernels/cuda/common/tiles.def"
#undef AICF_FFMA_TILE
#undef AICF_TENSOR_TILE
};

abi::Parameters ParametersOf(const TileRow& r, int64_t cluster, int64_t vector) {
  return {{"tile_m", r.m},
          {"tile_n", r.n},
          {"tile_k", r.k},
          {r.tensor ? "warp_m" : "thread_m", r.part_m},
          {r.tensor ? "warp_n" : "thread_n", r.part_n},
          {"split", r.split},
          {"stages", r.stages},
          {"cluster", cluster},
          {"vector", vector}};
}

int64_t Steps(int64_t tile_k, const ProductShape& s) {
  return CeilDiv(std::max<int64_t>(s.length, 1), tile_k);
}

// Number of blocks of a cluster that share out k: more than 1 where the tiles alone would leave
// multiprocessors idle.
int64_t ClusterFor(const Tile& t, const ProductShape& s, const DeviceSpec& d) {
  const int64_t most = std::min(8, d.max_cluster);
  int64_t blocks = 1;
  while (blocks < most && TileCount(t, s) * blocks * 2 <= d.sm_count &&
         Steps(t.k, s) >= blocks * 2 * 3)
    blocks *= 2;
  return blocks;
}

}  // namespace

std::vector<TileChoice> TilesFor(std::string_view key, bool tensor, const Problem& p,
                                 const DeviceSpec& d) {
  const ProductShape shape = ProductOf(p);
  const int64_t vector = PreferredVector(key, p, d.sm_count);
  std::vector<TileChoice> all;
  for (const TileRow& row : kRows) {
    if (row.tensor != tensor) continue;
    const int64_t cluster = ClusterFor(Tile(tensor, ParametersOf(row, 1, vector)), shape, d);
    abi::Parameters parameters = ParametersOf(row, cluster, vector);
    if (!RefuseTile(Tile(tensor, parameters), p, d).empty()) continue;
    all.push_back({row.text, std::move(parameters)});
  }
  return all;
}

namespace {

// Steps of k that a block takes: those of the cluster's block that has most.
double StepsOfBlock(const Tile& t, const Problem& p) {
  return std::ceil(static_cast<double>(Steps(t.k, ProductOf(p))) / static_cast<double>(t.cluster));
}

// The share of the device's peak that the best tile was seen to reach in products of many rows. In
// tf32 an instruction multiplies half as many terms, and a fragment of 32-bit elements takes as
// many reads of shared memory as twice as many elements of 16 bits.
double ShareOfPeak(const Tile& t, MathMode math) {
  if (!t.tensor) return 0.75;
  return math == MathMode::kTf32 ? 0.32 : 0.55;
}

// The share of the device's bandwidth that tiles reach. Tiles on the tensor cores have few blocks
// on a multiprocessor, whose threads wait for operands of the epilogue, of 32 bits in tf32, one
// after the other.
double ShareOfBandwidth(const Tile& t, MathMode math) {
  return t.tensor && math == MathMode::kTf32 ? 0.35 : 0.7;
}

double TileUs(const Tile& t, const Problem& p, const DeviceSpec& d, double bytes) {
  const ProductShape s = ProductOf(p);
  const auto parts = static_cast<double>(t.cluster);
  const double blocks = static_cast<double>(TileCount(t, s)) * parts;
  const double steps = StepsOfBlock(t, p);
  // Of the 2048 threads that some devices hold, registers leave room for 1536. Each of eight blocks
  // keeps 1 KiB of shared memory for the system.
  constexpr int64_t kReserved = 8 * 1024, kThreads = 1536;
  const int64_t by_memory = (d.shared_bytes_per_sm - kReserved) / SharedBytes(t, p);
  const int64_t by_threads = kThreads / t.threads();
  const double resident =
      std::clamp<double>(static_cast<double>(std::min(by_memory, by_threads)), 1, 8);
  // The share of its peak that one multiprocessor reaches. It depends on the part of the tile that
  // a thread or a warp keeps: with small parts shared memory is the limit, not arithmetic.
  const auto m = static_cast<double>(t.m), n = static_cast<double>(t.n);
  const double part =
      static_cast<double>(t.part_m * t.part_n) / static_cast<double>(t.part_m + t.part_n);
  const double reach = std::min(1.0, t.tensor ? part / 21 : part / 2.6) * ShareOfPeak(t, p.math);
  const double peak = t.tensor ? abi::TensorFlopsPerUs(d, p.math) : d.fp32_flops_per_us;
  const double step_us = 2.0 * m * n * static_cast<double>(t.k) / (peak / d.sm_count * reach);
  // The blocks that are resident at a time make a round. Every round takes the start, the epilogue
  // and, for each step, a least time or the arithmetic of all the residents, whichever is longer.
  const double rounds = std::ceil(blocks / (d.sm_count * resident));
  const double together = std::min(resident, std::ceil(blocks / d.sm_count));
  const double epilogue =
      1.0e-4 * m * n * static_cast<double>(t.split) / parts + (parts > 1 ? 1.0 : 0.0);
  const double block_us = 1.3 + steps * std::max(0.22, together * step_us) + epilogue;
  const double memory = bytes / (d.bytes_per_us * ShareOfBandwidth(t, p.math));
  return d.launch_us + std::max(rounds * block_us, memory);
}

}  // namespace

double TileUs(const Tile& t, const Problem& p, const DeviceSpec& d) {
  return TileUs(t, p, d, abi::ByteCount(p));
}

double PackedTileUs(const Tile& t, const Problem& p, const DeviceSpec& d, double saved_bytes) {
  return TileUs(t, p, d, abi::ByteCount(p) - saved_bytes);
}

double ConvertedTileUs(const Tile& t, const Problem& p, const DeviceSpec& d) {
  // A guess that is still to be measured: the part of the latency of memory that one step's
  // arithmetic does not hide. Registers hold one stage, so that the stages ahead hide nothing.
  constexpr double kWaitUs = 0.3;
  return TileUs(t, p, d) + kWaitUs * (StepsOfBlock(t, p) + static_cast<double>(t.stages - 1));
}

}  // namespace aicf::cuda
