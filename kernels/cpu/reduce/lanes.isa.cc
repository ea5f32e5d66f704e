#include "kernels/cpu/reduce/lanes.h"

#include "kernels/cpu/common/lanes.h"

AICF_ISA_BEGIN
namespace {

using abi::ReduceKind;

/// Reduces a run of values with four vectors of lanes in turn, so that an addition need not wait
/// for the one before it.
template <class Op>
float Run(const float* p, int64_t n) {
  const Lanes start = AllLanes(Op::kIdentity);
  Lanes a = start, b = start, c = start, d = start;
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = Op::Do(a, LoadLanes(p + i));
    b = Op::Do(b, LoadLanes(p + i + kLanes));
    c = Op::Do(c, LoadLanes(p + i + 2 * kLanes));
    d = Op::Do(d, LoadLanes(p + i + 3 * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) a = Op::Do(a, LoadLanes(p + i));
  const Lanes all = Op::Do(Op::Do(a, b), Op::Do(c, d));
  float result = FoldLanes(all, [](Lanes x, Lanes y) { return Op::Do(x, y); });
  for (; i < n; ++i) result = Op::Do(result, p[i]);
  return result;
}

/// Reduces a block. The sums of runs are combined in double, since a block may have many rows while
/// a run is short.
template <class Op>
double All(const ReduceBlock& block) {
  constexpr int64_t kRun = 1024;
  double sum = 0;
  float extreme = Op::kIdentity;
  for (int64_t r = 0; r < block.rows; ++r) {
    const float* row = block.data + r * block.row_stride;
    for (int64_t c = 0; c < block.cols; c += kRun) {
      const float run = Run<Op>(row + c, block.cols - c < kRun ? block.cols - c : kRun);
      sum += static_cast<double>(run);
      extreme = Op::Do(extreme, run);
    }
  }
  return Op::kIdentity == 0 ? sum : static_cast<double>(extreme);
}

double ReduceAll(ReduceKind kind, const ReduceBlock& block) {
  if (kind == ReduceKind::kMax) return All<MaxOp>(block);
  if (kind == ReduceKind::kMin) return All<MinOp>(block);
  return All<SumOp>(block);
}

/// Four rows per pass over the accumulators.
template <class Op>
void Columns(const ReduceBlock& block, float* acc) {
  const int64_t stride = block.row_stride;
  int64_t r = 0;
  for (; r + 4 <= block.rows; r += 4) {
    const float* p = block.data + r * stride;
#pragma GCC ivdep
    for (int64_t c = 0; c < block.cols; ++c) {
      const float* q = p + c;
      acc[c] =
          Op::Do(Op::Do(Op::Do(Op::Do(acc[c], q[0]), q[stride]), q[2 * stride]), q[3 * stride]);
    }
  }
  for (; r < block.rows; ++r) {
    const float* p = block.data + r * stride;
#pragma GCC ivdep
    for (int64_t c = 0; c < block.cols; ++c) acc[c] = Op::Do(acc[c], p[c]);
  }
}

void ReduceColumns(ReduceKind kind, const ReduceBlock& block, float* acc) {
  if (kind == ReduceKind::kMax) return Columns<MaxOp>(block, acc);
  if (kind == ReduceKind::kMin) return Columns<MinOp>(block, acc);
  Columns<SumOp>(block, acc);
}

/// Values are multiplied by `sign`, which is -1 to look for the smallest. A NaN is better than any
/// value; once one is found, nothing is better.
void ArgColumns(bool smaller, bool last, const ReduceBlock& block, int64_t first, float* best,
                int64_t* index) {
  const float sign = smaller ? -1.0f : 1.0f;
  for (int64_t r = 0; r < block.rows; ++r) {
    const float* p = block.data + r * block.row_stride;
    const int64_t at = first + r;
    if (last) {
#pragma GCC ivdep
      for (int64_t c = 0; c < block.cols; ++c) {
        const bool better = (best[c] == best[c]) & !(sign * p[c] < sign * best[c]);
        best[c] = better ? p[c] : best[c];
        index[c] = better ? at : index[c];
      }
    } else {
#pragma GCC ivdep
      for (int64_t c = 0; c < block.cols; ++c) {
        const bool better = (best[c] == best[c]) & !(sign * p[c] <= sign * best[c]);
        best[c] = better ? p[c] : best[c];
        index[c] = better ? at : index[c];
      }
    }
  }
}

}  // namespace

extern const ReduceLoops kReduceLoops = {&EvalBlock, &ReduceAll, &ReduceColumns, &ArgColumns};

AICF_ISA_END
