#include "kernels/cpu/gemm/igemm.h"

#include "kernels/cpu/gemm/depthwise.h"
#include "kernels/cpu/gemm/depthwise_window.h"
#include "kernels/cpu/gemm/microkernel.h"
#include "kernels/cpu/gemm/tile.h"

AICF_ISA_BEGIN
namespace {

alignas(64) constexpr float kZeros[kMaxPaddedDepth] = {};

constexpr int64_t kCacheLineFloats = 16;

// What the tiles of one panel and outer index share. Most tiles are short, so everything that does
// not depend on the tile is determined once.
struct Rows {
  const Igemm& g;
  const Panel& panel;
  const Outer& outer;
  const OuterTaps& outer_taps;
  bool shallow = false;    // a row of a tile is one or two cache lines
  bool direct = false;     // tiles go from the accumulators to the output
  int64_t tap_count = 0;   // of interior tiles
  TileTap taps[kMaxTaps];  // for row 0
  TileCall call;           // the call of an interior tile, except for its place
  float* out = nullptr;    // direct: where row 0 goes
  int inner_rows = 0;      // of the interior tile that `inner` or `inner_integer` computes
  TileFn inner = nullptr;
  IntegerTileFn inner_integer = nullptr;
  alignas(64) float tile[kMaxTileRows * kMaxPanelColumns];

