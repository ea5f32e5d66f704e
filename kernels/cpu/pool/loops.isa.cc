#include "kernels/cpu/pool/loops.h"

#include <limits>

#include "kernels/cpu/common/lanes.h"

AICF_ISA_BEGIN
namespace {

/// kGroups * 16 channels over the whole box, in registers. Rows are summed apart, then together.
template <class T, class Op, int kGroups>
void BoxLanes(const PoolBox& box, const T* data, Lanes* total) {
  for (int g = 0; g < kGroups; ++g) total[g] = AllLanes(Op::kIdentity);
  for (int64_t d = 0; d < box.count[0]; ++d) {
    for (int64_t h = 0; h < box.count[1]; ++h) {
      const T* row = data + d * box.step[0] + h * box.step[1];
      Lanes acc[kGroups];
      for (int g = 0; g < kGroups; ++g) acc[g] = AllLanes(Op::kIdentity);
      for (int64_t w = 0; w < box.count[2]; ++w) {
        const T* p = row + w * box.step[2];
        for (int g = 0; g < kGroups; ++g) acc[g] = Op::Do(acc[g], LoadLanes(p + g * kLanes));
      }
      for (int g = 0; g < kGroups; ++g) total[g] = Op::Do(total[g], acc[g]);
    }
  }
}

template <class T, class Op>
float BoxOne(const PoolBox& box, const T* data) {
  float total = Op::kIdentity;
  for (int64_t d = 0; d < box.count[0]; ++d) {
    for (int64_t h = 0; h < box.count[1]; ++h) {
      const T* row = data + d * box.step[0] + h * box.step[1];
      float acc = Op::kIdentity;
      for (int64_t w = 0; w < box.count[2]; ++w) acc = Op::Do(acc, LoadOne(row + w * box.step[2]));
      total = Op::Do(total, acc);
    }
  }
  return total;
}

template <class T, class Op>
void Channels(const PoolBox& box, const T* data, int64_t channels, float divisor, float* out) {
  const bool divides = Op::kIdentity == 0;
  int64_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) {
    Lanes v[4];
    BoxLanes<T, Op, 4>(box, data + c, v);
    for (int g = 0; g < 4; ++g) StoreLanes(out + c + g * kLanes, divides ? v[g] / divisor : v[g]);
  }
  for (; c + kLanes <= channels; c += kLanes) {
    Lanes v[1];
    BoxLanes<T, Op, 1>(box, data + c, v);
    StoreLanes(out + c, divides ? v[0] / divisor : v[0]);
  }
  if (c < channels && channels >= kLanes) {  // the rest as a vector that overlaps finished channels
    Lanes v[1];
    BoxLanes<T, Op, 1>(box, data + channels - kLanes, v);
    return StoreLanes(out + channels - kLanes, divides ? v[0] / divisor : v[0]);
  }
  for (; c < channels; ++c) {
    const float v = BoxOne<T, Op>(box, data + c);
    out[c] = divides ? v / divisor : v;
  }
}

/// acc[w] = acc[w] op row[w]; written for the compiler to vectorise, remainders included.
template <class Op>
void AddRow(const float* row, int64_t n, float* acc) {
#pragma GCC ivdep
  for (int64_t w = 0; w < n; ++w) acc[w] = Op::Do(acc[w], row[w]);
}
template <class Op>
void AddRow(const F16* row, int64_t n, float* acc) {
  for (int64_t w = 0; w < n; ++w) acc[w] = Op::Do(acc[w], LoadOne(row + w));
}
template <class Op>
void AddRow(const BF16* row, int64_t n, float* acc) {
#pragma GCC ivdep
  for (int64_t w = 0; w < n; ++w) acc[w] = Op::Do(acc[w], LoadOne(row + w));
}

template <class Op, class T>
requires(sizeof(T) == 1) void AddRow(const T* row, int64_t n, float* acc) {
#pragma GCC ivdep
  for (int64_t w = 0; w < n; ++w) acc[w] = Op::Do(acc[w], LoadOne(row + w));
}

template <class T, class Op>
void Rows(const PoolBox& box, float* acc) {
  for (int64_t d = 0; d < box.count[0]; ++d) {
    for (int64_t h = 0; h < box.count[1]; ++h) {
      const T* row = static_cast<const T*>(box.data) + d * box.step[0] + h * box.step[1];
      AddRow<Op>(row, box.count[2], acc);
    }
  }
}

/// Slides a window along a row; the usual window of three neighbouring taps takes a single pass.
template <class Op, int kStride>
void SlideBy(const float* row, int64_t kernel, int64_t dilation, int64_t outputs, float* out) {
  if (kernel == 3 && dilation == 1) {
#pragma GCC ivdep
    for (int64_t o = 0; o < outputs; ++o) {
      const float* p = row + o * kStride;
      out[o] = Op::Do(Op::Do(p[0], p[1]), p[2]);
    }
    return;
  }
#pragma GCC ivdep
  for (int64_t o = 0; o < outputs; ++o) out[o] = row[o * kStride];
  for (int64_t t = 1; t < kernel; ++t) {
    const float* from = row + t * dilation;
#pragma GCC ivdep
    for (int64_t o = 0; o < outputs; ++o) out[o] = Op::Do(out[o], from[o * kStride]);
  }
}

