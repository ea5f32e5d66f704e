// The vector variants. Tasks (outputs, or tiles of outputs) are independent; the reduced points of
// a task are summed in pieces whose number the problem decides, and the pieces are added in order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/common/epilogue.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/reduce/lanes.h"
#include "kernels/cpu/reduce/plan.h"
#include "kernels/cpu/reduce/reduce.h"

namespace aicf::cpu {
namespace {

using abi::ReduceKind;

/// Rows that may be added in f32 before the sum moves to double.
constexpr int64_t kRowsInFloat = 64;

double Combine(ReduceKind kind, double a, double b) {
  if (kind == ReduceKind::kSum) return a + b;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return kind == ReduceKind::kMax ? std::max(a, b) : std::min(a, b);
}

double IdentityOf(ReduceKind kind) {
  const double infinity = std::numeric_limits<double>::infinity();
  return kind == ReduceKind::kSum ? 0 : kind == ReduceKind::kMax ? -infinity : infinity;
}

class Reduction {
 public:
  Reduction(const abi::ArgBlock& args, const ReduceLoops& loops, const abi::TensorArg& target,
            double* partials)
      : args_(args), loops_(loops), target_(target), partials_(partials), plan_(args, target) {
    const auto& attrs = args.problem->as<abi::ReduceAttrs>();
    kind_ = attrs.kind == ReduceKind::kMean ? ReduceKind::kSum : attrs.kind;
    divisor_ = attrs.kind == ReduceKind::kMean ? static_cast<double>(plan_.count) : 1;
    last_ = attrs.last_index;
  }

  void Run() const {
    const int64_t piece =
        std::max<int64_t>(1, plan_.count / plan_.splits) * (plan_.inner ? 1 : plan_.block_cols);
    ParallelRanges(args_, plan_.tasks * plan_.splits, kReducePiece / piece + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       RunPiece(i / plan_.splits, i % plan_.splits);
                   });
    if (plan_.splits == 1) return;
    for (int64_t task = 0; task < plan_.tasks; ++task) CombinePieces(task);
  }

 private:
  static constexpr int64_t kTile = kReduceTile;

  bool IsArg() const { return kind_ == ReduceKind::kArgMin || kind_ == ReduceKind::kArgMax; }

  void RunPiece(int64_t task, int64_t split) const {
    int64_t at[kMaxRank] = {};
    const int64_t width = plan_.LocateTask(task, at);
    int64_t target_at[kMaxRank];
    std::copy(at, at + kMaxRank, target_at);
    const int64_t first = plan_.blocks * split / plan_.splits;
    const int64_t end = plan_.blocks * (split + 1) / plan_.splits;
    if (IsArg()) return plan_.inner ? ArgInner(at, target_at) : ArgOuter(at, target_at, width);
    double result[kTile];
    if (plan_.inner) {
      result[0] = SumInner(first, end, at);
    } else {
      SumOuter(first, end, at, width, result);
    }
    if (plan_.splits == 1) return Store(target_at, width, result);
    std::copy(result, result + width, PartialsOf(task, split));
  }

  double SumInner(int64_t first, int64_t end, int64_t* at) const {
    double total = IdentityOf(kind_);
    for (int64_t b = first; b < end; ++b) {
      total = Combine(kind_, total, loops_.all(kind_, LoadBlock(b, at, 1)));
    }
    return total;
  }

  void SumOuter(int64_t first, int64_t end, int64_t* at, int64_t width, double* total) const {
    const double identity = IdentityOf(kind_);
    float acc[kTile];
    int64_t pending = 0;
    std::fill(total, total + width, identity);
    std::fill(acc, acc + width, static_cast<float>(identity));
    for (int64_t b = first; b < end; ++b) {
      const ReduceBlock block = LoadBlock(b, at, width);
      loops_.columns(kind_, block, acc);
      pending += block.rows;
      if (pending < kRowsInFloat && b + 1 < end) continue;
      for (int64_t c = 0; c < width; ++c) {
        total[c] = Combine(kind_, total[c], static_cast<double>(acc[c]));
      }
      std::fill(acc, acc + width, static_cast<float>(identity));
      pending = 0;
    }
  }

  /// One output: the extreme value of each block, then its position.
  void ArgInner(int64_t* at, const int64_t* target_at) const {
    const bool smaller = kind_ == ReduceKind::kArgMin;
    float best = 0;
    int64_t index = 0;
    for (int64_t b = 0; b < plan_.blocks; ++b) {
      const ReduceBlock block = LoadBlock(b, at, 1);
      const float extreme =
          static_cast<float>(loops_.all(smaller ? ReduceKind::kMin : ReduceKind::kMax, block));
      const bool better = !(smaller ? extreme >= best : extreme <= best);
      if (b > 0 && (std::isnan(best) || (!better && !(last_ && extreme == best)))) continue;
      best = extreme;
      index = at[plan_.col] + PositionIn(block, extreme);
    }
    TargetAt<int64_t>(target_at)[0] = index;
  }

  /// First position of the value (or last, but always the first NaN) in a block of one row.
  int64_t PositionIn(const ReduceBlock& block, float value) const {
    const bool nan = std::isnan(value);
    int64_t found = 0;
    for (int64_t c = 0; c < block.cols; ++c) {
      if (!(block.data[c] == value || (nan && std::isnan(block.data[c])))) continue;
      found = c;
      if (nan || !last_) break;
    }
    return found;
  }

