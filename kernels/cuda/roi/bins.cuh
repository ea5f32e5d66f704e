// cuda.roi.bins: one result per thread. The geometry is that of kernels/cpu/roi/geometry.h,
// operation by operation.
#pragma once

#include "common/enums.cuh"

namespace aicf {

typedef ComputeOf<In1::S>::T coord_t;
typedef raw_t sum_t;
constexpr index_t kMostSamples = 1024;
constexpr index_t kHeight = In0::extent(2), kWidth = In0::extent(3);
constexpr index_t kPooledHeight = Out0::extent(2), kPooledWidth = Out0::extent(3);

AICF_DEVICE index_t ToWhole(coord_t v) {
  constexpr coord_t kFar = 1 << 30;
  return static_cast<index_t>(v > -kFar ? (v < kFar ? v : kFar) : -kFar);
}
AICF_DEVICE index_t Clamp(index_t v, index_t low, index_t high) {
  return v < low ? low : v > high ? high : v;
}

struct AlignAxis {
  coord_t start, size;
  index_t samples;
};
AICF_DEVICE AlignAxis AxisOf(coord_t first, coord_t last, index_t pooled) {
  const coord_t scale = static_cast<coord_t>(attr_spatial_scale);
  const coord_t shift = attr_half_pixel ? coord_t(0.5) : coord_t(0);
  AlignAxis a;
  a.start = first * scale - shift;
  coord_t length = (last * scale - shift) - a.start;
  if constexpr (!attr_half_pixel) length = length > 1 ? length : coord_t(1);
  a.size = length / static_cast<coord_t>(pooled);
  a.samples = attr_sampling_ratio > 0 ? static_cast<index_t>(attr_sampling_ratio)
                                      : Clamp(ToWhole(OpCeil(a.size)), 0, kMostSamples);
  return a;
}
AICF_DEVICE coord_t PositionOf(const AlignAxis& a, index_t bin, index_t sample) {
  return a.start + static_cast<coord_t>(bin) * a.size +
         (static_cast<coord_t>(sample) + coord_t(0.5)) * a.size / static_cast<coord_t>(a.samples);
}

struct AlignSample {
  index_t at[2];
  coord_t weight[2];
  bool inside;
};
AICF_DEVICE AlignSample SampleOf(coord_t at, index_t extent) {
  AlignSample s = {};
  if (!(at >= -1 && at <= static_cast<coord_t>(extent)) || extent == 0) return s;
  s.inside = true;
  if (at < 0) at = 0;
  s.at[0] = static_cast<index_t>(at);
  if (s.at[0] >= extent - 1) {
    s.at[0] = extent - 1;
    at = static_cast<coord_t>(s.at[0]);
  }
  s.at[1] = s.at[0] + 1 < extent ? s.at[0] + 1 : extent - 1;
  s.weight[1] = at - static_cast<coord_t>(s.at[0]);
  s.weight[0] = 1 - s.weight[1];
  return s;
}

AICF_DEVICE index_t PlaneOffset(index_t row, index_t column) {
  return row * In0::stride(2) + column * In0::stride(3);
}

struct Box {
  coord_t x1, y1, x2, y2;
};

AICF_DEVICE sum_t Aligned(const In0::S* plane, const Box& box, index_t ph, index_t pw) {
  const AlignAxis rows = AxisOf(box.y1, box.y2, kPooledHeight);
  const AlignAxis columns = AxisOf(box.x1, box.x2, kPooledWidth);
  sum_t result = 0;
  bool first = true;
  for (index_t i = 0; i < rows.samples; ++i) {
    const AlignSample row = SampleOf(PositionOf(rows, ph, i), kHeight);
    for (index_t j = 0; j < columns.samples; ++j) {
      const AlignSample column = SampleOf(PositionOf(columns, pw, j), kWidth);
      sum_t corner[4] = {};
      if (row.inside && column.inside) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const In0::S x = plane[PlaneOffset(row.at[k / 2], column.at[k % 2])];
          corner[k] = static_cast<sum_t>(row.weight[k / 2] * column.weight[k % 2]) * Widen(x);
        }
      }
      if constexpr (attr_kind == kRoiAlignMax) {
        const sum_t value = OpMax(OpMax(corner[0], corner[1]), OpMax(corner[2], corner[3]));
        result = first ? value : OpMax(result, value);
      } else {
        result += corner[0] + corner[1] + corner[2] + corner[3];
      }
      first = false;
    }
  }
  if constexpr (attr_kind == kRoiAlignMax) return result;
  const index_t count = rows.samples * columns.samples;
  return result / static_cast<sum_t>(count > 1 ? count : 1);
}

