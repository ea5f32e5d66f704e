// The vector variants. A group is read once into contiguous f32 (its own output, a thread's buffer,
// or the workspace), normalised there, and stored through the epilogue.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/common/epilogue.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/normalize/group.h"
#include "kernels/cpu/normalize/loops.h"
#include "kernels/cpu/normalize/normalize.h"

namespace aicf::cpu {
namespace {

using abi::NormalizeKind;

/// Elements that are enough work for a piece of their own.
constexpr int64_t kPieceElements = 8192;

alignas(64) thread_local float staged[kStagedGroup];

class Normalization {
 public:
  Normalization(const abi::ArgBlock& args, const NormalizeLoops& loops)
      : args_(args), loops_(loops), attrs_(args.problem->as<abi::NormalizeAttrs>()), plan_(args) {
    const abi::Problem& problem = *args.problem;
    const bool run = plan_.row < 0;  // a group is one loop
    in_output_ = GroupInOutput(problem) && run && Strides(plan_.OutputOperand(0)) == 1;
    const bool as_it_is = problem.prologue.empty() && problem.inputs[0].dtype == DType::kF32;
    in_place_source_ = as_it_is && run && Strides(0) == 1;
    rows_in_place_ = as_it_is && plan_.in_lines && Strides(0) == 1;
  }

  void Run() const {
    if (plan_.groups == 0 || plan_.elements == 0) return;
    if (plan_.across >= 0) return RunTiles();
    ParallelRanges(args_, plan_.groups, kPieceElements / plan_.elements + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t g = begin; g < end; ++g) RunGroup(g);
                   });
  }