  Rows(const Igemm& igemm, const Panel& p, const Outer& o, const OuterTaps& t)
      : g(igemm), panel(p), outer(o), outer_taps(t) {}
};

int64_t TapFloats(const Rows& rows) { return rows.g.depth * PackedColumns(rows.panel); }

// The packed panel, and the beginning of its taps. In a panel of integers, the numbers from which
// the sums start precede the taps.
const float* PanelOf(const Rows& rows) { return rows.outer.b + rows.panel.b_offset; }
const float* TapsOf(const Rows& rows) {
  return PanelOf(rows) + (rows.g.form == IntegerForm::kNone ? 0 : PackedColumns(rows.panel));
}

// Depthwise: a tile reads only the channels of its own columns.
int64_t ChannelOffset(const Rows& rows) { return rows.g.depthwise ? rows.panel.first_column : 0; }

// Whether all taps along the rows become one entry of the list of taps, because their depths
// together are one contiguous run of x.
bool JoinsTaps(const Igemm& g, bool x_is_packed) {
  return !g.depthwise && (g.merge_taps || (x_is_packed && g.window[2].step == 1));
}

void ListTaps(Rows* rows) {
  const Igemm& g = rows->g;
  const WindowAxis& w = g.window[2];
  const float* b = TapsOf(*rows);
  const int64_t tap_floats = TapFloats(*rows);
  const int64_t first = w.first * w.x_stride + ChannelOffset(*rows);
  const int64_t inner = JoinsTaps(g, false) ? 1 : w.count;
  int64_t n = 0;
  for (int64_t t = 0; t < rows->outer_taps.count; ++t) {
    const OuterTap& tap = rows->outer_taps.taps[t];
    for (int64_t i = 0; i < inner; ++i) {
      rows->taps[n++] = {tap.x + first + i * w.step * w.x_stride, b + (tap.index + i) * tap_floats};
    }
  }
  rows->tap_count = n;
}

TileFn FindTileOf(const Rows& rows, int count, bool gathered) {
  if (!rows.g.depthwise) return FindTile(rows.panel.vectors, count, gathered);
  return FindDepthwiseTile(count, gathered, rows.panel.columns == kLanes);
}

IntegerTileFn FindIntegerTileOf(const Rows& rows, int count, bool gathered) {
  return rows.g.find_integer(rows.g.form, rows.g.flip, rows.panel.vectors, count, gathered);
}

// Runs a tile without keeping its function: the next tile is not likely to need the same one.
void RunTileOnce(const Rows& rows, int count, bool gathered, const TileCall& call) {
  if (rows.g.form == IntegerForm::kNone) return FindTileOf(rows, count, gathered)(call);
  FindIntegerTileOf(rows, count, gathered)(call);
}

void PrepareCall(Rows* rows) {
  const Igemm& g = rows->g;
  const Panel& panel = rows->panel;
  const TileEpilogue& e = g.epilogue;
  const WindowAxis& w = g.window[2];
  TileCall& call = rows->call;
  call.taps = rows->taps;
  call.tap_count = rows->tap_count;
  call.depth = g.merge_taps ? g.depth * w.count : g.depth;
  call.row_stride = w.stride * w.x_stride;
  rows->shallow = call.tap_count == 1 && call.depth <= 2 * kCacheLineFloats;
  call.start = g.form == IntegerForm::kNone ? panel.start : PanelOf(*rows);
  const bool packed = g.b_row_stride == 0;
  call.b_stride = packed ? PackedColumns(panel) : g.b_row_stride;
  call.b_far = PackedColumns(panel) * (packed ? PanelRows(g) : 1);
  call.last_x = FirstLanes(panel.columns - (panel.vectors - 1) * kLanes);
  rows->direct = e.is_direct && panel.segment_count == 1;
  call.clamp = rows->direct && e.step_count == 1;
  call.out = rows->tile;
  call.out_stride = panel.vectors * kLanes;
  call.last = FirstLanes(kLanes);
  if (!rows->direct) return;
  const TileOperand& out = e.outputs[0];
  rows->out =
      reinterpret_cast<float*>(TileAddress(rows->outer.outputs[0], out, 0, panel.segments[0]));
  call.out_stride = out.row_stride;
  call.last = call.last_x;
  if (call.clamp) {
    call.lo = e.steps[0].lo;
    call.hi = e.steps[0].hi;
  }
}

// Runs a tile that meets padding with one address per row and tap; rows outside x are read from a
// row of zeros.
void RunGathered(const Rows& rows, int64_t q, int count, TileCall* call) {
  const Igemm& g = rows.g;
  const WindowAxis& w = g.window[2];
  TileTap taps[kMaxTaps];
  const float* table[kMaxRowPointers];
  const float* b = TapsOf(rows);
  const float* x = rows.outer.x + ChannelOffset(rows);
  const int64_t tap_floats = TapFloats(rows);
  int64_t n = 0;
  for (int64_t t = 0; t < rows.outer_taps.count; ++t) {
    const OuterTap& tap = rows.outer_taps.taps[t];
    for (int64_t i = 0; i < w.count; ++i) {
      const float** row = table + n * count;
      bool any = g.flip;
      for (int r = 0; r < count; ++r) {
        const int64_t at = (q + r) * w.stride + w.first + i * w.step;
        const bool inside = tap.inside && at >= 0 && at < w.extent;
        row[r] = inside ? x + tap.x + at * w.x_stride : kZeros;
        any |= inside;
      }
      if (any) taps[n++] = {0, b + (tap.index + i) * tap_floats};
    }
  }
  call->taps = taps;
  call->rows = table;
  call->tap_count = n;
  call->depth = g.depth;
  RunTileOnce(rows, count, true, *call);
}

void ZeroFloats(float* to, int64_t n) {
  const Vec zero = Broadcast(0.0f);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(to + i, zero);
  if (i < n) StoreMasked(to + i, FirstLanes(static_cast<int>(n - i)), zero);
}

// Inline: runs are often a single vector, for which a call of memcpy would cost several times more.
AICF_INLINE void CopyFloats(float* to, const float* from, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(to + i, Load(from + i));
  if (i == n) return;
  const Mask tail = FirstLanes(static_cast<int>(n - i));
  StoreMasked(to + i, tail, LoadMasked(from + i, tail));
}

// Copies positions [low, high] of a tap's row of x, with zeros where x has no such position. The
// copy has `pixel` floats per position, of which x has the first `valid`; the others are zeros.
void CopyPadded(const WindowAxis& w, const float* x, int64_t low, int64_t high, int64_t pixel,
                int64_t valid, float* to) {
  const int64_t count = high - low + 1;
  const int64_t begin = low < 0 ? Smaller(-low, count) : 0;  // first position inside x
  int64_t end = Smaller(count, w.extent - low);
  if (end < begin) end = begin;
  ZeroFloats(to, begin * pixel);
  const float* from = x + (low + begin) * w.x_stride;
  if (w.x_stride == pixel && valid == pixel) {
    CopyFloats(to + begin * pixel, from, (end - begin) * pixel);
  } else {
    for (int64_t at = begin; at < end; ++at, from += w.x_stride) {
      CopyFloats(to + at * pixel, from, valid);
      if (valid < pixel) ZeroFloats(to + at * pixel + valid, pixel - valid);
    }
  }
  ZeroFloats(to + end * pixel, (count - end) * pixel);
}

// Runs a tile that meets padding on a copy of the part of x that it reads, in which padding is
// zeros, as if it were an interior tile. Returns false when the copy would be too large.
bool RunPadded(const Rows& rows, int64_t q, int count, TileCall* call) {
  constexpr int64_t kFloats = 8192;
  const Igemm& g = rows.g;
  const WindowAxis& w = g.window[2];
  const Reach reach = ReachOf(w, q, count);
  const int64_t positions = reach.high - reach.low + 1;
  const int64_t pixel = g.depthwise ? rows.panel.vectors * kLanes : g.depth;
  const int64_t valid = g.depthwise ? rows.panel.columns : g.depth;
  const int64_t row_floats = positions * pixel;
  if (row_floats * rows.outer_taps.count > kFloats) return false;
  alignas(64) float copy[kFloats];
  TileTap taps[kMaxTaps];
  const bool join = JoinsTaps(g, true);
  const float* b = TapsOf(rows);
  const int64_t tap_floats = TapFloats(rows);
  int64_t n = 0;
  for (int64_t t = 0; t < rows.outer_taps.count; ++t) {
    const OuterTap& tap = rows.outer_taps.taps[t];
    const int64_t start = t * row_floats;
    if (tap.inside) {
      CopyPadded(w, rows.outer.x + tap.x + ChannelOffset(rows), reach.low, reach.high, pixel, valid,
                 copy + start);
    } else {
      ZeroFloats(copy + start, row_floats);
    }
    for (int64_t i = 0; i < (join ? 1 : w.count); ++i) {
      const int64_t position = q * w.stride + w.first + i * w.step - reach.low;
      taps[n++] = {start + position * pixel, b + (tap.index + i) * tap_floats};
    }
  }
  call->taps = taps;
  call->tap_count = n;
  call->x = copy;
  call->depth = join ? g.depth * w.count : g.depth;
  call->row_stride = w.stride * pixel;
  call->last_x = FirstLanes(kLanes);
  RunTileOnce(rows, count, false, *call);
  return true;
}

// Runs a tile that meets padding.
void RunOutside(const Rows& rows, int64_t q, int count, TileCall call) {
  if (!RunPadded(rows, q, count, &call)) RunGathered(rows, q, count, &call);
}

// Prefetches the rows of the next tile. A shallow tile is so short that the processor does not look
// far enough ahead to do so by itself. The function is inline, since the compiler, to which it has
// no effect, would otherwise drop the call.
AICF_INLINE void PrefetchNext(const TileCall& call, int count) {
  const float* next = call.x + call.taps[0].x + count * call.row_stride;
  for (int r = 0; r < count; ++r, next += call.row_stride) {
    for (int64_t k = 0; k < call.depth; k += kCacheLineFloats) __builtin_prefetch(next + k);
  }
}

void FindInner(Rows* rows, int count) {
  rows->inner_rows = count;
  if (rows->g.form == IntegerForm::kNone) {
    rows->inner = FindTileOf(*rows, count, false);
  } else {
    rows->inner_integer = FindIntegerTileOf(*rows, count, false);
  }
}

void RunOneTile(Rows* rows, int64_t q, int count) {
  TileCall& call = rows->call;
  if (rows->direct) call.out = rows->out + q * call.out_stride;
  const Reach reach = ReachOf(rows->g.window[2], q, count);
  const bool inside = reach.low >= 0 && reach.high < rows->g.window[2].extent;
  if (inside && rows->outer_taps.all_inside) {
    if (count != rows->inner_rows) FindInner(rows, count);
    call.x = rows->outer.x + q * call.row_stride;
    if (rows->shallow) PrefetchNext(call, count);
    rows->inner != nullptr ? rows->inner(call) : rows->inner_integer(call);
  } else {
    RunOutside(*rows, q, count, call);
  }
  if (!rows->direct) FinishTile(rows->g, rows->panel, rows->outer, q, count, rows->tile);
}

void RunRows(const Igemm& g, const Panel& panel, const Outer& outer, const OuterTaps& outer_taps,
             Range range) {
  Rows rows(g, panel, outer, outer_taps);
  ListTaps(&rows);
  PrepareCall(&rows);
  int64_t most = g.depthwise ? kDepthwiseRows : kTileRows[panel.vectors - 1];
  const int64_t taps = outer_taps.count * g.window[2].count;
  if (taps > 0) most = Smaller(most, kMaxRowPointers / taps);
  EachTile(range, most, [&](int64_t q, int count) { RunOneTile(&rows, q, count); });
}

// The outer indices are the outermost loop, so that x is read once, in order. Unlike in a product,
// nothing of B is worth keeping in the cache.
void RunDepthwiseUnit(const Igemm& g, Range panels, Range outers, Range rows) {
  Outer outer;
  OuterTaps taps;
  for (int64_t o = outers.begin; o < outers.end; ++o) {
    EnterOuter(g, o, &outer);
    CollectTaps(g, outer, &taps);
    for (int64_t p = panels.begin; p < panels.end; ++p) {
      Panel panel;
      EnterPanel(g, p, &panel);
      RunRows(g, panel, outer, taps, rows);
    }
  }
}

void RunProductUnit(const Igemm& g, Range panels, Range outers, Range rows) {
  Panel panel;
  Outer outer;
  OuterTaps taps;
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    EnterPanel(g, p, &panel);
    for (int64_t o = outers.begin; o < outers.end; ++o) {
      EnterOuter(g, o, &outer);
      CollectTaps(g, outer, &taps);
      RunRows(g, panel, outer, taps, rows);
    }
  }
}

}  // namespace

