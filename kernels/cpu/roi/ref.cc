/// cpu.roi.ref: result by result, sums in double.
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/roi/geometry.h"
#include "kernels/cpu/roi/roi.h"

namespace aicf::cpu {
namespace {

/// The larger of the two; if either is NaN, the first NaN.
double Larger(double a, double b) { return a != a ? a : b != b ? b : a < b ? b : a; }

template <class T>
struct Box {
  T x1, y1, x2, y2;
  int64_t batch;

  Box(const abi::ArgBlock& args, int64_t r) {
    T* const corner[4] = {&x1, &y1, &x2, &y2};
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t at[kMaxRank] = {r, k};
      *corner[k] = static_cast<T>(LoadAt(Input(args, 1), at).f);
    }
    batch = LoadAt(Input(args, 2), &r).i;
  }
};

/// `plane` holds batch and channel; the rest is filled in.
double At(const abi::TensorArg& x, int64_t* plane, int64_t row, int64_t column) {
  plane[2] = row;
  plane[3] = column;
  return LoadAt(x, plane).f;
}

template <class T>
double Aligned(const abi::ArgBlock& args, const Box<T>& box, const int64_t* out, int64_t* plane) {
  const auto& attrs = args.problem->as<abi::RoiAttrs>();
  const abi::TensorArg &x = Input(args, 0), &y = Output(args, 0);
  const AlignAxis<T> rows(attrs, box.y1, box.y2, y.shape[2]);
  const AlignAxis<T> columns(attrs, box.x1, box.x2, y.shape[3]);
  const bool max = attrs.kind == abi::RoiKind::kAlignMax;
  double result = 0;
  bool first = true;
  for (int64_t i = 0; i < rows.samples; ++i) {
    const AlignSample<T> row(rows.Position(out[2], i), x.shape[2]);
    for (int64_t j = 0; j < columns.samples; ++j) {
      const AlignSample<T> column(columns.Position(out[3], j), x.shape[3]);
      double corner[4] = {};
      for (int k = 0; k < 4 && row.inside && column.inside; ++k) {
        const T wr = k < 2 ? row.low_weight : row.high_weight;
        const T wc = k % 2 == 0 ? column.low_weight : column.high_weight;
        corner[k] = static_cast<double>(wr * wc) *
                    At(x, plane, k < 2 ? row.low : row.high, k % 2 == 0 ? column.low : column.high);
      }
      // The maximum is over weighted corners, not over interpolated samples: so ONNX defines it.
      const double value = max ? Larger(Larger(corner[0], corner[1]), Larger(corner[2], corner[3]))
                               : corner[0] + corner[1] + corner[2] + corner[3];
      result = max ? (first ? value : Larger(result, value)) : result + value;
      first = false;
    }
  }
  const int64_t count = std::max<int64_t>(1, rows.samples * columns.samples);
  return max ? result : result / static_cast<double>(count);
}

template <class T>
double Pooled(const abi::ArgBlock& args, const Box<T>& box, const int64_t* out, int64_t* plane) {
  const auto& attrs = args.problem->as<abi::RoiAttrs>();
  const abi::TensorArg &x = Input(args, 0), &y = Output(args, 0);
  const PoolBin rows(attrs, box.y1, box.y2, y.shape[2], out[2], x.shape[2]);
  const PoolBin columns(attrs, box.x1, box.x2, y.shape[3], out[3], x.shape[3]);
  double result = 0;
  bool first = true;
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      const double value = At(x, plane, i, j);
      result = first ? value : Larger(result, value);
      first = false;
    }
  }
  return result;
}

template <class T>
void Roi(const abi::ArgBlock& args) {
  const bool pools = args.problem->as<abi::RoiAttrs>().kind == abi::RoiKind::kPoolMax;
  const abi::TensorArg &x = Input(args, 0), &y = Output(args, 0);
  const DType dtype = abi::ComputeDType(x.dtype);
  ParallelIndices(args, ShapeOf(y), [&](const int64_t* out) {
    const Box<T> box(args, out[0]);
    double value = 0;
    if (box.batch >= 0 && box.batch < x.shape[0]) {
      int64_t plane[kMaxRank] = {box.batch, out[1]};
      value = pools ? Pooled(args, box, out, plane) : Aligned(args, box, out, plane);
    }
    StoreAt(y, out, ScalarFromDouble(value, dtype));
  });
}

}  // namespace

void RoiRef(const abi::ArgBlock& args) {
  if (Input(args, 1).dtype == DType::kF64) return Roi<double>(args);
  Roi<float>(args);
}

}  // namespace aicf::cpu
