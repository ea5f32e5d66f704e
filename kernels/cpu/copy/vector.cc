// The vector variants. Each piece is copied as planes of the two loops that decide how memory is
// accessed, and the fill is stored around the pieces.
#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/common/nest.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/copy/copy.h"
#include "kernels/cpu/copy/plane.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kPieceBytes = 64 * 1024;
/// Rows of a transposed piece: enough to use whole pages of the input.
constexpr int64_t kTransposeRows = 128;

void SwapLoops(Nest& nest, int a, int b) {
  std::swap(nest.extent[a], nest.extent[b]);
  for (int k = 0; k < nest.operands; ++k) std::swap(nest.stride[k][a], nest.stride[k][b]);
}

/// Moves the loop along which the input is contiguous beside the innermost one, so that the two
/// form a transpose. Without such a loop nothing changes.
void ChooseRows(Nest& nest) {
  const int inner = nest.rank - 1;
  if (inner < 1) return;
  if (nest.stride[0][inner] == 1 || nest.stride[0][inner] == 0) return;
  for (int i = 0; i < inner - 1; ++i) {
    if (nest.stride[0][i] != 1) continue;
    SwapLoops(nest, i, inner - 1);
    return;
  }
}

/// Where the input repeats one element, makes the loop along which the output is contiguous the
/// innermost one.
void ChooseRepeats(Nest& nest) {
  const int inner = nest.rank - 1;
  if (inner < 1 || nest.stride[0][inner] != 0 || nest.stride[1][inner] == 1) return;
  for (int i = 0; i < inner; ++i) {
    if (nest.stride[0][i] == 0 && nest.stride[1][i] == 1) return SwapLoops(nest, i, inner);
  }
}

struct Loop {
  int64_t extent = 1, in = 0, out = 0;
};

Loop LoopOf(const Nest& nest, int i) {
  if (i < 0) return {};
  return {nest.extent[i], nest.stride[0][i], nest.stride[1][i]};
}

/// Columns of a piece. Where both sides are contiguous they form long runs. A transpose has fewer
/// columns, so that the piece has room for several rows, along which the input is contiguous.
int64_t PieceColumns(const Loop& row, const Loop& col, int64_t bytes) {
  const int64_t piece = kPieceBytes / bytes;
  const bool transposes = col.in != 1 && col.in != 0 && row.in == 1;
  const int64_t most = transposes ? piece / std::min<int64_t>(row.extent, kTransposeRows) : piece;
  return std::clamp<int64_t>(most, 1, col.extent);
}

/// Copies `domain` elements from `in` to `out`, both with their offset at the first element.
void CopyBox(const abi::ArgBlock& args, const Dims& domain, const abi::TensorArg& in,
             const abi::TensorArg& out, CopyPlaneFn copy) {
  const abi::TensorArg* const operands[] = {&in, &out};
  Nest nest = MakeNest(domain, operands, true);
  if (nest.Points() == 0) return;
  ChooseRepeats(nest);
  ChooseRows(nest);
  const Loop row = LoopOf(nest, nest.rank - 2);
  const Loop col = LoopOf(nest, nest.rank - 1);
  const int64_t bytes = DTypeBytes(out.dtype);
  const int64_t cols = PieceColumns(row, col, bytes);
  const int64_t col_cuts = (col.extent - 1) / cols + 1;
  const int64_t rows = std::clamp<int64_t>(kPieceBytes / (bytes * cols), 1, row.extent);
  const int64_t row_cuts = (row.extent - 1) / rows + 1;
  const int64_t planes = nest.Points() / (row.extent * col.extent);
  const int64_t grain = std::max<int64_t>(1, kPieceBytes / (bytes * cols * rows));
  ParallelRanges(args, planes * row_cuts * col_cuts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t c = piece % col_cuts * cols;
      const int64_t r = piece / col_cuts % row_cuts * rows;
      int64_t rest = piece / col_cuts / row_cuts;
      int64_t from = in.offset + r * row.in + c * col.in;
      int64_t to = out.offset + r * row.out + c * col.out;
      for (int i = nest.rank - 3; i >= 0; --i) {
        from += rest % nest.extent[i] * nest.stride[0][i];
        to += rest % nest.extent[i] * nest.stride[1][i];
        rest /= nest.extent[i];
      }
      copy({static_cast<const char*>(in.data) + from * bytes,
            static_cast<char*>(out.data) + to * bytes, row.in, col.in, row.out, col.out,
            std::min(rows, row.extent - r), std::min(cols, col.extent - c)});
    }
  });
}

/// `out` with its offset moved to the element `start`.
abi::TensorArg Window(const abi::TensorArg& out, const Dims& start) {
  abi::TensorArg window = out;
  for (int axis = 0; axis < out.rank; ++axis) window.offset += start[axis] * out.strides[axis];
  return window;
}

/// Stores the fill value in a box of the output.
struct Filler {
  const abi::ArgBlock& args;
  const abi::TensorArg& out;
  CopyPlaneFn copy;
  abi::TensorArg value;  ///< one element, repeated along every axis

  void Box(const Dims& start, const Dims& shape) const {
    CopyBox(args, shape, value, Window(out, start), copy);
  }

  /// Fills everything outside the piece in slabs: for each axis in turn the part before the piece
  /// and the part after it, limited to the piece along the axes that are already done.
  void Around(const Dims& piece_start, const Dims& piece_shape) const {
    Dims start = Dims::Filled(out.rank, 0);
    Dims shape = ShapeOf(out);
    for (int axis = 0; axis < out.rank; ++axis) {
      const int64_t end = piece_start[axis] + piece_shape[axis];
      shape[axis] = piece_start[axis];
      Box(start, shape);
      start[axis] = end;
      shape[axis] = out.shape[axis] - end;
      Box(start, shape);
      start[axis] = piece_start[axis];
      shape[axis] = piece_shape[axis];
    }
  }
};

void RunCopy(const abi::ArgBlock& args, CopyPlaneFn copy) {
  const auto& attrs = args.problem->as<abi::CopyAttrs>();
  const abi::TensorArg& out = Output(args, 0);
  uint64_t fill = 0;
  if (attrs.has_fill) {
    StoreScalar(&fill, out.dtype, ScalarFromDouble(attrs.fill, abi::ComputeDType(out.dtype)));
    abi::TensorArg value;
    value.data = &fill;
    value.dtype = out.dtype;
    value.rank = out.rank;
    const Filler filler{args, out, copy, value};
    const bool around = args.input_count == 1;
    if (around) filler.Around(attrs.starts[0], ShapeOf(Input(args, 0)));
    if (!around) filler.Box(Dims::Filled(out.rank, 0), ShapeOf(out));
  }
  for (uint32_t p = 0; p < args.input_count; ++p) {
    const abi::TensorArg& piece = Input(args, static_cast<int>(p));
    CopyBox(args, ShapeOf(piece), piece, Window(out, attrs.starts[p]), copy);
  }
}

}  // namespace

void baseline::Copy(const abi::ArgBlock& args) {
  RunCopy(args, FindCopyPlane(DTypeBytes(Output(args, 0).dtype)));
}
void avx2::Copy(const abi::ArgBlock& args) {
  RunCopy(args, FindCopyPlane(DTypeBytes(Output(args, 0).dtype)));
}
void avx512::Copy(const abi::ArgBlock& args) {
  RunCopy(args, FindCopyPlane(DTypeBytes(Output(args, 0).dtype)));
}

}  // namespace aicf::cpu
