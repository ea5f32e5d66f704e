/// Candidates of cuda.gemm.hopper: the rows of hopper.def.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/common/hopper_shape.h"
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

// Blocks of the launch: whole clusters and at most one block per multiprocessor, because blocks are
// persistent and take tile after tile. Where blocks divide k, every tile has blocks of its own.
int64_t BlocksFor(const HopperRow& r, const ProductShape& s, int64_t split, int sm_count) {
  if (split > 1) return TilesOf(r, s) * split;
  const int64_t clusters = CeilDiv(TilesOf(r, s), r.cluster);
  return std::min<int64_t>(clusters, std::max<int64_t>(1, sm_count / r.cluster)) * r.cluster;
}

// The row's stages, or as many as shared memory has room for: where blocks divide k, the sums that
// they send each other may take the place of a stage or two.
int64_t StagesFor(const HopperRow& r, const abi::Problem& p, int64_t split,
                  const abi::DeviceSpec& d) {
  const int64_t stage = (r.m + r.n) * 128 + 16 + HopperScaleBytes(p, r.m, r.n);
  const abi::Parameters tile = {{"tile_m", r.m},
                                {"consumers", r.consumers},
                                {"swap", r.swap},
                                {"ping_pong", r.turns},
                                {"split", split}};
  const int64_t moments = HopperMomentBytes(p, tile) + HopperPartBytes(p, tile);
  const int64_t room = static_cast<int64_t>(d.max_shared_bytes) - 1024 - moments -
                       r.consumers * HopperStoreBytes(split, abi::SumInputs(p));
  return std::min(r.stages, room / stage);
}

// Rows of tiles that are walked together (kGroupM). Swapped tiles are for few rows of A, so that
// nearly all that is read is B: all tiles of the same columns are walked together there, and B is
// read from memory once. With operands of 8 bits at most 1024 rows of results are walked together,
// because more were slower by a tenth to a fourth.
int64_t GroupFor(const HopperRow& r, const abi::Problem& p) {
  constexpr int64_t kMost = 1024;
  const int64_t rows = r.m * r.cluster_m;
  if (r.swap != 0) return std::clamp<int64_t>(CeilDiv(ProductOf(p).rows, r.m), 1, kMost);
  const bool bytes = DTypeBytes(p.inputs[0].dtype) == 1;
  return bytes ? std::min(r.group_m, std::max<int64_t>(1, kMost / rows)) : r.group_m;
}

abi::Parameters ParametersOf(const HopperRow& r, const abi::Problem& p, const abi::DeviceSpec& d,
                             int64_t vector, int64_t split, int64_t blocks) {
  const ProductShape s = ProductOf(p);
  const int64_t tile_k = 128 / DTypeBytes(p.inputs[0].dtype);
  const int64_t stages = StagesFor(r, p, split, d);
  const int64_t steps = CeilDiv(CeilDiv(s.length, tile_k), split);
  return {{"tile_m", r.m},
          {"tile_n", r.n},
          {"tile_k", tile_k},
          {"stages", stages},
          {"cluster_m", r.cluster_m},
          {"cluster", r.cluster * split},
          {"consumers", r.consumers},
          {"group_m", GroupFor(r, p)},
          {"swap", r.swap},
          {"ping_pong", r.turns},
          {"vector", vector},
          {"blocks", blocks},
          {"split", split},
          {"ahead", 0},
          {"promote", HopperPromotion(p, steps)}};
}

// The numbers of blocks to consider for dividing the k of one tile: 1 and, where the tiles alone
// would leave multiprocessors idle, the three largest for which all blocks run at once and each of
// them has at least two steps of k.
std::vector<int64_t> SplitsFor(const HopperRow& r, const ProductShape& s, int64_t tile_k,
                               int sm_count) {
  std::vector<int64_t> splits = {1};
  if (r.turns != 0 || r.cluster != 1) return splits;
  const int64_t steps = CeilDiv(s.length, tile_k);
  for (int64_t split : {8, 6, 4, 3, 2}) {
    const bool together = TilesOf(r, s) * split <= ClusterRoom(split, sm_count);
    if (together && steps >= 2 * split) splits.push_back(split);
    if (splits.size() == 4) break;
  }
  return splits;
}

// Number of epilogue operands that have an element for each result, as a residual has, instead of
// one for each column or row.
int WholeOperands(const abi::Problem& p) {
  int whole = 0;
  for (size_t k = static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
    const abi::View& v = p.inputs[k];
    const int rank = v.shape.rank();
    whole += v.strides[rank - 1] != 0 && v.strides[rank - 2] != 0 ? 1 : 0;
  }
  return whole;
}

