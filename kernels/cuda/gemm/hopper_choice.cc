/// Candidates of cuda.gemm.hopper: the rows of hopper.def.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/gemm/hopper.h"

namespace aicf::cuda {
namespace {

struct HopperRow {
  std::string_view text;
  int64_t m, n, stages, cluster_m, cluster, consumers, group_m, swap, turns;
};

constexpr HopperRow kHopperRows[] = {
#define AICF_HOPPER_TILE(...) {__VA_ARGS__},
#include "kernels/cuda/gemm/hopper.def"
#undef AICF_HOPPER_TILE
};

int64_t TilesOf(const HopperRow& r, const ProductShape& s) {
  return CeilDiv(s.rows, r.m) * CeilDiv(s.columns, r.n) * s.batch;
}

// Whole clusters, at most one block per multiprocessor: blocks stay and take tile after tile.
int64_t BlocksFor(const HopperRow& r, const ProductShape& s, int64_t split, int sm_count) {
  if (split > 1) return TilesOf(r, s) * split;
  const int64_t clusters = CeilDiv(TilesOf(r, s), r.cluster);
  return std::min<int64_t>(clusters, std::max<int64_t>(1, sm_count / r.cluster)) * r.cluster;
}

abi::Parameters ParametersOf(const HopperRow& r, int64_t tile_k, int64_t vector, int64_t split,
                             int64_t blocks) {
  return {{"tile_m", r.m},
          {"tile_n", r.n},
          {"tile_k", tile_k},
          {"stages", r.stages},
          {"cluster_m", r.cluster_m},
          {"cluster", r.cluster * split},
          {"consumers", r.consumers},
          {"group_m", r.group_m},
          {"swap", r.swap},
          {"ping_pong", r.turns},
          {"vector", vector},
          {"blocks", blocks},
          {"split", split}};
}

// Blocks that may share out the k of one tile: 1, and where the tiles alone would leave
// multiprocessors idle the two largest numbers for which all blocks run at once, each with two
// steps of k at least.
std::vector<int64_t> SplitsFor(const HopperRow& r, const ProductShape& s, int64_t tile_k,
                               int sm_count) {
  std::vector<int64_t> splits = {1};
  if (r.turns != 0 || r.cluster != 1) return splits;
  const int64_t steps = CeilDiv(s.length, tile_k);
  for (int64_t split : {8, 6, 4, 3, 2}) {
    // Large clusters do not fill every group of multiprocessors.
    const int64_t room = split > 2 ? sm_count - sm_count / 32 : sm_count;
    if (TilesOf(r, s) * split <= room && steps >= 2 * split) splits.push_back(split);
    if (splits.size() == 3) break;
  }
  return splits;
}

double HopperUs(const HopperRow& r, const abi::Problem& p, const abi::DeviceSpec& d, int64_t split,
                int64_t blocks) {
  const ProductShape s = ProductOf(p);
  const auto tiles = static_cast<double>(TilesOf(r, s) * split);
  const double length = static_cast<double>(s.length) / static_cast<double>(split);
  const double rounds = std::ceil(tiles / static_cast<double>(blocks));
  // One multiprocessor at the clock that the power limit leaves: 5.4 TFLOP/s of 16-bit products,
  // and 110 bytes per nanosecond from the second-level cache.
  const double peak = d.tensor_flops_per_us * 1.1 / d.sm_count;
  const double rate = p.math == abi::MathMode::kTf32 ? peak / 2 : peak;
  constexpr double kBytesPerUs = 110e3;
  const auto bytes = static_cast<double>(DTypeBytes(p.inputs[0].dtype));
  const double products = 2.0 * static_cast<double>(r.m * r.n) * length / rate;
  const double fetches = static_cast<double>(r.m + r.n) * length * bytes / kBytesPerUs;
  // Where consumers take turns, one stores while another multiplies.
  const double store =
      (r.turns != 0 ? 0 : 6e-5 * static_cast<double>(r.m * r.n)) + (split > 1 ? 1.0 : 0.0);
  const double memory = abi::ByteCount(p) / (d.bytes_per_us * 0.75);
  return d.launch_us + 1.5 + std::max(memory, rounds * (std::max(products, fetches) + store));
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<GemmHopperHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  const ProductShape s = ProductOf(p);
  const int64_t tile_k = 128 / DTypeBytes(p.inputs[0].dtype);
  // A block stores whole tiles however few blocks there are: vectors are never narrowed for more.
  const int64_t vector = PreferredVector(GemmHopperHost::kKey, p, 0);
  std::vector<abi::Candidate> all;
  for (const HopperRow& row : kHopperRows) {
    for (int64_t split : SplitsFor(row, s, tile_k, d.sm_count)) {
      const int64_t blocks = BlocksFor(row, s, split, d.sm_count);
      const abi::Parameters parameters = ParametersOf(row, tile_k, vector, split, blocks);
      if (!GemmHopperHost::Refuse(p, parameters, d).empty()) continue;
      all.push_back(CandidateOf<GemmHopperHost>(p, parameters, HopperUs(row, p, d, split, blocks)));
      all.back().row = StrCat(GemmHopperHost::kKey, "_", row.text, split > 1 ? "_split" : "");
    }
  }
  return all;
}

}  // namespace aicf::cuda
