/// cpu.scatter.rows: one row of the data per tuple of indices, tuples in order.
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

template <abi::ScatterReduction kReduction, class T>
void ApplyRow(T* to, const T* from, int64_t count) {
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
  int64_t row = 1;
  for (int d = leading; d < updates.rank; ++d) row *= updates.shape[d];
  if (row == 0) return;
  // Threads share rows, not tuples: every element meets its updates in order.
  VisitCombine(
      out.dtype, args.problem->as<abi::ScatterAttrs>().reduction, [&](auto zero, auto reduction) {
        using T = decltype(zero);
        constexpr int64_t kGrain = 4096;
        ParallelRanges(args, row, kGrain, [&](int64_t begin, int64_t end) {
          ForEachIndex(tuples, [&](const int64_t* where) {
            const int64_t to = RowOf(indices, out, where);
            if (to < 0) return;
            const int64_t from = OffsetAt(updates, where);
            ApplyRow<decltype(reduction)::value>(static_cast<T*>(out.data) + to + begin,
                                                 static_cast<const T*>(updates.data) + from + begin,
                                                 end - begin);
          });
        });
      });
}

}  // namespace aicf::cpu
