#include <algorithm>
#include <cmath>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Parameters;
using abi::Problem;

constexpr size_t kMostCandidates = 6;

double Number(const Parameters& c, std::string_view name) { return static_cast<double>(c[name]); }

struct Rated {
  double cost_us;
  Parameters parameters;
};

// Estimated instructions of one warp for one tile, counted in the kernel's source.
struct WarpWork {
  double fetch;  ///< asks for its share of the inputs and weights
  double row;    ///< adds one row of taps: inputs, converted, weights and products
  double store;
};

WarpWork WarpWorkOf(const Problem& p, const Parameters& c) {
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& w = p.inputs[1].shape;
  const double bytes = static_cast<double>(DTypeBytes(p.inputs[0].dtype));
  const double pixels = Number(c, "pixels"), piece = Number(c, "piece");
  const auto taps = static_cast<double>(w[3]);
  const double span = (pixels - 1) * static_cast<double>(a.strides[1]) +
                      (taps - 1) * static_cast<double>(a.dilations[1]) + 1;
  const double threads = static_cast<double>(ConvDepthwiseTileHost::Workers(c));
  const double chunk = std::min(Number(c, "tile_c"), 16 / bytes);
  const double inputs =
      static_cast<double>(ConvDepthwiseTileHost::SharedBytes(p, c)) / (chunk * bytes * threads);
  const double weights = taps * static_cast<double>(w[2]) * Number(c, "tile_c") / chunk / threads;
  const double convert = bytes == 2 ? 1 : 0;
  return {60 + 10 * std::ceil(inputs) + (20 + 2 * chunk) * std::ceil(weights),
          span * (1 + convert * piece) + taps * (1 + piece * pixels) + 8,
          40 + pixels * (10 + 6 * piece)};
}

// Rates of one multiprocessor, fitted to an H200's times.
double DepthwiseTileUs(const Problem& p, const Parameters& c, const abi::DeviceSpec& d) {
  constexpr double kClockPerUs = 1700, kFetchBytesPerUs = 80e3, kLatencyUs = 0.9;
  const auto tiles = static_cast<double>(ConvDepthwiseTileHost::Tiles(p, c));
  const auto shared = static_cast<double>(ConvDepthwiseTileHost::SharedBytes(p, c));
  const double warps = std::ceil(static_cast<double>(ConvDepthwiseTileHost::Workers(c)) / 32);
  const double fit = std::max(
      1.0, std::min({32.0, std::floor(64 / warps),
                     std::floor(static_cast<double>(d.max_shared_bytes) / (shared + 1024))}));
  const double own = std::ceil(tiles / d.sm_count);  // tiles of one multiprocessor
  const double waves = std::ceil(own / fit);
  const auto rows = static_cast<double>(p.inputs[1].shape[2]);
  const WarpWork work = WarpWorkOf(p, c);
  const double issue = own * warps * (work.fetch + rows * work.row + work.store) / 4;
  // Cycles that a warp takes even without others beside it: its instructions wait for each other,
  // and every row of taps waits for its inputs.
  const double alone = waves * (4 * work.fetch + rows * (1.5 * work.row + 80) + 1.5 * work.store);
  const double memory = abi::ByteCount(p) / (d.bytes_per_us * 0.7);
  const double busy = std::max(issue, alone) / kClockPerUs + own * shared / kFetchBytesPerUs;
  return d.launch_us + kLatencyUs + (waves - 1) * 0.5 + std::max(memory, busy);
}

// Elements of padding between columns with which neighbouring groups of pixels in a warp read banks
// next to each other instead of the same ones; 0 where no such padding exists or none is needed.
int64_t PadFor(const Problem& p, int64_t tile_c, int64_t pixels) {
  const int64_t bytes = DTypeBytes(p.inputs[0].dtype), line = tile_c * bytes;
  if (line >= 128) return 0;
  const int64_t step = pixels * p.as<abi::ConvAttrs>().strides[1];
  for (int64_t pad = 0; pad < 64; pad += 8) {
    if (step * (tile_c + pad) * bytes % 128 == line % 128) return pad;
  }
  return 0;
}

// Sizes of a tile along an axis that are worth considering: `unit`, twice as many and so on, until
// one covers the whole axis. There are at most five of them, none above `most`.
std::vector<int64_t> Parts(int64_t extent, int64_t unit, int64_t most) {
  std::vector<int64_t> parts;
  for (int64_t n = unit; n <= most && parts.size() < 5; n *= 2) {
    parts.push_back(n);
    if (n >= extent) break;
  }
  return parts;
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<ConvDepthwiseTileHost>(const Problem& p,
                                                                 const abi::DeviceSpec& d) {
  const Dims& y = p.outputs[0].shape;
  const int64_t most = ConvDepthwiseHost::MaxPiece(p);
  std::vector<Rated> all;
  const auto add = [&](Parameters c) {
    if (!ConvDepthwiseTileHost::Refuse(p, c, d).empty()) return;
    const double us = DepthwiseTileUs(p, c, d);
    all.push_back({us, std::move(c)});
  };
  for (int64_t pixels : {1, 2, 4, 7}) {
    if (pixels > 1 && pixels > y[3] + 1) continue;
    for (int64_t tile_c : {16, 32, 64}) {
      if (tile_c > 16 && tile_c >= 2 * y[1]) continue;
      for (int64_t tile_w : Parts(y[3], pixels, 32)) {
        for (int64_t tile_h : Parts(y[2], 1, 16)) {
          for (int64_t piece = std::min<int64_t>(most, 2); piece <= std::min<int64_t>(most, 4);
               piece *= 2) {
            add({{"piece", piece},
                 {"pixels", pixels},
                 {"tile_c", tile_c},
                 {"tile_w", tile_w},
                 {"tile_h", tile_h},
                 {"pad", PadFor(p, tile_c, pixels)}});
          }
        }
      }
    }
  }
  std::ranges::stable_sort(all, {}, &Rated::cost_us);
  if (all.size() > kMostCandidates) all.resize(kMostCandidates);
  std::vector<abi::Candidate> best;
  for (const Rated& r : all) {
    best.push_back(CandidateOf<ConvDepthwiseTileHost>(p, r.parameters, r.cost_us));
  }
  return best;
}

}  // namespace aicf::cuda
