// The vector variants. Along the output's innermost axis either nothing changes (channels last:
// runs of x are blended), or the row is resampled (columns last: rows are blended, then resampled).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/common/block_epilogue.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/resize/coordinates.h"
#include "kernels/cpu/resize/plan.h"
#include "kernels/cpu/resize/resize.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kPieceElements = 16384;

ResizeTap MakeTap(const AxisTaps& taps, int64_t stride) {
  ResizeTap tap{};
  for (int t = 0; t < taps.count; ++t) {
    tap.offset[t] = taps.index[t] * stride;
    tap.weight[t] = static_cast<float>(taps.weight[t]);
  }
  tap.count = taps.count;
  return tap;
}

template <class T>
void CopyTaps(const T* row, const ResizeTap* taps, int64_t n, T* out, int64_t step) {
  for (int64_t i = 0; i < n; ++i) out[i * step] = row[taps[i].offset[0]];
}

class Resampling {
 public:
  Resampling(const abi::ArgBlock& args, const ResizeLoops& loops)
      : args_(args),
        loops_(loops),
        epilogue_(args, loops.eval),
        x_(Input(args, 0)),
        out_(Output(args, 0)) {
    const abi::Problem& problem = *args.problem;
    copies_ = ResizeCopies(problem);
    column_ = ResizeColumnAxis(problem.outputs[0]);
    keeps_column_ = column_ < 0 || ResizeKeepsAxis(problem, column_);
    FillTaps();
    ChooseRowAxis();
  }