// Microseconds that a product takes to finish a norm of its rows from the moments of their parts,
// to store such moments, and to read operands with one number for each row, as a residual
// connection behind a norm does. Measured with BERT on an H200: with 4096 rows the three cost twice
// what the norms did, with 128 rows less than the norms. Whether the cost depends on the shape of
// the tile is not known, so that no shape is preferred.
double PartsUs(const abi::Problem& p, const abi::DeviceSpec& d) {
  constexpr double kEach = 0.65e-4, kRowNumber = 0.33e-4;
  double us = (ReadsParts(p) ? kEach : 0) + (StoresParts(p) ? kEach : 0);
  for (size_t k = static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
    const abi::View& v = p.inputs[k];
    const int rank = v.shape.rank();
    us += v.strides[rank - 1] == 0 && v.strides[rank - 2] != 0 ? kRowNumber : 0;
  }
  return us * static_cast<double>(abi::ElementsOf(p.outputs[0])) / d.sm_count;
}

// A factor for the time of a step at the device's power limit, which a product of 16-bit operands
// reaches if it takes 0.1 ms or more. Moving bytes costs time there even if it is hidden behind
// products. Measured side by side at that limit: kSmallCost for tiles of 16384 results, whose
// consumers take turns, against tiles of 32768; kNarrowCost for those of the latter that have fewer
// columns and read more of A for each product. Tiles of sizes in between are assumed to cost as
// much as the smaller.
double PowerFactor(const HopperRow& r, const abi::Problem& p, const abi::DeviceSpec& d) {
  constexpr double kLongUs = 100, kSmallCost = 1.06, kNarrowCost = 1.02;
  constexpr int64_t kLargeTile = 32768, kWide = 256;
  const ProductShape s = ProductOf(p);
  const double flops = 2.0 * static_cast<double>(s.rows) * static_cast<double>(s.columns) *
                       static_cast<double>(s.length) * static_cast<double>(s.batch);
  if (DTypeBytes(p.inputs[0].dtype) != 2) return 1;
  if (flops <= kLongUs * d.tensor_flops_per_us) return 1;
  if (r.m * r.n < kLargeTile) return kSmallCost;
  return r.n < kWide ? kNarrowCost : 1;
}

// A factor for the time of a step whose sums are added in f32 outside of the tensor cores
// (promote). Where consumers share a tile, one adds while another multiplies; where they have tiles
// of their own, or there is only one, the tensor cores wait. A consumer with two blocks of 64 rows
// was slower by an eighth than those with one, but faster with scales of blocks, whose cost for
// each stage of a tile does not depend on the tile's size. Scales that are not fetched in lines
// cost a tenth.
double PartsFactor(const HopperRow& r, const abi::Problem& p, int64_t steps) {
  constexpr double kWaits = 1.4, kTwoBlocks = 1.2, kSingleScales = 1.1;
  if (HopperPromotion(p, steps) == 0) return 1;
  const double scales = HasBlockScales(p) && !FetchesScaleLines(p) ? kSingleScales : 1;
  if (r.turns != 0 || r.consumers == 1) return kWaits * scales;
  const int64_t rows = r.swap != 0 ? r.n : r.m;
  return rows > 64 * r.consumers && !HasBlockScales(p) ? kTwoBlocks : scales;
}

// The time that one block takes for one tile, in microseconds, as fitted to the times of the
// products of bench/products on an H200.
struct TileTimes {
  double multiply, store;