/// Rounds to the nearest integer, halves away from zero.
AICF_DEVICE coord_t RoundAway(coord_t v) {
  const coord_t whole = OpTrunc(v);
  const coord_t rest = v - whole;
  return rest >= coord_t(0.5) ? whole + 1 : rest <= coord_t(-0.5) ? whole - 1 : whole;
}

/// The elements [begin, end) of an axis that a bin covers.
AICF_DEVICE void BinOf(coord_t first, coord_t last, index_t pooled, index_t bin, index_t extent,
                       index_t* begin, index_t* end) {
  const coord_t scale = static_cast<coord_t>(attr_spatial_scale);
  const index_t start = ToWhole(RoundAway(first * scale));
  const i64 length = static_cast<i64>(ToWhole(RoundAway(last * scale))) - start + 1;
  const coord_t size =
      static_cast<coord_t>(length > 1 ? length : i64(1)) / static_cast<coord_t>(pooled);
  const i64 from = static_cast<i64>(ToWhole(OpFloor(static_cast<coord_t>(bin) * size))) + start;
  const i64 to = static_cast<i64>(ToWhole(OpCeil(static_cast<coord_t>(bin + 1) * size))) + start;
  const i64 most = static_cast<i64>(extent);
  *begin = static_cast<index_t>(from < 0 ? 0 : from > most ? most : from);
  *end = static_cast<index_t>(to < 0 ? 0 : to > most ? most : to);
}

AICF_DEVICE sum_t Pooled(const In0::S* plane, const Box& box, index_t ph, index_t pw) {
  index_t row, row_end, left, right;
  BinOf(box.y1, box.y2, kPooledHeight, ph, kHeight, &row, &row_end);
  BinOf(box.x1, box.x2, kPooledWidth, pw, kWidth, &left, &right);
  sum_t result = 0;
  bool first = true;
  for (; row < row_end; ++row) {
    for (index_t column = left; column < right; ++column) {
      const sum_t value = Widen(plane[PlaneOffset(row, column)]);
      result = first ? value : OpMax(result, value);
      first = false;
    }
  }
  return result;
}

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX) {
    const Point p = OutputPoint(i);
    const In1::S* boxes = static_cast<const In1::S*>(args.in[1]) + In1::kOffset;
    const auto corner = [&](int k) {
      return Widen(boxes[p.c[0] * In1::stride(0) + k * In1::stride(1)]);
    };
    const Box box = {corner(0), corner(1), corner(2), corner(3)};
    const i64 n = static_cast<i64>(
        Widen(static_cast<const In2::S*>(args.in[2])[In2::kOffset + p.c[0] * In2::stride(0)]));
    sum_t value = 0;
    if (n >= 0 && n < static_cast<i64>(In0::extent(0))) {
      const In0::S* plane = static_cast<const In0::S*>(args.in[0]) + In0::kOffset +
                            static_cast<index_t>(n) * In0::stride(0) + p.c[1] * In0::stride(1);
      value = attr_kind == kRoiPoolMax ? Pooled(plane, box, p.c[2], p.c[3])
                                       : Aligned(plane, box, p.c[2], p.c[3]);
    }
    index_t at = Out0::kOffset;
#pragma unroll
    for (int d = 0; d < 4; ++d) at += p.c[d] * Out0::stride(d);
    static_cast<Out0::S*>(args.out[0])[at] = Narrow<Out0::S>::Of(value);
  }
}

}  // namespace aicf
