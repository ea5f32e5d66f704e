#include "kernels/cpu/gemm/igemm.h"

#include "kernels/cpu/gemm/depthwise.h"
#include "kernels/cpu/gemm/microkernel.h"
#include "kernels/cpu/gemm/tile.h"

AICF_ISA_BEGIN
namespace {

alignas(64) constexpr float kZeros[kMaxPaddedDepth] = {};

// A tap without its position along the rows.
struct OuterTap {
  int64_t x;      // elements from Outer::x
  int64_t index;  // of its first tap along the rows, in packed order
};

struct OuterTaps {
  int64_t count;
  OuterTap taps[kMaxTaps];
};

// Lists the taps that lie inside x along the two outer window axes.
void CollectTaps(const Igemm& g, const Outer& outer, OuterTaps* list) {
  const WindowAxis &d = g.window[0], &h = g.window[1];
  const int64_t q_d = outer.coords[g.outer_rank - 2], q_h = outer.coords[g.outer_rank - 1];
  int64_t count = 0, index = 0;
  for (int64_t plane = 0; plane < g.planes; ++plane) {
    for (int64_t i = 0; i < d.count; ++i) {
      const int64_t z = q_d * d.stride + d.first + i * d.step;
      for (int64_t j = 0; j < h.count; ++j, index += g.window[2].count) {
        const int64_t y = q_h * h.stride + h.first + j * h.step;
        if (z < 0 || z >= d.extent || y < 0 || y >= h.extent) continue;
        const int64_t x = plane * g.plane_stride + z * d.x_stride + y * h.x_stride;
        list->taps[count++] = {x, index};
      }
    }
  }
  list->count = count;
}

// What the tiles of one panel and outer index share.
struct Rows {
  const Igemm& g;
  const Panel& panel;
  const Outer& outer;
  const OuterTaps& outer_taps;
  int64_t tap_count = 0;   // of interior tiles
  TileTap taps[kMaxTaps];  // for row 0