  void Run() const {
    const int64_t count = ElementCount(ShapeOf(out_)).value_or(0);
    if (count == 0) return;
    const int64_t lines = count / (Extent(row_) * Extent(column_));
    ParallelRanges(args_, lines, kPieceElements / (Extent(row_) * Extent(column_)) + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) RunLines(i);
                   });
  }

 private:
  int64_t Extent(int axis) const { return axis < 0 ? 1 : out_.shape[axis]; }
  int64_t OutStride(int axis) const { return axis < 0 ? 0 : out_.strides[axis]; }
  const ResizeTap& TapAt(int axis, int64_t o) const { return taps_[axis][o]; }

  void FillTaps() {
    const auto& attrs = args_.problem->as<abi::ResizeAttrs>();
    auto* next = static_cast<ResizeTap*>(args_.workspace);
    for (int axis = 0; axis < out_.rank; ++axis) {
      taps_[axis] = next;
      for (int64_t o = 0; o < out_.shape[axis]; ++o) {
        *next++ =
            MakeTap(TapsOf(attrs, axis, x_.shape[axis], out_.shape[axis], o), x_.strides[axis]);
      }
    }
  }

  /// The axis next to the column axis in the output's memory: its points share a block.
  void ChooseRowAxis() {
    for (int axis = 0; axis < out_.rank; ++axis) {
      if (axis == column_ || out_.shape[axis] < 2) continue;
      if (row_ < 0 || std::abs(OutStride(axis)) < std::abs(OutStride(row_))) row_ = axis;
    }
  }

  /// All points of the row axis at one position of the outer axes.
  void RunLines(int64_t line) const {
    int64_t at[kMaxRank] = {};
    for (int axis = out_.rank - 1; axis >= 0; --axis) {
      if (axis == row_ || axis == column_) continue;
      at[axis] = line % out_.shape[axis];
      line /= out_.shape[axis];
    }
    if (copies_) return CopyLines(at);
    const bool direct = epilogue_.identity() && (column_ < 0 || out_.strides[column_] == 1);
    if (direct) {
      auto* out = static_cast<float*>(ElementAt(out_, at));
      const Products outer = OuterProducts(at);
      for (int64_t r = 0; r < Extent(row_); ++r) {
        Row(outer, r, 0, Extent(column_), out + r * OutStride(row_));
      }
      return;
    }
    StoreLines(at);
  }

  void StoreLines(int64_t* at) const {
    const Products outer = OuterProducts(at);
    alignas(64) float raw[kBlockElements];
    const int64_t cols = std::min(Extent(column_), kBlockElements);
    const int64_t rows = std::min(Extent(row_), kBlockElements / cols);
    for (int64_t c = 0; c < Extent(column_); c += cols) {
      const int64_t width = std::min(cols, Extent(column_) - c);
      for (int64_t r = 0; r < Extent(row_); r += rows) {
        const int64_t height = std::min(rows, Extent(row_) - r);
        for (int64_t i = 0; i < height; ++i) Row(outer, r + i, c, width, raw + i * width);
        if (row_ >= 0) at[row_] = r;
        if (column_ >= 0) at[column_] = c;
        epilogue_.Store(at, row_, column_, height, width, raw, width);
        if (column_ >= 0) at[column_] = 0;
      }
    }
  }

  /// Elements of x and their weights.
  struct Products {
    int count = 1;
    int64_t offset[kMaxBlend];
    float weight[kMaxBlend];
  };

  /// Multiplies by the taps of one axis; weights of 0 are left out, so that an infinite element
  /// beside the sample does not turn it into NaN.
  static void MultiplyBy(const ResizeTap& tap, const Products& from, Products* to) {
    to->count = 0;
    for (int b = 0; b < from.count; ++b) {
      for (int64_t t = 0; t < tap.count; ++t) {
        if (tap.weight[t] == 0) continue;
        to->offset[to->count] = from.offset[b] + tap.offset[t];
        to->weight[to->count++] = from.weight[b] * tap.weight[t];
      }
    }
  }

  /// The products of the taps of the outer axes: neither rows nor columns.
  Products OuterProducts(const int64_t* at) const {
    Products products[2];
    int current = 0;
    products[0].offset[0] = x_.offset;
    products[0].weight[0] = 1;
    for (int axis = 0; axis < out_.rank; ++axis) {
      if (axis == column_ || axis == row_) continue;
      MultiplyBy(TapAt(axis, at[axis]), products[current], &products[1 - current]);
      current = 1 - current;
    }
    return products[current];
  }

  /// The outer products times the taps of row r, from element `first` of the column axis on.
  void BlendAt(const Products& outer, int64_t r, int64_t first, Blend* blend) const {
    static constexpr ResizeTap kItself = {{0}, {1}, 1};
    const ResizeTap& tap = row_ < 0 ? kItself : TapAt(row_, r);
    const int64_t bytes = DTypeBytes(x_.dtype);
    blend->count = 0;
    for (int b = 0; b < outer.count; ++b) {
      const char* from = static_cast<const char*>(x_.data) + (outer.offset[b] + first) * bytes;
      for (int64_t t = 0; t < tap.count; ++t) {
        if (tap.weight[t] == 0) continue;
        blend->from[blend->count] = from + tap.offset[t] * bytes;
        blend->weight[blend->count++] = outer.weight[b] * tap.weight[t];
      }
    }
  }

  /// Raw outputs [c, c + width) of row r.
  void Row(const Products& outer, int64_t r, int64_t c, int64_t width, float* raw) const {
    Blend blend;
    BlendAt(outer, r, keeps_column_ ? c : 0, &blend);
    if (keeps_column_) return loops_.blend(x_.dtype, blend, width, raw);
    alignas(64) float row[kResizeRow];
    const float* from = static_cast<const float*>(blend.from[0]);
    if (blend.count > 1 || blend.weight[0] != 1 || x_.dtype != DType::kF32) {
      loops_.blend(x_.dtype, blend, x_.shape[column_], row);
      from = row;
    }
    loops_.resample(from, taps_[column_] + c, taps_[column_]->count, width, raw);
  }

  void CopyLines(const int64_t* at) const {
    const int64_t bytes = DTypeBytes(x_.dtype);
    auto* out = static_cast<char*>(ElementAt(out_, at));
    const int64_t step = OutStride(column_);
    const bool run = keeps_column_ && (column_ < 0 || (step == 1 && x_.strides[column_] == 1));
    const int64_t outer = OuterProducts(at).offset[0];
    for (int64_t r = 0; r < Extent(row_); ++r) {
      const int64_t from = outer + (row_ < 0 ? 0 : TapAt(row_, r).offset[0]);
      const char* source = static_cast<const char*>(x_.data) + from * bytes;
      char* target = out + r * OutStride(row_) * bytes;
      if (run) {
        CopyRun(source, target, Extent(column_) * bytes);
      } else {
        CopyRow(source, target, step);
      }
    }
  }

  /// A short run in steps of 16 bytes, the last one overlapping, is faster than a call.
  static void CopyRun(const char* source, char* target, int64_t bytes) {
    if (bytes < 16 || bytes > 512) {
      std::memcpy(target, source, static_cast<size_t>(bytes));
      return;
    }
    for (int64_t i = 0; i + 16 < bytes; i += 16) std::memcpy(target + i, source + i, 16);
    std::memcpy(target + bytes - 16, source + bytes - 16, 16);
  }

  void CopyRow(const char* source, char* target, int64_t step) const {
    const auto copy = [&](auto element) {
      using T = decltype(element);
      CopyTaps(reinterpret_cast<const T*>(source), taps_[column_], Extent(column_),
               reinterpret_cast<T*>(target), step);
    };
    switch (DTypeBytes(x_.dtype)) {
      case 1:
        return copy(uint8_t{});
      case 2:
        return copy(uint16_t{});
      case 4:
        return copy(uint32_t{});
      default:
        return copy(uint64_t{});
    }
  }

  const abi::ArgBlock& args_;
  const ResizeLoops& loops_;
  BlockEpilogue epilogue_;
  const abi::TensorArg& x_;
  const abi::TensorArg& out_;
  ResizeTap* taps_[kMaxRank] = {};
  int column_ = -1, row_ = -1;
  bool keeps_column_ = true;
  bool copies_ = false;
};

}  // namespace

void baseline::Resize(const abi::ArgBlock& args) { Resampling(args, kResizeLoops).Run(); }
void avx2::Resize(const abi::ArgBlock& args) { Resampling(args, kResizeLoops).Run(); }
void avx512::Resize(const abi::ArgBlock& args) { Resampling(args, kResizeLoops).Run(); }

}  // namespace aicf::cpu
