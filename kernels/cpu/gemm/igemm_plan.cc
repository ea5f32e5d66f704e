#include "kernels/cpu/gemm/igemm_plan.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/gemm/chain_plan.h"
#include "kernels/cpu/gemm/chain_table.h"
#include "kernels/cpu/gemm/panels.h"

namespace aicf::cpu {
namespace {

bool UsesIndex(const abi::Expr& expr) {
  return std::any_of(expr.nodes.begin(), expr.nodes.end(),
                     [](const abi::ExprNode& n) { return n.op == abi::ExprOp::kIndex; });
}

bool IsPointwise(const WindowAxis& w) { return w.count == 1 && w.first == 0 && w.stride == 1; }

// Calls f on every epilogue operand and output.
template <class F>
void EachOperand(TileEpilogue* e, const F& f) {
  for (int k = 0; k < e->input_count; ++k) f(e->inputs[k]);
  for (int k = 0; k < e->output_count; ++k) f(e->outputs[k]);
}

// Rows lie along the last spatial axis. Where that axis is a single position without a window, as
// in a sequence stored as length x 1, the axis before it takes its place, because a tile of one row
// would use only a fourteenth of the registers. The order of the packed weights does not change,
// since an axis with a single tap does not affect it.
void RotateRows(Igemm* g) {
  const int last = g->outer_rank - 1;
  if (g->outer[last] * g->outer[last - 1] <= 1) return;
  for (int turn = 0; turn < 2; ++turn) {
    if (g->width != 1 || g->window[2].count != 1 || g->window[2].first != 0) return;
    g->window[2] = g->window[1];
    g->window[1] = g->window[0];
    g->window[0] = WindowAxis{};
    g->width = g->outer[last];
    g->outer[last] = g->outer[last - 1];
    g->outer[last - 1] = 1;
    EachOperand(&g->epilogue, [&](TileOperand& o) {
      o.row_stride = o.outer_strides[last];
      o.outer_strides[last] = o.outer_strides[last - 1];
      o.outer_strides[last - 1] = 0;
    });
    TileEpilogue& e = g->epilogue;
    e.row_axis = e.outer_axes[last];
    e.outer_axes[last] = e.outer_axes[last - 1];
    e.outer_axes[last - 1] = -1;
  }
}

// Makes `axis` part of the rows if it continues them in x and in every operand.
bool MergeAxis(Igemm* g, int axis) {
  const int w = axis - (g->outer_rank - 2);  // window axis, negative for a batch axis
  if (g->b_outer_strides[axis] != 0 || (w >= 0 && !IsPointwise(g->window[w]))) return false;
  WindowAxis& row = g->window[2];
  const int64_t x_stride = w >= 0 ? g->window[w].x_stride : g->x_outer_strides[axis];
  if (w >= 0 && g->window[w].extent != g->outer[axis]) return false;
  if (g->width == 1) {
    // With a single row, the row strides have no meaning yet: those of the axis take their place.
    row.x_stride = x_stride;
    EachOperand(&g->epilogue, [&](TileOperand& o) { o.row_stride = o.outer_strides[axis]; });
  }
  bool merges = x_stride == row.x_stride * g->width;
  EachOperand(&g->epilogue, [&](const TileOperand& o) {
    merges &= o.outer_strides[axis] == o.row_stride * g->width;
  });
  if (!merges) return false;
  g->width *= g->outer[axis];
  g->outer[axis] = 1;
  row.extent = g->width;
  if (w >= 0) g->window[w].extent = 1;
  return true;
}

// Merges the rows of outer indices into longer rows where they follow one another in every operand,
// so that pointwise convolutions and batches with shared weights do not run in many short rows.
void MergeRows(Igemm* g) {
  if (!IsPointwise(g->window[2]) || g->window[2].extent != g->width) return;
  for (int axis = g->outer_rank - 1; axis >= 0; --axis) {
    if (g->outer[axis] != 1 && !MergeAxis(g, axis)) return;
  }
}

// Most bytes of x that a unit's rows read, so that they stay in the second-level cache while the
// panels of B pass over them. If all of B fits there too (kSmallPanelsBytes), shorter units are
// better, which read x from a nearer cache.
constexpr int64_t kUnitBytes = 1024 * 1024, kShortUnitBytes = 128 * 1024;
constexpr int64_t kSmallPanelsBytes = 256 * 1024;
// Least work of a unit, about 5 microseconds of one core. With less, a second thread costs more
// than it gains.
constexpr double kUnitFlops = 400e3;
constexpr int64_t kUnitsPerThread = 3;

void PlanUnits(int threads, Igemm* g) {
  g->outer_count = 1;
  for (int axis = 0; axis < g->outer_rank; ++axis) g->outer_count *= g->outer[axis];
  const int64_t taps = g->window[0].count * g->window[1].count;
  const int64_t row_elements = g->depthwise ? g->columns : g->planes * taps * g->depth;
  const int64_t row_bytes = std::max<int64_t>(1, row_elements) * int64_t{sizeof(float)};
  // A multiplication in a depthwise sum costs as much as several in a product, since each needs its
  // own load.
  const double flops = (g->depthwise ? 8.0 : 2.0) * static_cast<double>(g->outer_count) *
                       static_cast<double>(g->width) * static_cast<double>(g->total_depth) *
                       static_cast<double>(g->columns);
  int64_t parts = 1;
  if (threads > 1 && flops > 2 * kUnitFlops) {
    parts = std::min<int64_t>(threads * kUnitsPerThread, static_cast<int64_t>(flops / kUnitFlops));
  }
  const int64_t b_bytes = g->total_depth * g->columns * int64_t{sizeof(float)};
  const bool is_short = !g->depthwise && b_bytes <= kSmallPanelsBytes;
  const int64_t unit_bytes = is_short ? kShortUnitBytes : kUnitBytes;
  const int64_t rows = g->outer_count * g->width;
  // A unit has at least a few tiles of rows: shorter ones would make too little use of what is
  // loaded for a panel.
  const int64_t unit_rows = std::max<int64_t>(
      std::min(unit_bytes / row_bytes, CeilDiv(rows, parts)), std::min<int64_t>(28, rows));
  if (g->width >= unit_rows) {
    g->segments = std::max<int64_t>(1, g->width / std::max<int64_t>(1, unit_rows));
    g->outers_per_unit = 1;
  } else {
    g->segments = 1;
    g->outers_per_unit = std::max<int64_t>(1, unit_rows / std::max<int64_t>(1, g->width));
  }
  g->outer_groups = CeilDiv(g->outer_count, g->outers_per_unit);
  const int64_t row_units = std::max<int64_t>(1, g->segments * g->outer_groups);
  g->panel_groups = std::min(g->panel_count, CeilDiv(parts, row_units));
  g->panels_per_unit = CeilDiv(g->panel_count, std::max<int64_t>(1, g->panel_groups));
  g->panel_groups = CeilDiv(g->panel_count, std::max<int64_t>(1, g->panels_per_unit));
}

void FillOperand(const abi::TensorArg& t, const TileAxes& axes, TileOperand* o) {
  o->dtype = t.dtype;
  o->data = static_cast<char*>(t.data) + t.offset * DTypeBytes(t.dtype);
  for (int i = 0; i < axes.outer_rank; ++i) {
    o->outer_strides[i] = axes.outer[i] < 0 ? 0 : t.strides[axes.outer[i]] * axes.outer_scale[i];
  }
  o->row_stride = axes.row < 0 ? 0 : t.strides[axes.row] * axes.row_scale;
  o->col_stride = t.strides[axes.column];
}

struct UnitCall {
  const Igemm* igemm;
  void (*run_unit)(const Igemm&, int64_t);
};

void RunOneUnit(void* context, int64_t unit) {
  const auto& call = *static_cast<const UnitCall*>(context);
  call.run_unit(*call.igemm, unit);
}

}  // namespace

const IgemmIsa& IgemmIsaOf(abi::CpuIsa isa) {
  static constexpr IgemmIsa kIsas[] = {
      {4, &baseline::RunIgemmUnit, &baseline::EvalBlock, &baseline::EvalChain, &baseline::WidenRun},
      {8, &avx2::RunIgemmUnit, &avx2::EvalBlock, &avx2::EvalChain, &avx2::WidenRun},
      {16, &avx512::RunIgemmUnit, &avx512::EvalBlock, &avx512::EvalChain, &avx512::WidenRun},
  };
  return kIsas[static_cast<int>(isa)];
}

void FillEpilogue(const abi::ArgBlock& args, const TileAxes& axes, TileEpilogue* e) {
  const int core = args.problem->core_inputs;
  e->input_count = static_cast<int>(args.input_count) - core;
  for (int k = 0; k < e->input_count; ++k) {
    FillOperand(args.tensors[core + k], axes, &e->inputs[k]);
  }
  e->output_count = static_cast<int>(args.output_count);
  for (int k = 0; k < e->output_count; ++k) {
    FillOperand(args.tensors[args.input_count + k], axes, &e->outputs[k]);
  }
  e->expr = &args.problem->epilogue;
  e->row_axis = axes.row;
  e->col_axis = axes.column;
  std::copy(axes.outer, axes.outer + kMaxRank, e->outer_axes);
}

void PlanIgemm(const abi::ArgBlock& args, const IgemmIsa& isa, Igemm* g) {
  const Panels panels = g->depthwise ? Panels(g->columns, isa.lanes, kDepthwiseVectors)
                                     : Panels(g->columns, isa.lanes);
  g->panel_narrow = panels.narrow;
  g->panel_count = panels.count;
  g->panel_threes = panels.threes;
  // Tiles of six rows by four vectors do better than two of fourteen by two: they write whole rows
  // of the output and read x once. They need 32 registers.
  g->panel_pair =
      isa.lanes == 16 && panels.narrow == 2 && panels.vectors % 3 == 1 && panels.vectors > 1;
  if (g->panel_pair) --g->panel_count;
  g->panel_vectors = panels.vectors;
  const bool one_piece = g->pieces.piece_columns == g->columns;
  g->epilogue.eval_block = isa.eval_block;
  RotateRows(g);
  if (one_piece && !UsesIndex(*g->epilogue.expr)) MergeRows(g);
  if (!g->integer_sums) {
    PlanChain(*g->epilogue.expr, one_piece, &g->epilogue);
  } else {
    PlanIntegerChain(*g->epilogue.expr, one_piece, &g->epilogue);
  }
  const WindowAxis& w = g->window[2];
  g->merge_taps = !g->depthwise && w.count > 1 && w.step == 1 && w.x_stride == g->depth;
  PlanUnits(args.threads, g);
  TabulateChain(g->outer_count * g->width * g->columns, isa.eval_chain, &g->epilogue);
}

void RunIgemm(const abi::ArgBlock& args, const IgemmIsa& isa, Igemm* g) {
  PlanIgemm(args, isa, g);
  if (g->width == 0 || g->outer_count == 0 || g->columns == 0) return;

  const int64_t units = g->segments * g->outer_groups * g->panel_groups;
  UnitCall call = {g, isa.run_unit};
  if (units == 1 || args.threads <= 1) {
    for (int64_t u = 0; u < units; ++u) isa.run_unit(*g, u);
  } else {
    args.parallel_for(args.stream, units, RunOneUnit, &call);
  }
}

}  // namespace aicf::cpu
