#include "kernels/cpu/gemm/integer.h"

#include <algorithm>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/gemm/igemm_plan.h"
#include "kernels/cpu/gemm/integer_copy.h"
#include "kernels/cpu/gemm/integer_layout.h"
#include "kernels/cpu/gemm/integer_tiles.h"

namespace aicf::cpu {
namespace {

// A as cells: where they are, and their strides in cells.
struct CellRows {
  const float* data;
  int64_t batch_strides[kMaxRank] = {};
  int64_t row_stride = 0;
};

CellRows RowsInPlace(const abi::TensorArg& a, const GemmShape& s, IntegerForm form) {
  const int64_t per_cell = ValuesPerCell(form);
  CellRows rows;
  const char* first = static_cast<const char*>(a.data) + a.offset * DTypeBytes(a.dtype);
  rows.data = reinterpret_cast<const float*>(first);
  for (int axis = 0; axis < s.batch_rank; ++axis) {
    rows.batch_strides[axis] = a.strides[axis] / per_cell;
  }
  rows.row_stride = a.strides[s.batch_rank] / per_cell;
  return rows;
}

CellRows PrepareCells(const abi::ArgBlock& args, const GemmShape& s, abi::CpuIsa isa, void* copy) {
  const abi::TensorArg& a = args.tensors[0];
  const IntegerForm form = IntegerFormOf(*args.problem);
  if (GemmReadsCells(*args.problem)) return RowsInPlace(a, s, form);
  int order[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) order[i] = i;
  CopyCells(args, a, order, s.depth, form, isa, copy);
  CellRows rows;
  rows.data = static_cast<const float*>(copy);
  rows.row_stride = CellsOf(form, s.depth);
  int64_t stride = rows.row_stride * s.rows;
  for (int axis = s.batch_rank - 1; axis >= 0; stride *= a.shape[axis--]) {
    rows.batch_strides[axis] = stride;
  }
  return rows;
}

void RunPacked(const abi::ArgBlock& args, abi::CpuIsa kind, const CellRows& rows,
               const void* packed) {
  const abi::Problem& p = *args.problem;
  const IgemmIsa& isa = IgemmIsaOf(kind);
  const GemmShape s = GemmShapeOf(p);
  const IntegerMatrix matrix = GemmIntegerMatrixOf(p);
  Igemm g;
  g.form = matrix.form;
  g.integer_sums = true;
  g.flip = matrix.flip;
  g.find_integer = IntegerTilesOf(kind);
  g.x = rows.data;
  g.depth = g.total_depth = matrix.tap_cells();
  g.window[2].extent = g.width = s.rows;
  g.window[2].x_stride = rows.row_stride;
  g.outer_rank = s.batch_rank + 2;
  g.outer[s.batch_rank] = g.outer[s.batch_rank + 1] = 1;
  g.columns = g.pieces.piece_columns = s.columns;
  g.packed = static_cast<const float*>(packed);

  const GemmMatrices matrices = GemmMatricesOf(p);
  const int64_t matrix_cells = matrix.packed_cells(Panels(s.columns, isa.lanes));
  TileAxes axes;
  axes.outer_rank = g.outer_rank;
  axes.outer[s.batch_rank] = axes.outer[s.batch_rank + 1] = -1;
  for (int axis = 0; axis < s.batch_rank; ++axis) {
    g.outer[axis] = args.tensors[args.input_count].shape[axis];
    g.x_outer_strides[axis] = rows.batch_strides[axis];
    g.b_outer_strides[axis] = matrices.step[axis] * matrix_cells;
    axes.outer[axis] = axis;
  }
  axes.row = s.batch_rank;
  axes.column = s.batch_rank + 1;
  FillEpilogue(args, axes, &g.epilogue);
  RunIgemm(args, isa, &g);
}

void PackMatrices(const abi::ArgBlock& args, int lanes, char* packed) {
  const abi::Problem& p = *args.problem;
  const IntegerMatrix matrix = GemmIntegerMatrixOf(p);
  const Panels panels(matrix.columns, lanes);
  const int64_t matrix_bytes = matrix.packed_cells(panels) * int64_t{sizeof(float)};
  const int64_t panel_bytes =
      std::max<int64_t>(1, matrix_bytes / std::max<int64_t>(1, panels.count));
  const int64_t grain = std::max<int64_t>(1, 32768 / panel_bytes);
  const int64_t count = GemmMatricesOf(p).count;
  ParallelRanges(args, count * panels.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = i / panels.count;
      PackGemmIntegers(p, panels, i % panels.count, index, args.tensors[1].data,
                       packed + index * matrix_bytes);
    }
  });
}

}  // namespace

template <abi::CpuIsa kIsa>
void GemmInteger(const abi::ArgBlock& args) {
  const GemmShape s = GemmShapeOf(*args.problem);
  RunPacked(args, kIsa, PrepareCells(args, s, kIsa, args.workspace), args.tensors[1].data);
}

template <abi::CpuIsa kIsa>
void GemmIntegerPanels(const abi::ArgBlock& args) {
  const GemmShape s = GemmShapeOf(*args.problem);
  auto* cells = static_cast<char*>(args.workspace);
  char* packed = cells + GemmCellBytes(*args.problem);
  PackMatrices(args, IgemmIsaOf(kIsa).lanes, packed);
  RunPacked(args, kIsa, PrepareCells(args, s, kIsa, cells), packed);
}

#define AICF_GEMM_OF(isa)                                            \
  template void GemmInteger<abi::CpuIsa::isa>(const abi::ArgBlock&); \
  template void GemmIntegerPanels<abi::CpuIsa::isa>(const abi::ArgBlock&);
AICF_GEMM_OF(kBaseline)
AICF_GEMM_OF(kAvx2)
AICF_GEMM_OF(kAvx512)
#undef AICF_GEMM_OF

}  // namespace aicf::cpu
