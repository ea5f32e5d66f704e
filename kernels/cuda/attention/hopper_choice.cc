/// Candidates of cuda.attention.hopper: the rows of hopper.def, each with the launches that suit
/// the problem.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/attention/hopper.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::AttentionShape;
using abi::DeviceSpec;
using abi::Parameters;
using abi::Problem;
using Host = AttentionHopperHost;

struct AttentionRow {
  std::string_view text;
  int64_t consumers, tile_keys, stages, polynomials;  ///< stages 0: all blocks of keys at once
};

constexpr AttentionRow kAttentionRows[] = {
#define AICF_HOPPER_ATTENTION(...) {__VA_ARGS__},
#include "kernels/cuda/attention/hopper.def"
#undef AICF_HOPPER_ATTENTION
};

// A block's tiles: every block one, or the multiprocessors' blocks stay, with or without folding.
enum class TileOrder { kOne, kStay, kFold };

// Rows of all heads of a group in one tile where that leaves fewer tiles.
bool PacksHeads(const AttentionShape& s, int64_t consumers) {
  const int64_t rows = Host::kWarpgroupRows * consumers, group = s.group();
  return group > 1 && rows % group == 0 &&
         CeilDiv(s.rows * group, rows) < group * CeilDiv(s.rows, rows);
}

// Pairs of request and head whose keys and values take a third of the second-level cache.
int64_t SectionOf(const Problem& p, bool pack) {
  constexpr int64_t kCacheBytes = int64_t{16} << 20;
  const AttentionShape s = abi::AttentionShapeOf(p);
  const int64_t bytes = std::max<int64_t>(1, s.keys * (s.head + s.value_head) * 2);
  const int64_t pairs = kCacheBytes / bytes * (pack ? 1 : s.group());
  return std::clamp<int64_t>(pairs, 1, std::max<int64_t>(1, s.batch * s.query_heads));
}

// As many blocks on a multiprocessor as registers and shared memory leave room for, up to four.
Parameters AttentionParameters(const AttentionRow& row, const Problem& p, const DeviceSpec& d,
                               TileOrder order, bool pack, int64_t per_sm) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const bool producer = row.stages > 0;
  const auto with = [&](int64_t blocks) {
    return Parameters{{"consumers", row.consumers},
                      {"tile_keys", row.tile_keys},
                      {"stages", producer ? row.stages : CeilDiv(s.keys, row.tile_keys)},
                      {"query_stages", order == TileOrder::kOne ? 1 : 2},
                      {"producer", producer ? 1 : 0},
                      {"turns", producer && row.consumers > 1 ? 1 : 0},
                      {"fold", order == TileOrder::kFold ? 1 : 0},
                      {"pack", pack ? 1 : 0},
                      {"section", SectionOf(p, pack)},
                      {"polynomials", p.score.empty() ? row.polynomials : 0},
                      {"per_sm", per_sm},
                      {"blocks", blocks}};
  };
  const int64_t tiles = Host::Tiles(s, with(1));
  return with(order == TileOrder::kOne ? tiles : std::min<int64_t>(tiles, d.sm_count));
}

// In us on an H200: what a tile takes beside its blocks of keys, and what a block takes, fitted to
// bench/results/h200_attention.md. A block has a part that waits and a part that keeps the tensor
// cores and the exponentials busy; tiles on one multiprocessor wait together and work in turn.
double HopperAttentionUs(const Problem& p, const DeviceSpec& d, const Parameters& c) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const auto tiles = static_cast<double>(std::max<int64_t>(1, Host::Tiles(s, c)));
  const double rows = static_cast<double>(Host::kWarpgroupRows * c["consumers"]);
  const double keys = static_cast<double>(c["tile_keys"]), sms = d.sm_count;
  const double pairs = std::max(1.0, static_cast<double>(s.batch * s.query_heads * s.rows));
  const bool stays = static_cast<double>(c["blocks"]) < tiles, once = c["producer"] == 0;
  // Half a block more than the rows see on average is begun where a window ends within one.
  const bool window = p.as<abi::AttentionAttrs>().window_right >= 0;
  const double blocks = std::max(1.0, abi::ScoreCount(p) / pairs / keys + (window ? 0.5 : 0));
  const double resident = std::min(static_cast<double>(c["per_sm"]), std::ceil(tiles / sms));
  const double score = 2.3e-5 + 2.2e-7 * static_cast<double>(s.head + s.value_head) +
                       (p.score.empty() ? 0 : 1e-5) * (1 + p.extra_inputs());
  const double block_us = 0.4 + resident * rows * keys * score;
  const double tile_us = (once ? 0.6 : stays ? 1.8 : 3.5) + std::ceil(blocks) * block_us;
  // Blocks of one tile each begin wherever another has ended; those that stay have whole turns.
  const double turns = stays ? std::ceil(tiles / sms) : std::max(1.0, tiles / (sms * resident));
  const double memory_us = abi::ByteCount(p) / (0.75 * d.bytes_per_us);
  return d.launch_us + std::max(turns * tile_us, memory_us + 1);
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<AttentionHopperHost>(const Problem& p,
                                                               const DeviceSpec& d) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const auto& a = p.as<abi::AttentionAttrs>();
  const bool uneven = a.window_right >= 0 && a.window_left < 0;
  std::vector<abi::Candidate> all;
  const auto add = [&](const AttentionRow& row, const Parameters& c) {
    if (!Host::Refuse(p, c, d).empty()) return false;
    all.push_back(CandidateOf<Host>(p, c, HopperAttentionUs(p, d, c)));
    all.back().row = StrCat(Host::kKey, "_", row.text);
    return true;
  };
  for (const AttentionRow& row : kAttentionRows) {
    const bool pack = PacksHeads(s, row.consumers);
    if (row.stages == 0) {
      for (int64_t per_sm : {4, 3, 2, 1}) {
        const Parameters c = AttentionParameters(row, p, d, TileOrder::kOne, pack, per_sm);
        if (Host::SharedBytes(s, c) * per_sm > d.max_shared_bytes) continue;
        if (add(row, c)) break;
      }
      continue;
    }
    const Parameters one = AttentionParameters(row, p, d, TileOrder::kOne, pack, 1);
    add(row, one);
    if (one["blocks"] <= d.sm_count) continue;
    add(row, AttentionParameters(row, p, d, uneven ? TileOrder::kFold : TileOrder::kStay, pack, 1));
  }
  return all;
}

}  // namespace aicf::cuda
