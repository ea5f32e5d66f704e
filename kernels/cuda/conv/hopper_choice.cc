/// Candidates of cuda.conv.hopper: the rows of hopper.def, each with the box of positions that
/// wastes the least of its tile.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/common/hopper_shape.h"
#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {
namespace {

struct ConvHopperRow {
  std::string_view text;
  int64_t m, n, stages, consumers, swap, turns, splits;
};

constexpr ConvHopperRow kConvHopperRows[] = {
#define AICF_CONV_HOPPER_TILE(...) {__VA_ARGS__},
#include "kernels/cuda/conv/hopper.def"
#undef AICF_CONV_HOPPER_TILE
};

// The shape of box, of at most `m` positions, with which the fewest boxes cover all positions; of
// several such shapes the one with the longest lines.
ConvPositions BoxFor(const abi::Problem& p, bool flat, int64_t m) {
  if (flat) return {std::min<int64_t>(m, 256), 1, 1};
  const ConvPositions all = PositionsOf(p, false);
  const Dims& strides = p.as<abi::ConvAttrs>().strides;
  const auto longest = [&](int64_t extent, int64_t stride) {
    return std::min({extent, m, 255 / stride + 1});
  };
  ConvPositions best{1, 1, 1};
  int64_t fewest = INT64_MAX;
  for (int64_t w = longest(all.w, strides.back()); w >= 1; --w) {
    for (int64_t h = std::min(m / w, longest(all.h, strides[0])); h >= 1; --h) {
      const int64_t b = std::min({m / (w * h), all.b, int64_t{256}});
      const int64_t boxes = CeilDiv(all.w, w) * CeilDiv(all.h, h) * CeilDiv(all.b, b);
      if (boxes >= fewest) continue;
      fewest = boxes;
      best = {w, h, b};
    }
  }
  return best;
}

// Channels of a step of k: the least of 32, 64 and 128 bytes that holds all channels, or 128 bytes.
int64_t StepFor(int64_t channels, int64_t element) {
  int64_t step = 32 / element;
  while (step < channels && step * element < 128) step *= 2;
  return step;
}

// Blocks that a multiprocessor holds at a time.
int64_t ResidentBlocks(const abi::Parameters& c, int64_t element) {
  constexpr int64_t kBytes = 228 * 1024;
  const bool few_registers = element == 1 && c["tile_m"] * c["tile_n"] <= 64 * 64;
  const int64_t most = c["consumers"] != 1 ? 1 : few_registers ? 4 : 3;
  return std::clamp<int64_t>(kBytes / (ConvHopperSharedBytes(c, element) + 1024), 1, most);
}

// With `holds` a block holds all weights in shared memory, and has as many of the row's stages as
// there is room for beside them.
abi::Parameters ParametersOf(const ConvHopperRow& r, const abi::Problem& p, bool flat,
                             int64_t split, int64_t vector, bool holds, const abi::DeviceSpec& d) {
  const int64_t element = DTypeBytes(p.inputs[0].dtype);
  const ConvPositions box = BoxFor(p, flat, r.m);
  const int64_t tile_k = StepFor(p.inputs[0].shape[1], element);
  const auto with = [&](int64_t stages, int64_t blocks) -> abi::Parameters {
    const int64_t all_steps = ConvHopperSteps(p, {{"tile_k", tile_k}});
    const int64_t promote = HopperPromotion(p, CeilDiv(all_steps, split));
    const int64_t held =
        holds ? ConvHopperWeightTiles(p, {{"tile_n", r.n}, {"tile_k", tile_k}}) : 0;
    return {{"tile_m", r.m},        {"tile_n", r.n},
            {"tile_k", tile_k},     {"tile_w", box.w},
            {"tile_h", box.h},      {"tile_b", box.b},
            {"flat", flat ? 1 : 0}, {"stages", stages},
            {"split", split},       {"consumers", r.consumers},
            {"swap", r.swap},       {"ping_pong", r.turns},
            {"vector", vector},     {"blocks", blocks},
            {"ahead", 0},           {"promote", promote},
            {"held_b", held}};
  };
  // Blocks are persistent: whole clusters of them, each of which takes tile after tile.
  const int64_t bytes = ConvHopperSharedBytes(with(r.stages, split), element);
  const int64_t of_stage = bytes - ConvHopperSharedBytes(with(r.stages - 1, split), element);
  const int64_t over = std::max<int64_t>(0, bytes - static_cast<int64_t>(d.max_shared_bytes));
  const int64_t stages =
      holds ? std::max<int64_t>(2, r.stages - CeilDiv(over, of_stage)) : r.stages;
  const abi::Parameters one = with(stages, split);
  const int64_t tiles = ConvHopperTiles(p, one);
  const int64_t resident = ResidentBlocks(one, element) * d.sm_count / split;
  const int64_t clusters = std::min(tiles, std::max<int64_t>(1, resident));
  if (clusters < tiles) return with(stages, clusters * split);
  // Where a cluster has only one tile, stages beyond the tile's steps are never filled. Their
  // memory would only keep blocks of the next kernel from starting on the multiprocessor early.
  const int64_t steps = CeilDiv(ConvHopperSteps(p, one), split);
  return with(std::min(stages, std::max<int64_t>(2, steps)), clusters * split);
}

// Whether it may pay to divide k: all blocks run at once, and each has two steps or more.
bool IsUsefulSplit(const abi::Problem& p, const abi::Parameters& c, int sm_count) {
  const int64_t resident = ResidentBlocks(c, DTypeBytes(p.inputs[0].dtype));
  return ConvHopperTiles(p, c) * c["split"] <= resident * sm_count &&
         ConvHopperSteps(p, c) >= 2 * c["split"];
}

// Whether it may pay to hold the weights: a block has several tiles for them. Several blocks of a
// multiprocessor each hold their own; with operands of 16 bits they are too few then. With those of
// 8 bits more stages help more than weights that stay.
bool MayHoldWeights(const abi::Problem& p, const abi::Parameters& c, const ConvHopperRow& row) {
  constexpr int64_t kLeastTiles = 3;
  const bool bytes = DTypeBytes(p.inputs[0].dtype) == 1;
  if (bytes ? c["stages"] < row.stages : c["consumers"] == 1) return false;
  return ConvHopperTiles(p, c) >= kLeastTiles * c["blocks"];
}

// Bytes that the epilogue moves per result: the result and its share of the other operands.
double BytesPerResult(const abi::Problem& p) {
  double bytes = abi::ByteCount(p);
  for (int k : {0, 1}) {
    const abi::View& v = p.inputs[static_cast<size_t>(k)];
    bytes -= static_cast<double>(abi::ElementsOf(v) * DTypeBytes(v.dtype));
  }
  const abi::View& y = p.outputs[0];
  return std::max(static_cast<double>(DTypeBytes(y.dtype)),
                  bytes / static_cast<double>(abi::ElementsOf(y)));
}

// Whether the epilogue reads about as much as it stores.
bool ReadsResidual(const abi::Problem& p) {
  return BytesPerResult(p) >= 1.5 * static_cast<double>(DTypeBytes(p.outputs[0].dtype));
}

// The share of the input that windows read: strides may step over the rest.
double ReadShare(const abi::Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  double share = 1;
  for (int d = 0; d < a.strides.rank(); ++d) {
    share *= std::min(
        1.0, static_cast<double>(p.inputs[1].shape[d + 2]) / static_cast<double>(a.strides[d]));
  }
  return share;
}

// What a multiprocessor does in a microsecond and what else takes how long, fitted to an H200's
// times: of 16 and 32 bits, and of 8.
struct Rates {
  double products;         // times the rate of tensor cores, for elements of one byte
  double cache;            // bytes from the second-level cache
  double least_step;       // us of a step of k at least
  double store;            // bytes of results that a consumer stores
  double shared;           // share of that time where consumers divide a tile among them
  double swapped;          // times that where results are transposed in shared memory
  double wait, wait_more;  // OperandWaitUs
  double hidden;           // share of what takes less time that is not hidden altogether
};
constexpr Rates kWideRates = {2.2, 150e3, 0.12, 12.5e3, 1, 1.5, 0.6, 0.4, 0};
constexpr Rates kByteRates = {2.6, 125e3, 0.12, 12.5e3, 0.65, 1.75, 0.3, 0.2, 0.02};

// The time that consumers wait for a residual. A warp reads it part by part, 16 rows of up to 64
// columns each, and the more parts there are, the longer it waits for each.
double OperandWaitUs(const abi::Problem& p, const abi::Parameters& c, const Rates& rates) {
  if (!ReadsResidual(p)) return 0;
  const int64_t rows = c[c["swap"] != 0 ? "tile_n" : "tile_m"];
  const int64_t columns = c[c["swap"] != 0 ? "tile_m" : "tile_n"];
  const int64_t own = rows / (c["ping_pong"] != 0 ? 1 : c["consumers"]);
  const auto parts = static_cast<double>(own / 64 * CeilDiv(columns, 64));
  return parts * (rates.wait + rates.wait_more * parts);
}

// Bytes of a line of k elements as the copy engine's time goes: it takes as long for 32 or 64
// elements of 8 bits as for as many of 16.
double LineBytes(double k, double element) {
  return element == 1 ? std::min(128.0, 2 * k) : k * element;
}

// The time from a tile's last product until its results are stored.
double StoreUs(const abi::Problem& p, const abi::Parameters& c, const Rates& rates) {
  const auto columns = static_cast<double>(std::min(c["tile_n"], p.outputs[0].shape[1]));
  const auto result = static_cast<double>(DTypeBytes(p.outputs[0].dtype));
  const bool shared = c["consumers"] > 1 && c["ping_pong"] == 0;
  const double us = 0.1 + static_cast<double>(c["tile_m"]) * columns * result / rates.store *
                              (c["swap"] != 0 ? rates.swapped : 1.0);
  return us * (shared ? rates.shared : 1.0);
}

// How many tiles a block takes one after the other. Where several blocks of operands of 8 bits
// share a multiprocessor, those that have a tile fewer leave their part of it to the others.
double Rounds(double tiles, double blocks, double per_sm, bool bytes, const abi::DeviceSpec& d) {
  if (!bytes || per_sm <= 1) return std::ceil(tiles / blocks);
  return std::max(1.0, std::ceil(tiles / d.sm_count) / per_sm);
}

// The time of a block's tiles where consumers take turns: one stores while another multiplies. A
// tile takes each of three consumers longer, since their warps share what executes instructions.
double TurnsUs(double tiles, double tile_us, int64_t consumers) {
  constexpr double kSlowerOfThree = 1.3;
  if (consumers < 3) return std::ceil(tiles / 2) * tile_us;
  return std::ceil(tiles / static_cast<double>(consumers)) * tile_us * kSlowerOfThree;
}

// The least time of the epilogue where operands have 8 bits: a multiprocessor executes its
// instructions. More consumers wait less for each other, and a residual takes instructions, too.
double EpilogueUs(const abi::Problem& p, const abi::Parameters& c, const abi::DeviceSpec& d) {
  constexpr double kResultsPerUs[] = {9.3e3, 9.8e3, 10.2e3};  // with 1, 2 and 3 consumers
  constexpr double kResidualShare = 0.72;
  if (DTypeBytes(p.inputs[0].dtype) > 1) return 0;
  const double rate = kResultsPerUs[c["consumers"] - 1] * (ReadsResidual(p) ? kResidualShare : 1);
  return static_cast<double>(abi::ElementsOf(p.outputs[0])) / d.sm_count / rate;
}

double ConvHopperUs(const abi::Problem& p, const abi::Parameters& c, const abi::DeviceSpec& d) {
  const auto number = [&](std::string_view name) { return static_cast<double>(c[name]); };
  const abi::View& x = p.inputs[0];
  const auto element = static_cast<double>(DTypeBytes(x.dtype));
  const Rates& rates = element > 1 ? kWideRates : kByteRates;
  const double tiles = static_cast<double>(ConvHopperTiles(p, c)), split = number("split");
  const double steps = std::ceil(static_cast<double>(ConvHopperSteps(p, c)) / split);
  // The clock rate is the one that the power limit allows.
  const double rate = d.tensor_flops_per_us * rates.products / element / d.sm_count;
  const double m = number("tile_m"), n = number("tile_n"), k = number("tile_k");
  const double lines = c["held_b"] != 0 ? m : m + n;
  const double products = 2 * m * n * k / rate;
  const double fetches = lines * LineBytes(k, element) / rates.cache;
  // Blocks on one multiprocessor share its tensor cores and its path to the cache, but the times
  // that they merely wait overlap.
  const double per_sm = std::max(1.0, std::ceil(number("blocks") / d.sm_count));
  const double sums_us = steps * std::max({products * per_sm, fetches * per_sm, rates.least_step});
  const double tile_us = sums_us + StoreUs(p, c, rates) + OperandWaitUs(p, c, rates);
  const double rounds = Rounds(tiles * split, number("blocks"), per_sm, element == 1, d);
  const double work = c["ping_pong"] != 0 ? std::max((rounds - 1) * sums_us + tile_us,
                                                     TurnsUs(rounds, tile_us, c["consumers"]))
                                          : rounds * tile_us;
  const double meet = split > 1 ? 1.2 + 0.05 * split : 0;
  const double input = static_cast<double>(abi::ElementsOf(x)) * element;
  const double bytes = abi::ByteCount(p) - input * (1 - ReadShare(p));
  const double moved = bytes / (d.bytes_per_us * 0.68);
  const double longest = std::max({moved, work, EpilogueUs(p, c, d)});
  return d.launch_us + 1.5 + meet + longest + rates.hidden * std::min(moved, work);
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<ConvHopperHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  const int64_t vector = HopperVector(p, PreferredVector(ConvHopperHost::kKey, p, 0));
  const bool flat = IsFlatConv(p);
  std::vector<abi::Candidate> all;
  const auto add = [&](const ConvHopperRow& row, const abi::Parameters& c, std::string suffix) {
    all.push_back(CandidateOf<ConvHopperHost>(p, c, ConvHopperUs(p, c, d)));
    all.back().row = StrCat(ConvHopperHost::kKey, "_", row.text, suffix);
  };
  for (const ConvHopperRow& row : kConvHopperRows) {
    // First, so that it is chosen where weights are not what takes the time. What measurements
    // say of the row's tile holds for both.
    const abi::Parameters holding = ParametersOf(row, p, flat, 1, vector, true, d);
    if (MayHoldWeights(p, holding, row) && ConvHopperHost::Refuse(p, holding, d).empty())
      add(row, holding, "");
    for (int64_t split = 1; split <= (row.splits != 0 ? 8 : 1); split *= 2) {
      const abi::Parameters parameters = ParametersOf(row, p, flat, split, vector, false, d);
      if (!ConvHopperHost::Refuse(p, parameters, d).empty()) continue;
      if (split > 1 && !IsUsefulSplit(p, parameters, d.sm_count)) break;
      add(row, parameters, split > 1 ? StrCat("_k", split) : "");
    }
  }
  return all;
}

}  // namespace aicf::cuda
