/// cpu.scatter.rows: one row of the data per tuple of indices, tuples in order.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/scatter/combine.h"
#include "kernels/cpu/scatter/scatter.h"

namespace aicf::cpu {
namespace {

/// Offset in the output of the row that the tuple at `where` names; -1 when it is out of range.
int64_t RowOf(const abi::TensorArg& indices, const abi::TensorArg& out, const int64_t* where) {
  const int leading = indices.rank - 1;
  const int64_t first = OffsetAt(indices, where);
  int64_t row = out.offset;
  for (int64_t k = 0; k < indices.shape[leading]; ++k) {
    const int64_t at =
        WrappedIndex(IndexAt(indices, first + k * indices.strides[leading]), out.shape[k]);
    if (at < 0) return -1;
    row += at * out.strides[k];
  }
  return row;
}

/// The elements of a row, which are the last axes of the updates and of the output: runs that are
/// contiguous in both, and the axes that count these.
struct Row {
  Dims runs;          ///< extents of the axes that count runs
  Dims from, to;      ///< their strides in the updates and in the output
  int64_t count = 1;  ///< elements of the row
  int64_t run = 1;    ///< elements of a run

  Row(const abi::TensorArg& updates, const abi::TensorArg& out, int axes) {
    bool contiguous = true;
    Dims inner;  // axes that count runs, innermost first
    for (int back = 1; back <= axes; ++back) {
      const int u = updates.rank - back, o = out.rank - back;
      const int64_t extent = updates.shape[u];
      count *= extent;
      contiguous =
          contiguous && (extent == 1 || (updates.strides[u] == run && out.strides[o] == run));
      contiguous ? void(run *= extent) : inner.push_back(back);
    }
    for (int i = inner.rank() - 1; i >= 0; --i) {
      const auto back = static_cast<int>(inner[i]);
      runs.push_back(updates.shape[updates.rank - back]);
      from.push_back(updates.strides[updates.rank - back]);
      to.push_back(out.strides[out.rank - back]);
    }
  }

  /// f(offset in the updates, offset in the output, elements) for each piece of elements [begin,
  /// end).
  template <class F>
  void ForEachPiece(int64_t begin, int64_t end, const F& f) const {
    while (begin < end) {
      int64_t coords[kMaxRank] = {};
      CoordinatesOf(runs, begin / run, coords);
      int64_t source = begin % run, target = begin % run;
      for (int d = 0; d < runs.rank(); ++d) {
        source += coords[d] * from[d];
        target += coords[d] * to[d];
      }
      const int64_t piece = std::min(run - begin % run, end - begin);
      f(source, target, piece);
      begin += piece;
    }
  }
};

template <abi::ScatterReduction kReduction, class T>
void Apply(T* to, const T* from, int64_t count) {
  if constexpr (kReduction == abi::ScatterReduction::kNone) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = Combine<kReduction>(to[i], from[i]);
  }
}

}  // namespace

void ScatterRows(const abi::ArgBlock& args) {
  const abi::TensorArg &indices = Input(args, 1), &updates = Input(args, 2), &out = Output(args, 0);
  CopyDense(args);
  const int leading = indices.rank - 1;
  Dims tuples;
  for (int d = 0; d < leading; ++d) tuples.push_back(indices.shape[d]);
  const Row row(updates, out, updates.rank - leading);
  if (row.count == 0) return;
  // Threads share the elements of a row, not the tuples, so that every element gets its updates in
  // order.
  VisitCombine(
      out.dtype, args.problem->as<abi::ScatterAttrs>().reduction, [&](auto zero, auto reduction) {
        using T = decltype(zero);
        constexpr int64_t kGrain = 4096;
        ParallelRanges(args, row.count, kGrain, [&](int64_t begin, int64_t end) {
          ForEachIndex(tuples, [&](const int64_t* where) {
            const int64_t first = RowOf(indices, out, where);
            if (first < 0) return;
            T* to = static_cast<T*>(out.data) + first;
            const T* from = static_cast<const T*>(updates.data) + OffsetAt(updates, where);
            row.ForEachPiece(begin, end, [&](int64_t source, int64_t target, int64_t count) {
              Apply<decltype(reduction)::value>(to + target, from + source, count);
            });
          });
        });
      });
}

}  // namespace aicf::cpu
