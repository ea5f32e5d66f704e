#include "kernels/cpu/blockgemm/blockgemm.h"

#include <algorithm>

#include "kernels/cpu/blockgemm/layout.h"
#include "kernels/cpu/blockgemm/products.h"
#include "kernels/cpu/common/block_epilogue.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/common/vnni.h"
#include "kernels/cpu/gemm/copy_dense.h"

namespace aicf::cpu {
namespace {

struct BlockIsa {
  void (*int8)(const BlockTask&);
  void (*fp32)(const BlockTask&);
  void (*round)(const float*, const BlockRounding&, int64_t, BlockRows&);
  WidenRunFn widen;
  EvalBlockFn eval;
};

template <abi::CpuIsa kIsa>
const BlockIsa& BlockIsaOf() {
  if constexpr (kIsa == abi::CpuIsa::kAvx2) {
    static const BlockIsa isa = {&avx2::BlockProductsInt8, &avx2::BlockProductsFp32,
                                 &avx2::RoundBlockRow, &avx2::WidenRun, &avx2::EvalBlock};
    return isa;
  } else {
    static const BlockIsa isa = {
        HasVnni() ? &avx512vnni::BlockProductsInt8 : &avx512::BlockProductsInt8,
        &avx512::BlockProductsFp32, &avx512::RoundBlockRow, &avx512::WidenRun, &avx512::EvalBlock};
    return isa;
  }
}

// The rows of A, read in place or copied, and rounded in math mode int8.
BlockRows PrepareBlockRows(const abi::ArgBlock& args, const BlockIsa& isa, const BlockShape& s) {
  const abi::Problem& p = *args.problem;
  const abi::TensorArg& a = Input(args, 0);
  const BlockWorkspace w = BlockWorkspaceOf(p);
  char* workspace = static_cast<char*>(args.workspace);
  BlockRows rows;
  rows.depth = rows.stride = s.depth;
  if (IsEvenRows(p.inputs[0])) {
    rows.values = static_cast<const float*>(a.data) + a.offset;
    rows.stride = RowStrideOf(p.inputs[0]);
  } else {
    int order[kMaxRank];
    for (int i = 0; i < kMaxRank; ++i) order[i] = i;
    auto* copy = reinterpret_cast<float*>(workspace + w.copy);
    CopyDense(args, a, order, isa.widen, copy);
    rows.values = copy;
  }
  if (!RoundsBlockRows(p)) return rows;
  rows.codes = reinterpret_cast<int8_t*>(workspace + w.codes);
  rows.scales = reinterpret_cast<float*>(workspace + w.scales);
  rows.starts = reinterpret_cast<BlockRows::Start*>(workspace + w.starts);
  const BlockRounding rounding = BlockRoundingOf(p.as<abi::BlockGemmAttrs>().format);
  constexpr int64_t kElements = 32 * 1024;  // elements of a piece, some microseconds of work
  ParallelRanges(args, s.rows, kElements / s.depth, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      isa.round(rows.values + r * rows.stride, rounding, r, rows);
    }
  });
  return rows;
}

/// Stores results in the output. A row number counts along all axes of the output but the last.
class BlockResults {
 public:
  BlockResults(const abi::ArgBlock& args, EvalBlockFn eval)
      : out_(Output(args, 0)), epilogue_(args, eval) {
    while (row_axis_ > 0 && out_.shape[row_axis_] == 1) --row_axis_;
    const abi::View& view = args.problem->outputs[0];
    if (epilogue_.identity() && IsEvenRows(view)) even_stride_ = RowStrideOf(view);
  }

  /// Whether raw results are the final results and can be written straight to the output, whose
  /// rows are then even_stride() apart.
  bool direct() const { return even_stride_ >= 0; }
  int64_t even_stride() const { return even_stride_; }
  float* At(int64_t row, int64_t column) const {
    return static_cast<float*>(out_.data) + out_.offset + row * even_stride_ + column;
  }

