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
  int64_t consumers, tile_keys, stages;  ///< stages 0: all blocks of keys at once
};

constexpr AttentionRow kAttentionRows[] = {
#define AICF_HOPPER_ATTENTION(...) {__VA_ARGS__},
#include "kernels/cuda/attention/hopper.def"
#undef AICF_HOPPER_ATTENTION
};

// How blocks take tiles: kOne, each block has one; kStay, there is at most one block for each
// multiprocessor, which takes tile after tile; kFold, the same with "fold" (TileWalk in
// attention/hopper_tile.cuh).
enum class TileOrder { kOne, kStay, kFold };

// Whether a tile should have the rows of all query heads of a group: where that makes fewer tiles.
bool PacksHeads(const AttentionShape& s, int64_t consumers) {
  const int64_t rows = Host::kWarpgroupRows * consumers, group = s.group();
  return group > 1 && rows % group == 0 &&
         CeilDiv(s.rows * group, rows) < group * CeilDiv(s.rows, rows);
}

// Number of pairs of request and head whose keys and values together take a third of the
// second-level cache.
int64_t SectionOf(const Problem& p, bool pack) {
  constexpr int64_t kCacheBytes = int64_t{16} << 20;
  const AttentionShape s = abi::AttentionShapeOf(p);
  const int64_t bytes = std::max<int64_t>(1, s.keys * (s.head + s.value_head) * 2);
  const int64_t pairs = kCacheBytes / bytes * (pack ? 1 : s.group());
  return std::clamp<int64_t>(pairs, 1, std::max<int64_t>(1, s.batch * s.query_heads));
}

// The parameters of a row for this order of tiles; per_sm is the number of blocks that a
// multiprocessor is to hold.
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
                      {"per_sm", per_sm},
                      {"blocks", blocks}};
  };
  const int64_t tiles = Host::Tiles(s, with(1));
  return with(order == TileOrder::kOne ? tiles : std::min<int64_t>(tiles, d.sm_count));
}

// Blocks of keys that a tile has on average: the keys that its rows see, and the rest of the block
// of which its last row sees only a part.
double BlocksOfTile(const Problem& p, const Parameters& c) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const double keys = static_cast<double>(c["tile_keys"]);
  const double seen = abi::ScoreCount(p) /
                      std::max(1.0, static_cast<double>(s.batch * s.query_heads * s.rows)) / keys;
  if (p.as<abi::AttentionAttrs>().window_right < 0) return std::max(1.0, std::ceil(seen));
  const double rows = static_cast<double>(Host::kWarpgroupRows * c["consumers"]);
  const bool aligned = std::fmod(rows, keys) == 0;
  return std::max(1.0, seen + rows / (2 * keys) + (aligned ? 0 : 0.75));
}

// Microseconds for which one score keeps the tensor cores and the other units busy.
double ScoreUs(const Problem& p) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  double us = 1.3e-5 + 1.91e-7 * static_cast<double>(s.head + s.value_head);
  us += 1.5e-5 * static_cast<double>(p.score.nodes.size());
  for (size_t k = static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
    if (p.inputs[k].strides[2] != 0) us += 3e-5;
  }
  return us;
}

// In us, fitted to what an H200 takes (bench/results/h200_hopper_attention.md). The time of a block
// of keys is partly waiting and partly work; tiles on one multiprocessor wait at the same time but
// work in turn. A tile also takes time to begin and to end, half of which is hidden where blocks
// are persistent.
double HopperAttentionUs(const Problem& p, const DeviceSpec& d, const Parameters& c) {
  const auto tiles =
      static_cast<double>(std::max<int64_t>(1, Host::Tiles(abi::AttentionShapeOf(p), c)));
  const double scores = static_cast<double>(Host::kWarpgroupRows * c["consumers"] * c["tile_keys"]);
  const bool stays = static_cast<double>(c["blocks"]) < tiles, once = c["producer"] == 0;
  const double sms = d.sm_count;
  const double resident = std::min(static_cast<double>(c["per_sm"]), std::ceil(tiles / sms));
  const double work_us = resident * scores * ScoreUs(p);
  const double wait_us = c["consumers"] == 4 ? 0.5 : 0.6;
  const double block_us = once ? 0.9 + 1.25 * work_us : wait_us + work_us;
  const AttentionShape s = abi::AttentionShapeOf(p);
  const double ends_us = 0.2 + 0.0065 * static_cast<double>(s.head + s.value_head);
  const double begun_us = once ? 1.3 : stays ? ends_us : ends_us + 2.8;
  const double tile_us = begun_us + BlocksOfTile(p, c) * block_us;
  // Where every block has one tile and the long ones begin first, tiles of different lengths even
  // out, so that rounds need not be whole.
  const bool uneven = p.as<abi::AttentionAttrs>().window_right >= 0 && !stays;
  const double turns = tiles / (sms * resident);
  const double memory_us = abi::ByteCount(p) / (0.75 * d.bytes_per_us);
  return d.launch_us +
         std::max((uneven ? std::max(1.0, turns) : std::ceil(turns)) * tile_us, memory_us + 1);
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
      // As many blocks on a multiprocessor as registers and shared memory have room for,
      // up to four.
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
