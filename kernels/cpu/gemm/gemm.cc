#include "kernels/cpu/gemm/gemm.h"

#include <algorithm>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/gemm/copy_dense.h"
#include "kernels/cpu/gemm/igemm_plan.h"
#include "kernels/cpu/gemm/layout.h"

namespace aicf::cpu {
namespace {

// A as the product reads it: rows of contiguous depth.
struct Rows {
  const float* data;
  int64_t batch_strides[kMaxRank] = {};
  int64_t row_stride;
};

Rows PrepareRows(const abi::ArgBlock& args, const GemmShape& s, WidenRunFn widen, float* copy) {
  const abi::TensorArg& a = args.tensors[0];
  Rows rows;
  if (GemmReadsA(*args.problem)) {
    rows.data = static_cast<const float*>(a.data) + a.offset;
    std::copy(a.strides, a.strides + s.batch_rank, rows.batch_strides);
    rows.row_stride = a.strides[s.batch_rank];
    return rows;
  }
  int order[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) order[i] = i;
  CopyDense(args, a, order, widen, copy);
  rows.data = copy;
  rows.row_stride = s.depth;
  int64_t stride = s.depth * s.rows;
  for (int axis = s.batch_rank - 1; axis >= 0; stride *= a.shape[axis--]) {
    rows.batch_strides[axis] = stride;
  }
  return rows;
}

// Fills in everything of *g but B. A matrix product has no window, so the two outer window axes
// that follow the batch axes have extent 1.
void FillProduct(const abi::ArgBlock& args, const GemmShape& s, const Rows& rows, Igemm* g) {
  g->x = rows.data;
  g->depth = g->total_depth = s.depth;
  g->window[2].extent = g->width = s.rows;
  g->window[2].x_stride = rows.row_stride;
  g->outer_rank = s.batch_rank + 2;
  g->outer[s.batch_rank] = g->outer[s.batch_rank + 1] = 1;
  g->columns = g->pieces.piece_columns = s.columns;

  TileAxes axes;
  axes.outer_rank = g->outer_rank;
  axes.outer[s.batch_rank] = axes.outer[s.batch_rank + 1] = -1;
  for (int axis = 0; axis < s.batch_rank; ++axis) {
    g->outer[axis] = args.tensors[args.input_count].shape[axis];
    g->x_outer_strides[axis] = rows.batch_strides[axis];
    axes.outer[axis] = axis;
  }
  axes.row = s.batch_rank;
  axes.column = s.batch_rank + 1;
  FillEpilogue(args, axes, &g->epilogue);
}

void UsePacked(const GemmMatrices& matrices, int64_t matrix_floats, const float* packed, Igemm* g) {
  g->packed = packed;
  for (int axis = 0; axis < g->outer_rank - 2; ++axis) {
    g->b_outer_strides[axis] = matrices.step[axis] * matrix_floats;
  }
}

// Packs columns [first, s.columns) of every matrix of B.
void PackColumns(const abi::ArgBlock& args, const GemmShape& s, const GemmMatrices& matrices,
                 int64_t first, int lanes, float* packed) {
  const abi::Problem& p = *args.problem;
  const Panels panels(s.columns - first, lanes);
  const int64_t matrix_floats = panels.packed_floats(s.depth);
  const int64_t panel_floats = std::max<int64_t>(1, matrix_floats / panels.count);
  const int64_t n_stride = p.inputs[1].strides.back();
  const int64_t grain = std::max<int64_t>(1, 32768 / panel_floats);
  ParallelRanges(args, matrices.count * panels.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / panels.count;
      PackGemmPanel(p, panels, i % panels.count, s.columns - first, args.tensors[1].data,
                    GemmMatrixOffset(p, matrix) + first * n_stride,
                    packed + matrix * matrix_floats);
    }
  });
}

// Multiplies with B read in place, for as many columns as are whole vectors, and returns their
// number. The remaining columns are left to the caller.
int64_t RunInPlace(const abi::ArgBlock& args, const IgemmIsa& isa, const GemmShape& s,
                   const Rows& rows) {
  const abi::TensorArg& b = args.tensors[1];
  Igemm g;
  FillProduct(args, s, rows, &g);
  g.columns = g.pieces.piece_columns = s.columns / isa.lanes * isa.lanes;
  g.packed = static_cast<const float*>(b.data) + b.offset;
  g.b_row_stride = b.strides[s.batch_rank];
  for (int axis = 0; axis < s.batch_rank; ++axis) g.b_outer_strides[axis] = b.strides[axis];
  RunIgemm(args, isa, &g);
  return g.columns;
}

void ShiftColumns(int64_t first, Igemm* g) {
  TileEpilogue& e = g->epilogue;
  for (int k = 0; k < e.input_count + e.output_count; ++k) {
    TileOperand& o = k < e.input_count ? e.inputs[k] : e.outputs[k - e.input_count];
    o.data += first * o.col_stride * DTypeBytes(o.dtype);
  }
  g->columns -= first;
  g->pieces.piece_columns = g->columns;
  g->index_column = first;
}

}  // namespace

template <abi::CpuIsa kIsa>
void GemmPacked(const abi::ArgBlock& args) {
  const IgemmIsa& isa = IgemmIsaOf(kIsa);
  const GemmShape s = GemmShapeOf(*args.problem);
  Igemm g;
  FillProduct(args, s, PrepareRows(args, s, isa.widen, static_cast<float*>(args.workspace)), &g);
  UsePacked(GemmMatricesOf(*args.problem), GemmPackedFloats(*args.problem, isa.lanes),
            static_cast<const float*>(args.tensors[1].data), &g);
  RunIgemm(args, isa, &g);
}

template <abi::CpuIsa kIsa>
void GemmPanels(const abi::ArgBlock& args) {
  const IgemmIsa& isa = IgemmIsaOf(kIsa);
  const abi::Problem& p = *args.problem;
  const GemmShape s = GemmShapeOf(p);
  const GemmMatrices matrices = GemmMatricesOf(p);
  auto* packed = static_cast<float*>(args.workspace);
  const Rows rows =
      PrepareRows(args, s, isa.widen, packed + matrices.count * GemmPackedFloats(p, isa.lanes));

  const int64_t done = GemmReadsB(p, isa.lanes) ? RunInPlace(args, isa, s, rows) : 0;
  if (done == s.columns) return;
  PackColumns(args, s, matrices, done, isa.lanes, packed);
  Igemm g;
  FillProduct(args, s, rows, &g);
  ShiftColumns(done, &g);
  UsePacked(matrices, Panels(g.columns, isa.lanes).packed_floats(s.depth), packed, &g);
  RunIgemm(args, isa, &g);
}

#define AICF_GEMM_OF(isa)                                           \
  template void GemmPacked<abi::CpuIsa::isa>(const abi::ArgBlock&); \
  template void GemmPanels<abi::CpuIsa::isa>(const abi::ArgBlock&);
AICF_GEMM_OF(kBaseline)
AICF_GEMM_OF(kAvx2)
AICF_GEMM_OF(kAvx512)
#undef AICF_GEMM_OF

}  // namespace aicf::cpu
