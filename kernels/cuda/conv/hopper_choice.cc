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

abi::Parameters ParametersOf(const ConvHopperRow& r, const abi::Problem& p, bool flat,
                             int64_t split, int64_t vector, int sm_count) {
  const int64_t element = DTypeBytes(p.inputs[0].dtype);
  const ConvPositions box = BoxFor(p, flat, r.m);
  const int64_t tile_k = StepFor(p.inputs[0].shape[1], element);
  const auto with = [&](int64_t stages, int64_t blocks) -> abi::Parameters {
    const int64_t all_steps = ConvHopperSteps(p, {{"tile_k", tile_k}});
    const int64_t promote = HopperPromotion(p, CeilDiv(all_steps, split));
    return {{"tile_m", r.m},        {"tile_n", r.n},
            {"tile_k", tile_k},     {"tile_w", box.w},
            {"tile_h", box.h},      {"tile_b", box.b},
            {"flat", flat ? 1 : 0}, {"stages", stages},
            {"split", split},       {"consumers", r.consumers},
            {"swap", r.swap},       {"ping_pong", r.turns},
            {"vector", vector},     {"blocks", blocks},
            {"ahead", 0},           {"promote", promote}};
  };
  // Blocks are persistent: whole clusters of them, each of which takes tile after tile.
  const abi::Parameters one = with(r.stages, split);
  const int64_t tiles = ConvHopperTiles(p, one);
  const int64_t resident = ResidentBlocks(one, element) * sm_count / split;
  const int64_t clusters = std::min(tiles, std::max<int64_t>(1, resident));
  if (clusters < tiles) return with(r.stages, clusters * split);
  // Where a cluster has only one tile, stages beyond the tile's steps are never filled. Their
  // memory would only keep blocks of the next kernel from starting on the multiprocessor early.
  const int64_t steps = CeilDiv(ConvHopperSteps(p, one), split);
  return with(std::min(r.stages, std::max<int64_t>(2, steps)), clusters * split);
}

// Whether it may pay to divide k: all blocks run at once, and each has two steps or more.
bool IsUsefulSplit(const abi::Problem& p, const abi::Parameters& c, int sm_count) {
  const int64_t resident = ResidentBlocks(c, DTypeBytes(p.inputs[0].dtype));
  return ConvHopperTiles(p, c) * c["split"] <= resident * sm_count &&
         ConvHopperSteps(p, c) >= 2 * c["split"];
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

// The time that consumers wait for a residual. A warp reads it part by part, 16 rows of up to 64
// columns each, and the more parts there are, the longer it waits for each.
double OperandWaitUs(const abi::Problem& p, const abi::Parameters& c) {
  if (BytesPerResult(p) < 1.5 * static_cast<double>(DTypeBytes(p.outputs[0].dtype))) return 0;
  const int64_t rows = c[c["swap"] != 0 ? "tile_n" : "tile_m"];
  const int64_t columns = c[c["swap"] != 0 ? "tile_m" : "tile_n"];
  const int64_t own = rows / (c["ping_pong"] != 0 ? 1 : c["consumers"]);
  const auto parts = static_cast<double>(own / 64 * CeilDiv(columns, 64));
  return parts * (0.6 + 0.4 * parts);
}

// The constants are fitted to an H200's times.
double ConvHopperUs(const abi::Problem& p, const abi::Parameters& c, const abi::DeviceSpec& d) {
  const auto number = [&](std::string_view name) { return static_cast<double>(c[name]); };
  const abi::View& x = p.inputs[0];
  const auto element = static_cast<double>(DTypeBytes(x.dtype));
  const double tiles = static_cast<double>(ConvHopperTiles(p, c)), split = number("split");
  const double steps = std::ceil(static_cast<double>(ConvHopperSteps(p, c)) / split);
  // Rates of one multiprocessor: products at the clock rate that the power limit allows, and bytes
  // from the second-level cache.
  const double rate = d.tensor_flops_per_us * (element > 2 ? 0.55 : 1.1) / d.sm_count;
  constexpr double kCacheBytesPerUs = 150e3, kStoreBytesPerUs = 12.5e3, kLeastStepUs = 0.12;
  const double m = number("tile_m"), n = number("tile_n"), k = number("tile_k");
  const double products = 2 * m * n * k / rate, fetches = (m + n) * k * element / kCacheBytesPerUs;
  // Blocks on one multiprocessor share its tensor cores and its path to the cache, but the times
  // that they merely wait overlap.
  const double per_sm = std::max(1.0, std::ceil(number("blocks") / d.sm_count));
  const double sums_us = steps * std::max({products * per_sm, fetches * per_sm, kLeastStepUs});
  // With swap, results are transposed in shared memory and stored in shorter pieces.
  const double columns = std::min(n, static_cast<double>(p.outputs[0].shape[1]));
  const auto result = static_cast<double>(DTypeBytes(p.outputs[0].dtype));
  const double store_us =
      0.1 + m * columns * result / kStoreBytesPerUs * (c["swap"] != 0 ? 1.5 : 1.0);
  const double tile_us = sums_us + store_us + OperandWaitUs(p, c);
  const double rounds = std::ceil(tiles * split / number("blocks"));
  // Where consumers take turns, one stores while the other multiplies.
  const double work = c["ping_pong"] != 0 ? std::max((rounds - 1) * sums_us + tile_us,
                                                     std::ceil(rounds / 2) * tile_us)
                                          : rounds * tile_us;
  const double meet = split > 1 ? 1.2 + 0.05 * split : 0;
  const double input = static_cast<double>(abi::ElementsOf(x)) * element;
  const double bytes = abi::ByteCount(p) - input * (1 - ReadShare(p));
  return d.launch_us + 1.5 + meet + std::max(bytes / (d.bytes_per_us * 0.68), work);
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<ConvHopperHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  const int64_t vector = HopperVector(p, PreferredVector(ConvHopperHost::kKey, p, 0));
  const bool flat = IsFlatConv(p);
  std::vector<abi::Candidate> all;
  for (const ConvHopperRow& row : kConvHopperRows) {
    for (int64_t split = 1; split <= (row.splits != 0 ? 8 : 1); split *= 2) {
      const abi::Parameters parameters = ParametersOf(row, p, flat, split, vector, d.sm_count);
      if (!ConvHopperHost::Refuse(p, parameters, d).empty()) continue;
      if (split > 1 && !IsUsefulSplit(p, parameters, d.sm_count)) break;
      all.push_back(CandidateOf<ConvHopperHost>(p, parameters, ConvHopperUs(p, parameters, d)));
      all.back().row = StrCat(ConvHopperHost::kKey, "_", row.text);
      if (split > 1) all.back().row += StrCat("_k", split);
    }
  }
  return all;
}

}  // namespace aicf::cuda