  void ArgOuter(int64_t* at, const int64_t* target_at, int64_t width) const {
    float best[kTile];
    int64_t index[kTile] = {};
    for (int64_t b = 0; b < plan_.blocks; ++b) {
      const ReduceBlock block = LoadBlock(b, at, width);
      if (b == 0) std::copy(block.data, block.data + width, best);
      loops_.arg_columns(kind_ == ReduceKind::kArgMin, last_, block,
                         plan_.row < 0 ? 0 : at[plan_.row], best, index);
    }
    const int64_t step = plan_.col < 0 ? 0 : plan_.nest.stride[plan_.TargetOperand()][plan_.col];
    int64_t* out = TargetAt<int64_t>(target_at);
    for (int64_t c = 0; c < width; ++c) out[c * step] = index[c];
  }

  /// Values of a block: in place, or through the prologue (a conversion at least) into scratch.
  ReduceBlock LoadBlock(int64_t b, int64_t* at, int64_t width) const {
    alignas(64) static thread_local float scratch[kBlockElements];
    int64_t rows = 1, cols = 1;
    plan_.LocateBlock(b, at, &rows, &cols);
    if (!plan_.inner) cols = width;
    BlockInput inputs[abi::kMaxExprInputs];
    for (int k = 0; k < plan_.core; ++k) inputs[k] = InputAt(k, at);
    if (plan_.direct) {
      return {static_cast<const float*>(inputs[0].data), inputs[0].row_stride, rows, cols};
    }
    int64_t origin[kMaxRank] = {};
    for (int i = 0; i < plan_.nest.rank; ++i) origin[plan_.nest.axis[i]] = at[i];
    const BlockOrigin from = {origin, plan_.row < 0 ? -1 : plan_.nest.axis[plan_.row],
                              plan_.col < 0 ? -1 : plan_.nest.axis[plan_.col]};
    const abi::Expr& prologue = args_.problem->prologue;
    const BlockOutput dense{scratch, cols, 1, DType::kF32};
    loops_.eval(prologue.empty() ? IdentityExpr(DType::kF32) : prologue, rows, cols, inputs, &dense,
                &from);
    return {scratch, cols, rows, cols};
  }

  BlockInput InputAt(int k, const int64_t* at) const {
    const abi::TensorArg& t = Input(args_, k);
    const int64_t* stride = plan_.nest.stride[plan_.InputOperand(k)];
    int64_t index = t.offset;
    for (int i = 0; i < plan_.nest.rank; ++i) index += at[i] * stride[i];
    return {static_cast<const char*>(t.data) + index * DTypeBytes(t.dtype),
            plan_.row < 0 ? 0 : stride[plan_.row], plan_.col < 0 ? 0 : stride[plan_.col], t.dtype};
  }

  template <class T>
  T* TargetAt(const int64_t* at) const {
    return static_cast<T*>(target_.data) + target_.offset + plan_.TargetIndex(at);
  }

  void Store(const int64_t* at, int64_t width, const double* result) const {
    const int64_t step = plan_.col < 0 ? 0 : plan_.nest.stride[plan_.TargetOperand()][plan_.col];
    float* out = TargetAt<float>(at);
    for (int64_t c = 0; c < width; ++c) out[c * step] = static_cast<float>(result[c] / divisor_);
  }

  double* PartialsOf(int64_t task, int64_t split) const {
    return partials_ + (task * plan_.splits + split) * (plan_.inner ? 1 : plan_.block_cols);
  }

  void CombinePieces(int64_t task) const {
    int64_t at[kMaxRank] = {};
    const int64_t width = plan_.LocateTask(task, at);
    double* total = PartialsOf(task, 0);
    for (int64_t s = 1; s < plan_.splits; ++s) {
      const double* piece = PartialsOf(task, s);
      for (int64_t c = 0; c < width; ++c) total[c] = Combine(kind_, total[c], piece[c]);
    }
    Store(at, width, total);
  }

  const abi::ArgBlock& args_;
  const ReduceLoops& loops_;
  const abi::TensorArg& target_;
  double* partials_;
  ReducePlan plan_;
  ReduceKind kind_;
  double divisor_;
  bool last_;
};

/// A dense tensor of the outputs' shape, after the partial results in the workspace.
abi::TensorArg RawTensor(const abi::ArgBlock& args) {
  abi::TensorArg raw = Output(args, 0);
  raw.data = static_cast<double*>(args.workspace) + ReducePartials(*args.problem);
  raw.offset = 0;
  raw.dtype = RawDType(*args.problem);
  const Dims strides = RowMajorStrides(ShapeOf(raw));
  std::copy(strides.begin(), strides.end(), raw.strides);
  return raw;
}

void RunReduce(const abi::ArgBlock& args, const ReduceLoops& loops) {
  if (ElementCount(ShapeOf(Output(args, 0))).value_or(0) == 0) return;
  const bool direct = RawIsOutput(*args.problem);
  const abi::TensorArg target = direct ? Output(args, 0) : RawTensor(args);
  Reduction(args, loops, target, static_cast<double*>(args.workspace)).Run();
  if (!direct) EvalEpilogue(args, loops.eval, target);
}

}  // namespace

void baseline::Reduce(const abi::ArgBlock& args) { RunReduce(args, kReduceLoops); }
void avx2::Reduce(const abi::ArgBlock& args) { RunReduce(args, kReduceLoops); }
void avx512::Reduce(const abi::ArgBlock& args) { RunReduce(args, kReduceLoops); }

}  // namespace aicf::cpu