  TileTimes(const HopperRow& r, const abi::Problem& p, const abi::DeviceSpec& d, int64_t split) {
    const auto m = static_cast<double>(r.m), n = static_cast<double>(r.n);
    // What limits a step of 128 bytes along k: the tensor cores; the copies from the L2 cache,
    // whose rate is what one multiprocessor can take in, however few multiprocessors ask; or the
    // least time from one step to the next.
    constexpr double kLineBytes = 128, kBytesPerUs = 98e3, kLeastUs = 0.058;
    const double element = static_cast<double>(DTypeBytes(p.inputs[0].dtype));
    const double rate = d.tensor_flops_per_us / d.sm_count * 1.13 * (2 / element);
    const double products = 2 * m * n * (kLineBytes / element) / rate;
    const double copies = (m + n) * kLineBytes / kBytesPerUs;
    // For moments a thread sums up 32 terms of a row in each step before it starts the next
    // products. Measured on an H100 with tiles of 64 rows: 0.12 us a step, none of which is hidden
    // behind the tensor cores.
    constexpr double kMomentsUs = 0.12;
    const double moments = SeesMoments(p) && !ReadsParts(p) ? kMomentsUs : 0;
    const int64_t all = CeilDiv(ProductOf(p).length * DTypeBytes(p.inputs[0].dtype), int64_t{128});
    const int64_t own = CeilDiv(all, split);
    multiply = static_cast<double>(own) * (std::max({products, copies, kLeastUs}) *
                                               PowerFactor(r, p, d) * PartsFactor(r, p, own) +
                                           moments);
    const auto operators = static_cast<double>(p.epilogue.nodes.size());
    // Consumers that take turns store a tile each by themselves; the others share one.
    const int64_t storing = r.turns != 0 ? 1 : std::min<int64_t>(r.consumers, 2);
    // Every sum passes through shared memory, every result through the expression.
    // Blocks that share k finish a part of the tile's results each.
    const double results = 1.0 / static_cast<double>(abi::SumInputs(p) * split);
    store = m * n / static_cast<double>(storing) *
            (6.5e-5 + (5e-5 * WholeOperands(p) + 2.1e-6 * operators) * results);
  }
};

// What dividing k costs the blocks of a cluster: they have to meet, which takes longer the more of
// them there are, and each has to send its sums to the blocks that finish them. Without the cost of
// sending, predictions for 540 times of 27 products in 16 bits on an H100 were off by a fifth for
// tiles with few sums and by half for tiles with many. It is set lower than what fits these times
// best, because with the best fit BERT at batch 1, with its 12 products of 3072 terms, took 20 us
// more. A thread sends pairs of sums where the tensor cores' rows are rows of results, and one sum
// at a time where they are columns. For results that are contiguous along m it is the other way
// round, which is not taken into account.
double MeetUs(const HopperRow& r, int64_t split) {
  constexpr double kStart = 0.3, kSquare = 0.017, kSum = 2.3e-4, kSingle = 0.05;
  if (split == 1) return 0;
  const auto blocks = static_cast<double>(split), sums = static_cast<double>(r.m * r.n);
  const double singles = r.swap != 0 ? sums / static_cast<double>(128 * r.consumers) : 0;
  return kStart + kSquare * blocks * blocks + kSum * sums * (blocks - 1) / blocks +
         kSingle * singles;
}

double HopperUs(const HopperRow& r, const abi::Problem& p, const abi::DeviceSpec& d, int64_t split,
                int64_t blocks) {
  constexpr double kStartUs = 2.3, kMemoryShare = 0.88;
  const double rounds = std::ceil(static_cast<double>(TilesOf(r, ProductOf(p)) * split) /
                                  static_cast<double>(blocks));
  const TileTimes tile(r, p, d, split);
  // Where consumers take turns, one stores while another multiplies.
  const double tiles =
      r.turns != 0 ? rounds * std::max(tile.multiply, (tile.multiply + tile.store) / 2) + tile.store
                   : rounds * (tile.multiply + tile.store);
  const double memory = abi::ByteCount(p) / (d.bytes_per_us * kMemoryShare);
  // Memory and tiles overlap, but the shorter time is not hidden behind the longer one altogether.
  constexpr double kNotHidden = 0.08;
  return d.launch_us + kStartUs + MeetUs(r, split) + std::max(memory, tiles) +
         kNotHidden * std::min(memory, tiles) + PartsUs(p, d);
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<GemmHopperHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  const ProductShape s = ProductOf(p);
  const int64_t tile_k = 128 / DTypeBytes(p.inputs[0].dtype);
  // The 0 keeps PreferredVector from narrowing the vector to get more blocks: here a block stores
  // whole tiles, however few blocks there are.
  const int64_t vector = HopperVector(p, PreferredVector(GemmHopperHost::kKey, p, 0));
  std::vector<abi::Candidate> all;
  for (const HopperRow& row : kHopperRows) {
    for (int64_t split : SplitsFor(row, s, tile_k, d.sm_count)) {
      const int64_t blocks = BlocksFor(row, s, split, d.sm_count);
      const abi::Parameters parameters = ParametersOf(row, p, d, vector, split, blocks);
      if (!GemmHopperHost::Refuse(p, parameters, d).empty()) continue;
      all.push_back(CandidateOf<GemmHopperHost>(p, parameters, HopperUs(row, p, d, split, blocks)));
      all.back().row = StrCat(GemmHopperHost::kKey, "_", row.text, split > 1 ? "_split" : "");
    }
  }
  return all;
}

}  // namespace aicf::cuda