template <class Op>
void Slide(const float* row, int64_t kernel, int64_t stride, int64_t dilation, int64_t outputs,
           float* out) {
  if (stride == 1) return SlideBy<Op, 1>(row, kernel, dilation, outputs, out);
  if (stride == 2) return SlideBy<Op, 2>(row, kernel, dilation, outputs, out);
  for (int64_t o = 0; o < outputs; ++o) {
    float acc = row[o * stride];
    for (int64_t t = 1; t < kernel; ++t) acc = Op::Do(acc, row[o * stride + t * dilation]);
    out[o] = acc;
  }
}

template <class T, class Op>
void Pixels(const PoolBox& box, int64_t channels, float divisor, const PoolPixels& pixels,
            float* out) {
  const T* data = static_cast<const T*>(box.data);
  for (int64_t i = 0; i < pixels.count; ++i, data += pixels.x_step, out += pixels.out_step) {
    Channels<T, Op>(box, data, channels, divisor, out);
  }
}

/// Maxima of bytes, tap by tap over all channels, written so that the compiler vectorises it. A
/// window without an element of the input gives the least value of the type.
template <class T>
void MaxBytes(const PoolBox& box, const T* data, int64_t channels, T* __restrict out) {
  bool first = true;
  for (int64_t d = 0; d < box.count[0]; ++d) {
    for (int64_t h = 0; h < box.count[1]; ++h) {
      const T* p = data + d * box.step[0] + h * box.step[1];
      for (int64_t w = 0; w < box.count[2]; ++w, p += box.step[2]) {
        if (first) {
          for (int64_t c = 0; c < channels; ++c) out[c] = p[c];
          first = false;
          continue;
        }
#pragma GCC ivdep
        for (int64_t c = 0; c < channels; ++c) out[c] = out[c] > p[c] ? out[c] : p[c];
      }
    }
  }
  for (int64_t c = 0; first && c < channels; ++c) out[c] = std::numeric_limits<T>::min();
}

template <class T>
void BytePixels(const PoolBox& box, int64_t channels, const PoolPixels& pixels, T* out) {
  const T* data = static_cast<const T*>(box.data);
  for (int64_t i = 0; i < pixels.count; ++i, data += pixels.x_step, out += pixels.out_step) {
    MaxBytes(box, data, channels, out);
  }
}

void PoolBytes(bool is_signed, const PoolBox& box, int64_t channels, const PoolPixels& pixels,
               uint8_t* out) {
  if (!is_signed) return BytePixels<uint8_t>(box, channels, pixels, out);
  BytePixels<int8_t>(box, channels, pixels, reinterpret_cast<int8_t*>(out));
}

template <class Op>
void PixelsOf(DType dtype, const PoolBox& box, int64_t channels, float divisor,
              const PoolPixels& pixels, float* out) {
  if (dtype == DType::kF16) return Pixels<F16, Op>(box, channels, divisor, pixels, out);
  if (dtype == DType::kBF16) return Pixels<BF16, Op>(box, channels, divisor, pixels, out);
  Pixels<float, Op>(box, channels, divisor, pixels, out);
}

void PoolChannels(DType dtype, bool maximum, const PoolBox& box, int64_t channels, float divisor,
                  const PoolPixels& pixels, float* out) {
  if (maximum) return PixelsOf<MaxOp>(dtype, box, channels, divisor, pixels, out);
  PixelsOf<SumOp>(dtype, box, channels, divisor, pixels, out);
}

template <class Op>
void RowsOf(DType dtype, const PoolBox& box, float* acc) {
  if (dtype == DType::kF16) return Rows<F16, Op>(box, acc);
  if (dtype == DType::kBF16) return Rows<BF16, Op>(box, acc);
  if (dtype == DType::kI8) return Rows<int8_t, Op>(box, acc);
  if (dtype == DType::kU8) return Rows<uint8_t, Op>(box, acc);
  Rows<float, Op>(box, acc);
}

void PoolRows(DType dtype, bool maximum, const PoolBox& box, float* acc) {
  if (maximum) return RowsOf<MaxOp>(dtype, box, acc);
  RowsOf<SumOp>(dtype, box, acc);
}

void PoolSlide(bool maximum, const float* row, int64_t kernel, int64_t stride, int64_t dilation,
               int64_t outputs, float* out) {
  if (maximum) return Slide<MaxOp>(row, kernel, stride, dilation, outputs, out);
  Slide<SumOp>(row, kernel, stride, dilation, outputs, out);
}

}  // namespace

extern const PoolLoops kPoolLoops = {&EvalBlock, &PoolChannels, &PoolBytes, &PoolRows, &PoolSlide};

AICF_ISA_END
