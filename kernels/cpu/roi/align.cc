/// The vector variants: per bin, the samples' corners and weights are found once and used by all
/// channels.
#include <algorithm>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/roi/geometry.h"
#include "kernels/cpu/roi/loops.h"
#include "kernels/cpu/roi/roi.h"

namespace aicf::cpu {
namespace {

class Aligning {
 public:
  Aligning(const abi::ArgBlock& args, RoiLoop blend)
      : blend_(blend),
        attrs_(args.problem->as<abi::RoiAttrs>()),
        x_(Input(args, 0)),
        boxes_(Input(args, 1)),
        batch_(Input(args, 2)),
        y_(Output(args, 0)) {}

  /// All channels of one bin of one box.
  void RunBin(int64_t r, int64_t ph, int64_t pw) const {
    float* out = static_cast<float*>(y_.data) + y_.offset + r * y_.strides[0] + ph * y_.strides[2] +
                 pw * y_.strides[3];
    for (int64_t c = 0; c < y_.shape[1]; ++c) out[c * y_.strides[1]] = 0;
    const int64_t n = LoadAt(batch_, &r).i;
    if (n < 0 || n >= x_.shape[0]) return;
    const float* x = static_cast<const float*>(x_.data) + x_.offset + n * x_.strides[0];
    const AlignAxis<float> rows(attrs_, At(r, 1), At(r, 3), y_.shape[2]);
    const AlignAxis<float> columns(attrs_, At(r, 0), At(r, 2), y_.shape[3]);
    const float share =
        1.0f / static_cast<float>(std::max<int64_t>(1, rows.samples * columns.samples));
    RoiCorners corners;
    for (int64_t i = 0; i < rows.samples; ++i) {
      const AlignSample<float> row(rows.Position(ph, i), x_.shape[2]);
      for (int64_t j = 0; row.inside && j < columns.samples; ++j) {
        const AlignSample<float> column(columns.Position(pw, j), x_.shape[3]);
        if (!column.inside) continue;
        AddCorners(row, column, share, corners);
        if (corners.count == kRoiCorners) Blend(corners, x, out);
      }
    }
    Blend(corners, x, out);
  }

 private:
  float At(int64_t r, int64_t k) const {
    const int64_t at[kMaxRank] = {r, k};
    return static_cast<float>(LoadAt(boxes_, at).f);
  }

  void AddCorners(const AlignSample<float>& row, const AlignSample<float>& column, float share,
                  RoiCorners& to) const {
    const int64_t low = row.low * x_.strides[2], high = row.high * x_.strides[2];
    const int64_t left = column.low * x_.strides[3], right = column.high * x_.strides[3];
    to.Add(low + left, row.low_weight * column.low_weight * share);
    to.Add(low + right, row.low_weight * column.high_weight * share);
    to.Add(high + left, row.high_weight * column.low_weight * share);
    to.Add(high + right, row.high_weight * column.high_weight * share);
  }

  /// Adds the corners to every channel's result and forgets them.
  void Blend(RoiCorners& corners, const float* x, float* out) const {
    blend_(corners, x, x_.strides[1], y_.shape[1], out, y_.strides[1]);
    corners.count = 0;
  }

  const RoiLoop blend_;
  const abi::RoiAttrs& attrs_;
  const abi::TensorArg &x_, &boxes_, &batch_, &y_;
};

void Align(const abi::ArgBlock& args, RoiLoop blend) {
  const Aligning aligning(args, blend);
  const abi::TensorArg& y = Output(args, 0);
  const int64_t bins = y.shape[2] * y.shape[3];
  const int64_t grain = 1024 / std::max<int64_t>(1, y.shape[1]) + 1;
  ParallelRanges(args, y.shape[0] * bins, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      aligning.RunBin(i / bins, i % bins / y.shape[3], i % y.shape[3]);
    }
  });
}

}  // namespace

void baseline::RoiAlign(const abi::ArgBlock& args) { Align(args, BlendCorners); }
void avx2::RoiAlign(const abi::ArgBlock& args) { Align(args, BlendCorners); }
void avx512::RoiAlign(const abi::ArgBlock& args) { Align(args, BlendCorners); }

}  // namespace aicf::cpu