void CollectTaps(const Igemm& g, const Outer& outer, OuterTaps* list) {
  const WindowAxis &d = g.window[0], &h = g.window[1];
  const int64_t q_d = outer.coords[g.outer_rank - 2], q_h = outer.coords[g.outer_rank - 1];
  int64_t count = 0, index = 0;
  list->all_inside = true;
  for (int64_t plane = 0; plane < g.planes; ++plane) {
    for (int64_t i = 0; i < d.count; ++i) {
      const int64_t z = q_d * d.stride + d.first + i * d.step;
      for (int64_t j = 0; j < h.count; ++j, index += g.window[2].count) {
        const int64_t y = q_h * h.stride + h.first + j * h.step;
        const bool inside = z >= 0 && z < d.extent && y >= 0 && y < h.extent;
        if (!inside && !g.flip) continue;
        const int64_t x = plane * g.plane_stride + z * d.x_stride + y * h.x_stride;
        list->taps[count++] = {x, index, inside};
        list->all_inside &= inside;
      }
    }
  }
  list->count = count;
}

void RunIgemmUnit(const Igemm& g, int64_t unit) {
  const bool window = g.depthwise && HasDepthwiseWindow(g.window[2]);
  if (window) unit = g.segments * g.outer_groups * g.panel_groups - 1 - unit;
  const int64_t segment = unit % g.segments;
  const int64_t outer_group = unit / g.segments % g.outer_groups;
  const int64_t panel_group = unit / g.segments / g.outer_groups;
  const Range rows = {g.width * segment / g.segments, g.width * (segment + 1) / g.segments};
  const int64_t first_outer = outer_group * g.outers_per_unit;
  const Range outers = {first_outer, Smaller(first_outer + g.outers_per_unit, g.outer_count)};
  const int64_t first_panel = panel_group * g.panels_per_unit;
  const Range panels = {first_panel, Smaller(first_panel + g.panels_per_unit, g.panel_count)};
  if (window) return RunWindowUnit(g, panels, outers, rows);
  g.depthwise ? RunDepthwiseUnit(g, panels, outers, rows) : RunProductUnit(g, panels, outers, rows);
}

AICF_ISA_END
