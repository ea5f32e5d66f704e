#include "kernels/cpu/attention/flash.h"

#include <atomic>

#include "kernels/cpu/attention/attention.h"
#include "kernels/cpu/attention/keys.h"

namespace aicf::cpu {
namespace {

struct Slots {
  const FlashRun* run;
  FlashTileFn tile;
  float* workspace;
  int64_t items;
  std::atomic<int64_t> next{0};
};

// Each slot (a thread with its own scratch memory) takes tiles until none is left. Which slot a
// tile runs in does not affect its result.
void RunSlot(void* context, int64_t slot) {
  auto& s = *static_cast<Slots*>(context);
  float* const scratch = s.workspace + slot * s.run->parts.total;
  for (int64_t item; (item = s.next.fetch_add(1, std::memory_order_relaxed)) < s.items;) {
    s.tile(*s.run, item, scratch);
  }
}

template <abi::CpuIsa kIsa>
FlashTileFn TileFunction() {
  if constexpr (kIsa == abi::CpuIsa::kAvx512) return &avx512::RunFlashTile;
  if constexpr (kIsa == abi::CpuIsa::kAvx2) return &avx2::RunFlashTile;
  return &baseline::RunFlashTile;
}

}  // namespace

void PlaceFlashTile(const FlashRun& run, int64_t item, FlashPlace* place) {
  const FlashTiling& t = run.tiling;
  const abi::AttentionShape& s = run.shape;
  // Tiles are numbered from the last rows to the first: causal rows see more keys the later they
  // are, and starting with the long tiles balances the threads.
  const int64_t first = (t.tiles - 1 - item % t.tiles) * t.tile_rows;
  const int64_t unit = item / t.tiles % t.units;
  FlashPlace& p = *place;
  p.batch = item / t.tiles / t.units;
  p.axis = t.along_heads ? 1 : 2;
  p.key_head = t.along_heads ? unit / s.rows : unit / s.group();
  p.head = t.along_heads ? p.key_head * s.group() + first : unit;
  p.row = t.along_heads ? unit % s.rows : first;
  p.rows = std::min(t.tile_rows, (t.along_heads ? s.group() : s.rows) - first);
  const auto& a = run.args->problem->as<abi::AttentionAttrs>();
  const Request request = RequestOf(*run.args, s, p.batch);
  p.all = {s.keys, 0};
  for (int64_t r = 0; r < p.rows; ++r) {
    const int64_t row = p.row + (t.along_heads ? 0 : r);
    p.range[r] = abi::VisibleKeys(a, request.valid_keys, request.first_position + row);
    if (p.range[r].begin == p.range[r].end) continue;
    p.all.begin = std::min(p.all.begin, p.range[r].begin);
    p.all.end = std::max(p.all.end, p.range[r].end);
  }
}

template <abi::CpuIsa kIsa>
void AttentionFlash(const abi::ArgBlock& args) {
  const abi::AttentionShape s = abi::AttentionShapeOf(*args.problem);
  const abi::Problem& p = *args.problem;
  const auto scale = static_cast<float>(p.as<abi::AttentionAttrs>().scale);
  const FlashRun run{&args,
                     s,
                     FlashTilingOf(s),
                     FlashScratchOf(s),
                     scale,
                     p.score.empty() ? nullptr : &p.score,
                     p.extra_inputs()};
  Slots slots{&run, TileFunction<kIsa>(), static_cast<float*>(args.workspace), run.tiling.items(s)};
  const int64_t count = std::min<int64_t>(FlashSlots(s), std::max(1, args.threads));
  if (count <= 1 || args.parallel_for == nullptr) return RunSlot(&slots, 0);
  args.parallel_for(args.stream, count, RunSlot, &slots);
}

template void AttentionFlash<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
template void AttentionFlash<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
template void AttentionFlash<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
