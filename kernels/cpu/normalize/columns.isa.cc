// Normalises groups side by side, for short groups and those whose elements are far apart in
// memory. Every loop runs across the groups.
#include <cmath>

#include "kernels/cpu/common/lanes.h"
#include "kernels/cpu/common/loop_functions.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/normalize/columns.h"

AICF_ISA_BEGIN
namespace {

using abi::NormalizeKind;

/// Replaces every value by f(value, w), w being its group; the e-th values of all groups are
/// handled together.
template <class F>
void ForEach(float* values, int64_t elements, int64_t width, const F& f) {
  for (int64_t e = 0; e < elements; ++e) {
    float* row = values + e * width;
#pragma GCC ivdep
    for (int64_t w = 0; w < width; ++w) f(row[w], w);
  }
}

void Softmax(bool log, float* values, int64_t elements, int64_t width) {
  alignas(64) float shift[kNormalizeTile];
  alignas(64) double sum[kNormalizeTile] = {};
  for (int64_t w = 0; w < width; ++w) shift[w] = values[w];
  ForEach(values, elements, width, [&](float& v, int64_t w) { shift[w] = MaxOp::Do(shift[w], v); });
  if (log) {
    ForEach(values, elements, width, [&](float& v, int64_t w) {
      v = v - shift[w];
      sum[w] += static_cast<double>(ExpToZero(v));
    });
    for (int64_t w = 0; w < width; ++w) shift[w] = static_cast<float>(std::log(sum[w]));
    return ForEach(values, elements, width, [&](float& v, int64_t w) { v = v - shift[w]; });
  }
  ForEach(values, elements, width, [&](float& v, int64_t w) {
    v = ExpToZero(v - shift[w]);
    sum[w] += static_cast<double>(v);
  });
  for (int64_t w = 0; w < width; ++w) shift[w] = static_cast<float>(1 / sum[w]);
  ForEach(values, elements, width, [&](float& v, int64_t w) { v = v * shift[w]; });
}

void Moments(bool layer, double epsilon, float* values, int64_t elements, int64_t width) {
  alignas(64) float mean[kNormalizeTile] = {};
  alignas(64) float scale[kNormalizeTile];
  alignas(64) double sum[kNormalizeTile] = {};
  const auto count = static_cast<double>(elements);
  if (layer) {
    ForEach(values, elements, width,
            [&](float& v, int64_t w) { sum[w] += static_cast<double>(v); });
    for (int64_t w = 0; w < width; ++w) mean[w] = static_cast<float>(sum[w] / count);
    for (int64_t w = 0; w < width; ++w) sum[w] = 0;
  }
  ForEach(values, elements, width, [&](float& v, int64_t w) {
    v = v - mean[w];
    sum[w] += static_cast<double>(v * v);
  });
  for (int64_t w = 0; w < width; ++w) {
    scale[w] = static_cast<float>(1 / __builtin_sqrt(sum[w] / count + epsilon));
  }
  ForEach(values, elements, width, [&](float& v, int64_t w) { v = v * scale[w]; });
}

/// Adds up kVectors times 16 columns, row by row, with the sums in registers. They are floats,
/// added in the same order as for single columns.
template <int kVectors>
void SumVectors(const float* values, int64_t stride, int64_t rows, const float* shift, bool squares,
                double* totals) {
  Lanes part[kVectors] = {}, from[kVectors];
  for (int k = 0; k < kVectors; ++k) from[k] = LoadLanes(shift + k * kLanes);
  for (int64_t r = 0; r < rows; ++r) {
    for (int k = 0; k < kVectors; ++k) {
      const Lanes v = LoadLanes(values + r * stride + k * kLanes) - from[k];
      part[k] += squares ? v * v : v;
    }
  }
  for (int k = 0; k < kVectors; ++k) {
    for (int64_t c = 0; c < kLanes; ++c) {
      totals[k * kLanes + c] += static_cast<double>(part[k][c]);
    }
  }
}

void SumOneColumn(const float* values, int64_t stride, int64_t rows, float shift, bool squares,
                  double* total) {
  float part = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const float v = values[r * stride] - shift;
    part += squares ? v * v : v;
  }
  *total += static_cast<double>(part);
}

}  // namespace

void NormalizeColumns(NormalizeKind kind, double epsilon, float* values, int64_t elements,
                      int64_t width) {
  const bool log = kind == NormalizeKind::kLogSoftmax;
  if (log || kind == NormalizeKind::kSoftmax) return Softmax(log, values, elements, width);
  Moments(kind == NormalizeKind::kLayerNorm, epsilon, values, elements, width);
}

void ColumnSums(const float* values, int64_t stride, int64_t rows, int64_t columns,
                const float* shift, bool squares, double* totals) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    SumVectors<2>(values + c, stride, rows, shift + c, squares, totals + c);
  }
  for (; c + kLanes <= columns; c += kLanes) {
    SumVectors<1>(values + c, stride, rows, shift + c, squares, totals + c);
  }
  for (; c < columns; ++c) {
    SumOneColumn(values + c, stride, rows, shift[c], squares, totals + c);
  }
}

void ColumnAffine(const float* src, int64_t stride, float* dst, int64_t rows, int64_t columns,
                  const float* shift, const float* scale) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = src + r * stride;
    float* row = dst + r * columns;
#pragma GCC ivdep
    for (int64_t c = 0; c < columns; ++c) row[c] = (from[c] - shift[c]) * scale[c];
  }
}

AICF_ISA_END
