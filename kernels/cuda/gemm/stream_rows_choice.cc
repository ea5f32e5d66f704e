#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/common/hopper_shape.h"
#include "kernels/cuda/gemm/hopper.h"
#include "kernels/cuda/gemm/hopper_operand.h"
#include "kernels/cuda/gemm/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Parameters;
using abi::Problem;

constexpr int64_t kMostTileColumns = 256;  // of a tile: as many as a box of the copy engine has
constexpr int64_t kUnit = 16;              // columns of a tile come in multiples of it,
constexpr int64_t kPartsUnit = 64;         // or of this, where the moments of parts are stored
constexpr int64_t kMostStages = 24;        // more would be more under way than memory needs
constexpr int64_t kLineBytes = 128;        // of k in a stage

int64_t RoundUp(int64_t v, int64_t unit) { return CeilDiv(v, unit) * unit; }

// Tiles that are multiplied at once, each by `split` blocks.
int64_t TilesAtOnce(int64_t split, int sm_count) {
  return std::max<int64_t>(1, ClusterRoom(split, sm_count) / split);
}

// Columns of B of a tile, so that all tiles run at once and fill the device, or as few times after
// each other as their number of columns allows.
int64_t ColumnsOfTile(const ProductShape& s, int64_t unit, int64_t split, int sm_count) {
  const int64_t at_once = TilesAtOnce(split, sm_count);
  const int64_t rounds = CeilDiv(s.columns, at_once * kMostTileColumns);
  return RoundUp(CeilDiv(s.columns, at_once * rounds), unit);
}

// As many stages as fit a multiprocessor's shared memory but for what makes up the results.
int64_t StagesFor(const Problem& p, int64_t tile_m, int64_t tile_n, int64_t split,
                  const abi::DeviceSpec& d) {
  const Parameters tile = {
      {"tile_m", tile_m}, {"consumers", 1}, {"swap", 1}, {"ping_pong", 0}, {"split", split}};
  const int64_t results = HopperStoreBytes(split, ProductOf(p).halves) +
                          HopperMomentBytes(p, tile) + HopperPartBytes(p, tile);
  const int64_t room = static_cast<int64_t>(d.max_shared_bytes) - 1024 - results;
  return std::min<int64_t>(room / ((tile_m + tile_n) * kLineBytes + 16), kMostStages);
}

Parameters CutOf(const Problem& p, const abi::DeviceSpec& d, int64_t split) {
  const ProductShape s = ProductOf(p);
  const int64_t tile_m = std::max<int64_t>(8, PowerOfTwoAtLeast(s.rows));
  const int64_t unit = StoresParts(p) ? kPartsUnit : kUnit;
  const int64_t tile_n = ColumnsOfTile(s, unit, split, d.sm_count);
  return {{"tile_m", tile_m},
          {"tile_n", tile_n},
          {"stages", StagesFor(p, tile_m, tile_n, split, d)},
          {"split", split},
          {"vector", PreferredVector(GemmStreamRowsHost::kKey, p, 0)},
          {"ahead", 0}};
}

// The time of a product that reads ahead, in a chain of such products: the longest of what memory
// takes for everything; of what the L2 cache takes for A, which all blocks read, mostly the same
// lines at the same time; and of a block's steps, each of which takes kStepUs even where little is
// copied. Beside that a product has a start, a meeting of the blocks that divide k, and a start of
// each further round of tiles. Measured on an H200 with 32 rows (a chain of each product by itself,
// columns x k, in us): 6144 x 4096 14.1 in two parts of k and 15.3 in one, 4096 x 4096 10.3 and
// 14.7, 4096 x 14336 29.6 and 38.7, 28672 x 4096 57.5 in one. Tiles of 16 columns with 128 steps,
// for which 0.06 us a step were predicted, made a model with 8 rows slower by a tenth. Where B's
// neighbours lie along n, the same tiles take 3 to 4 % longer: 10.0 us instead of 9.7 for
// 4096 x 4096 with 16 rows.
double StreamRowsUs(const Problem& p, const Parameters& c, const abi::DeviceSpec& d) {
  constexpr double kShareAlongSum = 1.06, kShareAcross = 1.02, kSharedBytesPerUs = 2.7e6;
  constexpr double kStartUs = 1, kMeetUs = 0.5, kRoundUs = 1.5, kStepUs = 0.16;
  const ProductShape s = ProductOf(p);
  const int64_t tiles = CeilDiv(s.columns, c["tile_n"]), split = c["split"];
  const auto element = static_cast<double>(DTypeBytes(p.inputs[1].dtype));
  const double share = HopperOperand(p, 1).along_k() ? kShareAlongSum : kShareAcross;
  const double memory = abi::ByteCount(p) / (d.bytes_per_us * share);
  const double shared = static_cast<double>(c["tile_m"] * s.length * tiles) * element;
  const int64_t rounds = CeilDiv(tiles, TilesAtOnce(split, d.sm_count));
  const int64_t lines = CeilDiv(s.length * DTypeBytes(p.inputs[1].dtype), kLineBytes);
  const int64_t steps = CeilDiv(lines, split) * rounds;
  const double longest =
      std::max({memory, shared / kSharedBytesPerUs, kStepUs * static_cast<double>(steps)});
  return d.launch_us / 2 + kStartUs + (split > 1 ? kMeetUs : 0) + longest +
         kRoundUs * static_cast<double>(rounds - 1);
}

}  // namespace

// A single row is left to cuda.gemm.gemv and cuda.gemm.stream, which read it once and need no
// tensor cores. Where B is no constant nothing can be read ahead, and the prediction is too good.
// Products that start and end within the time in which the stages are filled are left to other
// kernels.
template <>
std::vector<abi::Candidate> CandidatesFor<GemmStreamRowsHost>(const Problem& p,
                                                              const abi::DeviceSpec& d) {
  constexpr double kFewBytes = 6e6, kFewUs = 4;
  std::vector<abi::Candidate> all;
  if (!GemmStreamRowsHost::Refusal(p, d).empty() || ProductOf(p).rows < 2) return all;
  for (const int64_t split : {1, 2, 4}) {
    const Parameters cut = CutOf(p, d, split);
    if (cut["stages"] < 2 || !GemmStreamRowsHost::Refuse(p, cut, d).empty()) continue;
    const double small_us = abi::ByteCount(p) < kFewBytes ? kFewUs : 0;
    all.push_back(CandidateOf<GemmStreamRowsHost>(p, cut, StreamRowsUs(p, cut, d) + small_us));
  }
  return all;
}

}  // namespace aicf::cuda
