#include "kernels/cpu/gemm/depthwise_window.h"

AICF_ISA_BEGIN
namespace {

// Most panels that one tile passes over. Together they read a few cache lines of each position of
// x.
constexpr int kGroupPanels = 8;

// What the tiles of one outer index share.
struct WindowRows {
  const Igemm& g;
  const Panel* panels;
  int64_t count;        // number of panels
  int64_t whole = 0;    // number of leading panels with all lanes; at most one other follows
  bool direct = false;  // sums go from the accumulators to the output
  const Outer* outer = nullptr;
  TileTap taps[kMaxTaps];
  WindowCall call;
  alignas(64) float tile[kWindowRows * kLanes];

  WindowRows(const Igemm& igemm, const Panel* p, int64_t n) : g(igemm), panels(p), count(n) {}
};

void PrepareCall(WindowRows* rows) {
  const TileEpilogue& e = rows->g.epilogue;
  const bool whole = rows->panels[rows->count - 1].columns == kLanes;
  rows->whole = whole ? rows->count : rows->count - 1;
  rows->direct = e.is_direct;
  WindowCall& call = rows->call;
  call.taps = rows->taps;
  call.x_stride = rows->g.window[2].x_stride;
  call.extent = rows->g.window[2].extent;
  call.b_stride = kLanes * rows->g.total_depth;
  call.start = rows->panels[0].start;
  call.start_stride = sizeof(Panel) / sizeof(float);
  call.out = rows->tile;
  call.out_stride = rows->direct ? e.outputs[0].row_stride : kLanes;
  call.out_panel_stride = rows->direct ? kLanes : 0;
  call.clamp = rows->direct && e.step_count == 1;
  if (call.clamp) {
    call.lo = e.steps[0].lo;
    call.hi = e.steps[0].hi;
  }
}

void EnterRows(const Outer& outer, const OuterTaps& outer_taps, WindowRows* rows) {
  const WindowAxis& w = rows->g.window[2];
  const Panel& panel = rows->panels[0];
  const float* b = outer.b + panel.b_offset;
  for (int64_t t = 0; t < outer_taps.count; ++t) {
    const OuterTap& tap = outer_taps.taps[t];
    rows->taps[t] = {tap.x + w.first * w.x_stride + panel.first_column, b + tap.index * kLanes};
  }
  rows->call.tap_count = outer_taps.count;
  rows->outer = &outer;
}

void RunPanels(WindowRows* rows, int height, bool inside, Range panels) {
  WindowCall& call = rows->call;
  const bool whole = panels.begin < rows->whole;
  const WindowReads reads = !inside ? WindowReads::kEdge
                            : whole ? WindowReads::kAll
                                    : WindowReads::kSomeLanes;
  call.first_panel = panels.begin;
  call.panels = panels.end - panels.begin;
  call.last = FirstLanes(rows->panels[panels.begin].columns);
  FindWindowTile(rows->g.window[2], height, reads)(call);
}

void RunWindowTile(WindowRows* rows, int64_t q, int height) {
  const Igemm& g = rows->g;
  const WindowAxis& w = g.window[2];
  WindowCall& call = rows->call;
  const Outer& outer = *rows->outer;
  const Reach reach = ReachOf(w, q, height);
  const bool inside = reach.low >= 0 && reach.high < w.extent;
  call.x = outer.x + q * w.stride * w.x_stride;
  call.first_position = reach.low;
  if (rows->direct) {
    const Segment& first = rows->panels[0].segments[0];
    call.out =
        reinterpret_cast<float*>(TileAddress(outer.outputs[0], g.epilogue.outputs[0], q, first));
    if (rows->whole > 0) RunPanels(rows, height, inside, {0, rows->whole});
    if (rows->whole < rows->count) RunPanels(rows, height, inside, {rows->whole, rows->count});
    return;
  }
  for (int64_t p = 0; p < rows->count; ++p) {
    RunPanels(rows, height, inside, {p, p + 1});
    FinishTile(g, rows->panels[p], outer, q, height, rows->tile);
  }
}

}  // namespace

void RunWindowUnit(const Igemm& g, Range panels, Range outers, Range rows) {
  Panel group[kGroupPanels];
  Outer outer;
  OuterTaps taps;
  for (int64_t first = panels.begin; first < panels.end; first += kGroupPanels) {
    const int64_t count = Smaller(kGroupPanels, panels.end - first);
    for (int64_t p = 0; p < count; ++p) EnterPanel(g, first + p, &group[p]);
    WindowRows window(g, group, count);
    PrepareCall(&window);
    for (int64_t o = outers.end; o-- > outers.begin;) {
      EnterOuter(g, o, &outer);
      CollectTaps(g, outer, &taps);
      EnterRows(outer, taps, &window);
      EachTile(rows, kWindowRows,
               [&](int64_t q, int height) { RunWindowTile(&window, q, height); });
    }
  }
}

AICF_ISA_END