  /// Applies the epilogue to raw results of a rectangle and stores what comes out.
  void Store(int64_t row, int64_t rows, int64_t column, int64_t columns, const float* raw,
             int64_t raw_stride) const {
    const int64_t most = std::max<int64_t>(1, kBlockElements / columns);
    for (const int64_t end = row + rows; row < end;) {
      int64_t coords[kMaxRank] = {};
      int64_t rest = row;
      for (int axis = row_axis_; axis >= 0; --axis) {
        coords[axis] = rest % out_.shape[axis];
        rest /= out_.shape[axis];
      }
      coords[out_.rank - 1] = column;
      const int64_t left = out_.shape[row_axis_] - coords[row_axis_];
      const int64_t count = std::min({end - row, left, most});
      epilogue_.Store(coords, row_axis_, out_.rank - 1, count, columns, raw, raw_stride);
      row += count;
      raw += count * raw_stride;
    }
  }

 private:
  const abi::TensorArg& out_;
  BlockEpilogue epilogue_;
  int row_axis_ = out_.rank - 2;  // the innermost axis of rows that has more than one
  int64_t even_stride_ = -1;
};

// Size of a piece's raw results. With few rows, a piece has as many columns as one call of the
// epilogue takes. With many, it has as many rows as stay in the second-level cache beside the
// panels, a multiple of the rows of all tiles (kTileMultiple).
constexpr int64_t kManyRows = 132, kTileMultiple = 12;
constexpr int64_t kManyColumns = kTilePanels * kBlockColumns;
constexpr int64_t kFewColumns = kBlockElements;
constexpr int64_t kRawFloats = std::max(kManyRows * kManyColumns, kFewRows* kFewColumns);

int64_t Pieces(int64_t count, int64_t most) { return (count + most - 1) / most; }

struct BlockCut {
  int64_t rows, panels;  ///< of a piece
};

BlockCut CutBlocks(const BlockShape& s) {
  if (s.rows > kFewRows) {
    const int64_t rows = Pieces(s.rows, Pieces(s.rows, kManyRows));
    return {Pieces(rows, kTileMultiple) * kTileMultiple, kTilePanels};
  }
  constexpr int64_t kPieceBytes = 32 * 1024;  // about a microsecond
  return {s.rows, std::clamp<int64_t>(kPieceBytes / s.panel_bytes, 1, kFewColumns / kBlockColumns)};
}

}  // namespace

template <abi::CpuIsa kIsa>
void BlockGemmColumns(const abi::ArgBlock& args) {
  const BlockIsa& isa = BlockIsaOf<kIsa>();
  const BlockShape s = BlockShapeOf(*args.problem);
  const BlockRows rows = PrepareBlockRows(args, isa, s);
  const BlockResults results(args, isa.eval);
  const BlockCut cut = CutBlocks(s);
  const bool rounded = RoundsBlockRows(*args.problem);
  const int64_t row_pieces = Pieces(s.rows, cut.rows);
  const int64_t panel_pieces = Pieces(s.panels, cut.panels);
  // Pieces of the same rows follow one another, so that the rows stay in the cache.
  ParallelRanges(args, row_pieces * panel_pieces, 1, [&](int64_t piece, int64_t) {
    alignas(64) float raw[kRawFloats];
    BlockTask task;
    task.format = args.problem->as<abi::BlockGemmAttrs>().format;
    task.a = rows;
    task.packed = static_cast<const char*>(Input(args, 1).data);
    task.panel_bytes = s.panel_bytes;
    task.halves_bytes = s.halves_bytes;
    task.first_row = piece / panel_pieces * cut.rows;
    task.rows = std::min(cut.rows, s.rows - task.first_row);
    task.first_panel = piece % panel_pieces * cut.panels;
    task.panels = std::min(cut.panels, s.panels - task.first_panel);
    const int64_t column = task.first_panel * kBlockColumns, width = task.panels * kBlockColumns;
    const int64_t columns = std::min(width, s.columns - column);
    const bool direct = results.direct() && columns == width;
    task.out = direct ? results.At(task.first_row, column) : raw;
    task.out_stride = direct ? results.even_stride() : width;
    (rounded ? isa.int8 : isa.fp32)(task);
    if (!direct) results.Store(task.first_row, task.rows, column, columns, raw, width);
  });
}

template void BlockGemmColumns<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
template void BlockGemmColumns<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
