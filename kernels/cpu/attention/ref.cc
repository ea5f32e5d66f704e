/// cpu.attention.ref: one row after the other, in double. Rows that a step appends are appended by
/// the append family's reference first.
#include <cmath>
#include <limits>

#include "base/float16.h"
#include "kernels/cpu/attention/appended.h"
#include "kernels/cpu/attention/attention.h"
#include "kernels/cpu/attention/keys.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

struct Half {
  uint16_t bits;
};
struct BrainFloat {
  uint16_t bits;
};
double Wide(float v) { return v; }
double Wide(double v) { return v; }
double Wide(Half v) { return F16ToF32(v.bits); }
double Wide(BrainFloat v) { return BF16ToF32(v.bits); }

constexpr int64_t kColumns = 256;

/// One row of one query head; T is the storage type of q, k and v.
template <class T>
class Row {
 public:
  Row(const abi::ArgBlock& args, const abi::AttentionShape& s, const int64_t* coords)
      : args_(args),
        s_(s),
        at_{coords[0], coords[1], coords[2]},
        keys_(args, s, 1, coords[0], coords[1] / s.group()),
        values_(args, s, 2, coords[0], coords[1] / s.group()) {
    const auto& a = args.problem->as<abi::AttentionAttrs>();
    const Request request = RequestOf(args, s, coords[0]);
    range_ = abi::VisibleKeys(a, request.valid_keys, request.first_position + coords[2]);
    scale_ = a.scale;
    query_ = static_cast<const T*>(ElementAt(Input(args, 0), at_));
    query_stride_ = Input(args, 0).strides[3];
  }

  /// The sums over columns [first, first + count) of v; the scores are formed again for each piece
  /// of columns, so that a row needs no more memory than a piece.
  void Sum(int64_t first, int64_t count) {
    max_ = -std::numeric_limits<double>::infinity();
    total_ = 0;
    std::fill(sum_, sum_ + count, 0.0);
    for (int64_t key = range_.begin; key < range_.end; ++key) {
      const char* k = keys_.At(key);
      if (k == nullptr) continue;
      const double score = Score(reinterpret_cast<const T*>(k), key);
      if (score == -std::numeric_limits<double>::infinity()) continue;
      Add(score, reinterpret_cast<const T*>(values_.At(key)), first, count);
    }
  }

  void Store(int64_t first, int64_t count) const {
    const abi::TensorArg& out = Output(args_, 0);
    for (int64_t c = 0; c < count; ++c) {
      const int64_t at[kMaxRank] = {at_[0], at_[1], at_[2], first + c};
      const double value = total_ == 0 ? 0 : sum_[c] / total_;
      Put(out, at, out.dtype == DType::kF8E4M3FN ? WithinFloat8(value) : value);
    }
  }
  void StoreLogSum() const { Put(Output(args_, 1), at_, max_ + std::log(total_)); }

 private:
  // The value clamped to the range of f8e4m3fn; NaN stays NaN.
  static double WithinFloat8(double value) {
    constexpr double kLargest = 448;
    return value > kLargest ? kLargest : value < -kLargest ? -kLargest : value;
  }
  static void Put(const abi::TensorArg& t, const int64_t* at, double value) {
    StoreAt(t, at, ScalarFromDouble(value, abi::ComputeDType(t.dtype)));
  }

  double Score(const T* key, int64_t j) {
    double product = 0;
    const int64_t step = keys_.element_stride();
    for (int64_t d = 0; d < s_.head; ++d) {
      product += Wide(query_[d * query_stride_]) * Wide(key[d * step]);
    }
    product *= scale_;
    const abi::Problem& p = *args_.problem;
    if (p.score.empty()) return product;
    at_[3] = j;
    Scalar inputs[abi::kMaxExprInputs];
    inputs[0] = ScalarFromDouble(product, abi::ComputeDType(p.inputs[0].dtype));
    for (int k = 0; k < p.extra_inputs(); ++k) {
      inputs[k + 1] = LoadAt(Input(args_, p.core_inputs + k), at_);
    }
    Scalar results[abi::kMaxExprResults];
    EvalScalar(p.score, inputs, at_, results);
    return results[0].f;
  }

  void Add(double score, const T* value, int64_t first, int64_t count) {
    if (score > max_) {
      const double shrink = std::exp(max_ - score);
      max_ = score;
      total_ *= shrink;
      for (int64_t c = 0; c < count; ++c) sum_[c] *= shrink;
    }
    const double weight = std::exp(score - max_);
    total_ += weight;
    const int64_t step = values_.element_stride();
    for (int64_t c = 0; c < count; ++c) sum_[c] += weight * Wide(value[(first + c) * step]);
  }

  const abi::ArgBlock& args_;
  const abi::AttentionShape& s_;
  int64_t at_[kMaxRank];
  const KeyRows keys_, values_;
  abi::KeyRange range_;
  double scale_;
  const T* query_;
  int64_t query_stride_;
  double max_ = 0, total_ = 0;
  double sum_[kColumns];
};

template <class T>
void Run(const abi::ArgBlock& args) {
  const abi::AttentionShape s = abi::AttentionShapeOf(*args.problem);
  const Dims rows = {s.batch, s.query_heads, s.rows};
  // Few rows per piece: each is long.
  ParallelRanges(args, ElementCount(rows).value_or(0), 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at[] = {i / s.rows / s.query_heads, i / s.rows % s.query_heads, i % s.rows};
      Row<T> row(args, s, at);
      for (int64_t first = 0; first == 0 || first < s.value_head; first += kColumns) {
        const int64_t count = std::min(kColumns, s.value_head - first);
        row.Sum(first, count);
        row.Store(first, count);
      }
      if (args.output_count == 2) row.StoreLogSum();
    }
  });
}

}  // namespace

void AttentionRef(const abi::ArgBlock& args) {
  if (abi::AppendsRows(*args.problem)) return AppendThenAttend(args, &AttentionRef);
  switch (Input(args, 0).dtype) {
    case DType::kF16:
      return Run<Half>(args);
    case DType::kBF16:
      return Run<BrainFloat>(args);
    case DType::kF64:
      return Run<double>(args);
    default:
      return Run<float>(args);
  }
}

}  // namespace aicf::cpu