 private:
  void RunTiles() const {
    const int64_t count = plan_.groups / plan_.nest.extent[plan_.across] * plan_.tiles;
    ParallelRanges(args_, count, kPieceElements / (plan_.elements * plan_.tile) + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       if (plan_.in_lines)
                         RunLines(i);
                       else
                         RunTile(i);
                     }
                   });
  }

  /// The columns of a tile: their sums, and the shift and scale that all columns of a group share.
  struct Columns {
    alignas(64) double totals[kLineColumns] = {};
    alignas(64) float shift[kLineColumns] = {};
    alignas(64) float scale[kLineColumns] = {};
  };

  /// Normalises a tile of groups whose runs alternate (GroupPlan::in_lines). It walks over the rows
  /// for the means, again for the variances, and again for the results.
  void RunLines(int64_t index) const {
    int64_t at[kMaxRank] = {};
    const int64_t width = plan_.LocateTile(index, at), columns = width * plan_.cols;
    Columns all;
    const auto sum = [&](bool squares) {
      std::fill_n(all.totals, columns, 0.0);
      ForLines(at, columns, [&](const Piece& p, const float* values, int64_t stride) {
        loops_.column_sums(values, stride, p.rows, columns, all.shift, squares, all.totals);
      });
    };
    if (attrs_.kind == NormalizeKind::kLayerNorm) {
      sum(false);
      ShareMeans(
          width, [](double mean) { return mean; }, all.totals, all.shift);
    }
    sum(true);
    const auto scale = [&](double mean) { return 1 / std::sqrt(mean + attrs_.epsilon); };
    ShareMeans(width, scale, all.totals, all.scale);
    ForLines(at, columns, [&](const Piece& p, const float* values, int64_t stride) {
      loops_.column_affine(values, stride, staged, p.rows, columns, all.shift, all.scale);
      StorePiece(p, staged);
    });
  }

  /// Sets every column of a group to f(mean of the group's elements).
  template <class F>
  void ShareMeans(int64_t width, const F& f, const double* totals, float* columns) const {
    for (int64_t w = 0; w < width; ++w) {
      double total = 0;
      for (int64_t c = 0; c < plan_.cols; ++c) total += totals[w * plan_.cols + c];
      const auto value = static_cast<float>(f(total / static_cast<double>(plan_.elements)));
      std::fill_n(columns + w * plan_.cols, plan_.cols, value);
    }
  }

  /// Calls f(piece, values, distance of its rows) for pieces of whole rows, where they lie or
  /// loaded into `staged`.
  template <class F>
  void ForLines(int64_t* at, int64_t columns, const F& f) const {
    const int64_t together = std::max<int64_t>(1, kBlockElements / columns);
    for (int64_t r = 0; r < plan_.rows; r += together) {
      at[plan_.row] = r;
      const Piece piece = {at, plan_.row, plan_.col, std::min(together, plan_.rows - r), columns};
      if (rows_in_place_) {
        f(piece, static_cast<const float*>(AddressOf(Input(args_, 0), 0, at)),
          plan_.StrideOf(0, plan_.row));
      } else {
        LoadPiece(piece, staged);
        f(piece, staged, columns);
      }
    }
  }

  /// Normalises a tile of groups side by side, staged as elements x width.
  void RunTile(int64_t index) const {
    int64_t at[kMaxRank] = {};
    const int64_t width = plan_.LocateTile(index, at);
    const int64_t rows = std::min(plan_.elements, kBlockElements / width);
    for (int64_t e = 0; e < plan_.elements; e += rows) {
      at[plan_.col] = e;
      const Piece piece = {at, plan_.col, plan_.across, std::min(rows, plan_.elements - e), width};
      LoadPiece(piece, staged + e * width);
    }
    loops_.columns(attrs_.kind, attrs_.epsilon, staged, plan_.elements, width);
    for (int64_t e = 0; e < plan_.elements; e += rows) {
      at[plan_.col] = e;
      const Piece piece = {at, plan_.col, plan_.across, std::min(rows, plan_.elements - e), width};
      StorePiece(piece, staged + e * width);
    }
  }

  /// Rows and columns along two loops, starting at at[].
  struct Piece {
    const int64_t* at;
    int row_loop, col_loop;
    int64_t rows, cols;
  };

  /// Distance of a group's neighbours in an operand; 1 for a single element.
  int64_t Strides(int operand) const {
    return plan_.cols == 1 ? 1 : plan_.StrideOf(operand, plan_.col);
  }

  void RunGroup(int64_t group) const {
    int64_t at[kMaxRank] = {};
    plan_.LocateGroup(group, at);
    float* const dst = Destination(group, at);
    const float* src = dst;
    if (in_place_source_) {
      src = static_cast<const float*>(AddressOf(Input(args_, 0), 0, at));
    } else {
      ForBlocks(at, dst, [&](const Piece& p, float* values) { LoadPiece(p, values); });
    }
    Normalize(src, dst);
    if (in_output_) return;
    ForBlocks(at, dst, [&](const Piece& p, float* values) { StorePiece(p, values); });
  }

  float* Destination(int64_t group, const int64_t* at) const {
    if (in_output_)
      return static_cast<float*>(AddressOf(Output(args_, 0), plan_.OutputOperand(0), at));
    if (plan_.elements <= kStagedGroup) return staged;
    return static_cast<float*>(args_.workspace) + group * plan_.elements;
  }

  void* AddressOf(const abi::TensorArg& t, int operand, const int64_t* at) const {
    const int64_t index = t.offset + plan_.IndexOf(operand, at);
    return static_cast<char*>(t.data) + index * DTypeBytes(t.dtype);
  }

  void Normalize(const float* src, float* dst) const {
    const int64_t n = plan_.elements;
    if (attrs_.kind == NormalizeKind::kSoftmax) {
      const double sum = loops_.exponentials(src, dst, n, loops_.max(src, n));
      return loops_.affine(dst, dst, n, 0, static_cast<float>(1 / sum));
    }
    if (attrs_.kind == NormalizeKind::kLogSoftmax) {
      const float max = loops_.max(src, n);
      const double sum = loops_.exponentials(src, nullptr, n, max);
      loops_.affine(src, dst, n, max, 1);
      return loops_.affine(dst, dst, n, static_cast<float>(std::log(sum)), 1);
    }
    const auto count = static_cast<double>(n);
    const bool layer = attrs_.kind == NormalizeKind::kLayerNorm;
    const auto mean = static_cast<float>(layer ? loops_.sum(src, n) / count : 0);
    const double variance = loops_.squares(src, n, mean) / count;
    loops_.affine(src, dst, n, mean, static_cast<float>(1 / std::sqrt(variance + attrs_.epsilon)));
  }

  BlockOrigin OriginOf(const Piece& piece, int64_t* origin) const {
    for (int i = 0; i < plan_.nest.rank; ++i) origin[plan_.nest.axis[i]] = piece.at[i];
    return {origin, piece.row_loop < 0 ? -1 : plan_.nest.axis[piece.row_loop],
            piece.col_loop < 0 ? -1 : plan_.nest.axis[piece.col_loop]};
  }

  BlockInput InputAt(int k, const Piece& piece) const {
    const abi::TensorArg& t = Input(args_, k);
    return {AddressOf(t, k, piece.at), plan_.StrideOf(k, piece.row_loop),
            plan_.StrideOf(k, piece.col_loop), t.dtype};
  }

  BlockOutput OutputAt(int r, const Piece& piece) const {
    const int operand = plan_.OutputOperand(r);
    const abi::TensorArg& t = Output(args_, r);
    return {AddressOf(t, operand, piece.at), plan_.StrideOf(operand, piece.row_loop),
            plan_.StrideOf(operand, piece.col_loop), t.dtype};
  }

  /// Evaluates the prologue over a piece into contiguous values.
  void LoadPiece(const Piece& piece, float* dst) const {
    const abi::Expr& prologue = args_.problem->prologue;
    BlockInput inputs[abi::kMaxExprInputs];
    for (int k = 0; k < args_.problem->core_inputs; ++k) inputs[k] = InputAt(k, piece);
    int64_t coords[kMaxRank] = {};
    const BlockOrigin origin = OriginOf(piece, coords);
    const BlockOutput dense = {dst, piece.cols, 1, DType::kF32};
    loops_.eval(prologue.empty() ? IdentityExpr(DType::kF32) : prologue, piece.rows, piece.cols,
                inputs, &dense, &origin);
  }

  /// Evaluates the epilogue over a piece and stores the results.
  void StorePiece(const Piece& piece, const float* src) const {
    const abi::Problem& problem = *args_.problem;
    BlockInput inputs[abi::kMaxExprInputs];
    inputs[0] = {src, piece.cols, 1, DType::kF32};
    for (int k = 0; k < problem.extra_inputs(); ++k) {
      inputs[k + 1] = InputAt(problem.core_inputs + k, piece);
    }
    BlockOutput outputs[abi::kMaxExprResults];
    for (int r = 0; r < plan_.outputs; ++r) outputs[r] = OutputAt(r, piece);
    int64_t coords[kMaxRank] = {};
    const BlockOrigin origin = OriginOf(piece, coords);
    loops_.eval(problem.epilogue.empty() ? IdentityExpr(DType::kF32) : problem.epilogue, piece.rows,
                piece.cols, inputs, outputs, &origin);
  }

  /// Calls f(piece, values) for the blocks of a group, whose values follow one another.
  template <class F>
  void ForBlocks(int64_t* at, float* values, const F& f) const {
    for (int64_t b = 0; b < plan_.blocks; ++b) {
      Piece piece = {at, plan_.row, plan_.col, 1, 1};
      plan_.LocateBlock(b, at, &piece.rows, &piece.cols);
      f(piece, values);
      values += piece.rows * piece.cols;
    }
  }

  const abi::ArgBlock& args_;
  const NormalizeLoops& loops_;
  const abi::NormalizeAttrs& attrs_;
  GroupPlan plan_;
  bool in_output_;
  bool in_place_source_;
  bool rows_in_place_;  ///< of groups in lines
};

}  // namespace

void baseline::Normalize(const abi::ArgBlock& args) { Normalization(args, kNormalizeLoops).Run(); }
void avx2::Normalize(const abi::ArgBlock& args) { Normalization(args, kNormalizeLoops).Run(); }
void avx512::Normalize(const abi::ArgBlock& args) { Normalization(args, kNormalizeLoops).Run(); }

}  // namespace aicf::cpu