  Rows(const Igemm& igemm, const Panel& p, const Outer& o, const OuterTaps& t)
      : g(igemm), panel(p), outer(o), outer_taps(t) {}
};

int64_t TapFloats(const Rows& rows) { return rows.g.depth * rows.panel.vectors * kLanes; }

// Depthwise: a tile reads only the channels of its own columns.
int64_t ChannelOffset(const Rows& rows) { return rows.g.depthwise ? rows.panel.first_column : 0; }

// Taps along the rows are one entry of the list: the micro-kernel walks them itself.
bool JoinsTaps(const Igemm& g, bool x_is_packed) {
  const WindowAxis& w = g.window[2];
  if (g.depthwise) return w.step == 1 && HasDepthwiseWindow(w.count, w.stride);
  return g.merge_taps || (x_is_packed && w.step == 1);
}

void ListTaps(Rows* rows) {
  const Igemm& g = rows->g;
  const WindowAxis& w = g.window[2];
  const float* b = rows->outer.b + rows->panel.b_offset;
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

TileFn FindTileOf(const Rows& rows, int count, DepthwiseReads reads) {
  const Igemm& g = rows.g;
  if (!g.depthwise) return FindTile(rows.panel.vectors, count, reads == DepthwiseReads::kGathered);
  return FindDepthwiseTile(
      {reads, count, rows.panel.columns == kLanes, g.window[2].count, g.window[2].stride});
}

// First and last position of x that rows [q, q + count) read.
struct Reach {
  int64_t low, high;
};

Reach ReachOf(const WindowAxis& w, int64_t q, int count) {
  const int64_t last = w.first + (w.count - 1) * w.step;
  return {q * w.stride + Smaller(w.first, last),
          (q + count - 1) * w.stride + (w.first > last ? w.first : last)};
}

void RunInterior(const Rows& rows, int64_t q, int count, TileCall* call) {
  const Igemm& g = rows.g;
  const WindowAxis& w = g.window[2];
  call->taps = rows.taps;
  call->tap_count = rows.tap_count;
  call->x = rows.outer.x + q * w.stride * w.x_stride;
  call->depth = g.merge_taps ? g.depth * w.count : g.depth;
  call->row_stride = w.stride * w.x_stride;
  call->x_stride = w.x_stride;
  const bool window = g.depthwise && JoinsTaps(g, false);
  FindTileOf(rows, count, window ? DepthwiseReads::kWindow : DepthwiseReads::kSpread)(*call);
}

// A tile that meets padding, row by row: rows outside x are read from a row of zeros.
void RunGathered(const Rows& rows, int64_t q, int count, TileCall* call) {
  const Igemm& g = rows.g;
  const WindowAxis& w = g.window[2];
  TileTap taps[kMaxTaps];
  const float* table[kMaxRowPointers];
  const float* b = rows.outer.b + rows.panel.b_offset;
  const float* x = rows.outer.x + ChannelOffset(rows);
  const int64_t tap_floats = TapFloats(rows);
  int64_t n = 0;
  for (int64_t t = 0; t < rows.outer_taps.count; ++t) {
    const OuterTap& tap = rows.outer_taps.taps[t];
    for (int64_t i = 0; i < w.count; ++i) {
      const float** row = table + n * count;
      bool any = false;
      for (int r = 0; r < count; ++r) {
        const int64_t at = (q + r) * w.stride + w.first + i * w.step;
        const bool inside = at >= 0 && at < w.extent;
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
  FindTileOf(rows, count, DepthwiseReads::kGathered)(*call);
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

// Copies positions [low, high] of a tap's row of x, zeros where x has none: `pixel` floats each, of
// which x has the first `valid`.
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

// A tile that meets padding: the part of x that it reads is copied between zeros, and read as an
// interior tile is. False when the copy does not fit.
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
  const float* b = rows.outer.b + rows.panel.b_offset;
  const int64_t tap_floats = TapFloats(rows);
  int64_t n = 0;
  for (int64_t t = 0; t < rows.outer_taps.count; ++t) {
    const OuterTap& tap = rows.outer_taps.taps[t];
    const int64_t start = t * row_floats;
    CopyPadded(w, rows.outer.x + tap.x + ChannelOffset(rows), reach.low, reach.high, pixel, valid,
               copy + start);
    for (int64_t i = 0; i < (join ? 1 : w.count); ++i) {
      const int64_t position = q * w.stride + w.first + i * w.step - reach.low;
      taps[n++] = {start + position * pixel, b + (tap.index + i) * tap_floats};
    }
  }
  call->taps = taps;
  call->tap_count = n;
  call->x = copy;
  call->depth = join && !g.depthwise ? g.depth * w.count : g.depth;
  call->row_stride = w.stride * pixel;
  call->x_stride = pixel;
  call->last_x = FirstLanes(kLanes);
  const bool window = g.depthwise && join;
  FindTileOf(rows, count, window ? DepthwiseReads::kWindow : DepthwiseReads::kSpread)(*call);
  return true;
}

void RunMicrokernel(const Rows& rows, int64_t q, int count, TileCall* call) {
  const Reach reach = ReachOf(rows.g.window[2], q, count);
  if (reach.low >= 0 && reach.high < rows.g.window[2].extent) {
    RunInterior(rows, q, count, call);
  } else if (!RunPadded(rows, q, count, call)) {
    RunGathered(rows, q, count, call);
  }
}

void RunOneTile(const Rows& rows, int64_t q, int count) {
  const Igemm& g = rows.g;
  const Panel& panel = rows.panel;
  const TileEpilogue& e = g.epilogue;
  alignas(64) float tile[kMaxTileRows * kMaxPanelColumns];
  TileCall call;
  call.start = panel.start;
  call.b_stride = g.b_row_stride != 0 ? g.b_row_stride : panel.vectors * kLanes;
  call.last_x = FirstLanes(panel.columns - (panel.vectors - 1) * kLanes);
  call.clamp = false;
  if (e.is_direct && panel.segment_count == 1) {
    const TileOperand& out = e.outputs[0];
    call.out =
        reinterpret_cast<float*>(TileAddress(rows.outer.outputs[0], out, q, panel.segments[0]));
    call.out_stride = out.row_stride;
    call.last = call.last_x;
    if (e.step_count == 1) {
      call.clamp = true;
      call.lo = e.steps[0].lo;
      call.hi = e.steps[0].hi;
    }
    return RunMicrokernel(rows, q, count, &call);
  }
  call.out = tile;
  call.out_stride = panel.vectors * kLanes;
  call.last = FirstLanes(kLanes);
  RunMicrokernel(rows, q, count, &call);
  FinishTile(g, panel, rows.outer, q, count, tile);
}

// Rows [begin, end) of one outer index in tiles of nearly equal height: one short tile at the end
// would cost as much as a full one.
void RunRows(const Igemm& g, const Panel& panel, const Outer& outer, const OuterTaps& outer_taps,
             int64_t begin, int64_t end) {
  Rows rows(g, panel, outer, outer_taps);
  ListTaps(&rows);
  int64_t most = g.depthwise ? kDepthwiseRows : kTileRows[panel.vectors - 1];
  const int64_t taps = outer_taps.count * g.window[2].count;
  if (taps > 0) most = Smaller(most, kMaxRowPointers / taps);
  const int64_t count = end - begin, tiles = (count + most - 1) / most;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t q = begin + count * t / tiles;
    RunOneTile(rows, q, static_cast<int>(begin + count * (t + 1) / tiles - q));
  }
}

}  // namespace

void RunIgemmUnit(const Igemm& g, int64_t unit) {
  const int64_t segment = unit % g.segments;
  const int64_t outer_group = unit / g.segments % g.outer_groups;
  const int64_t panel_group = unit / g.segments / g.outer_groups;
  const int64_t begin = g.width * segment / g.segments, end = g.width * (segment + 1) / g.segments;
  const int64_t first_outer = outer_group * g.outers_per_unit;
  const int64_t last_outer = Smaller(first_outer + g.outers_per_unit, g.outer_count);
  const int64_t first_panel = panel_group * g.panels_per_unit;
  const int64_t last_panel = Smaller(first_panel + g.panels_per_unit, g.panel_count);
  if (g.depthwise) {
    // Rows first: x is read once, in order, and nothing of B is worth keeping.
    Outer outer;
    OuterTaps taps;
    for (int64_t o = first_outer; o < last_outer; ++o) {
      EnterOuter(g, o, &outer);
      CollectTaps(g, outer, &taps);
      for (int64_t p = first_panel; p < last_panel; ++p) {
        Panel panel;
        EnterPanel(g, p, &panel);
        RunRows(g, panel, outer, taps, begin, end);
      }
    }
    return;
  }
  for (int64_t p = first_panel; p < last_panel; ++p) {
    Panel panel;
    EnterPanel(g, p, &panel);
    Outer outer;
    OuterTaps taps;
    for (int64_t o = first_outer; o < last_outer; ++o) {
      EnterOuter(g, o, &outer);
      CollectTaps(g, outer, &taps);
      RunRows(g, panel, outer, taps, begin, end);
    }
  }
}

AICF_ISA_END
