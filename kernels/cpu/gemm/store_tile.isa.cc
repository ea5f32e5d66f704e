// Stores of tiles of f32 in any layout and storage type.
#include "kernels/cpu/gemm/chain.h"
#include "kernels/cpu/gemm/int_simd.h"

AICF_ISA_BEGIN
namespace {

void StoreF32(const float* tile, int64_t tile_stride, int rows, int columns, float* out,
              int64_t row_stride, int64_t col_stride) {
  if (col_stride == 1 && columns >= kLanes / 2) {
    for (int r = 0; r < rows; ++r, tile += tile_stride, out += row_stride) {
      int c = 0;
      for (; c + kLanes <= columns; c += kLanes) Store(out + c, Load(tile + c));
      if (c < columns) StoreMasked(out + c, FirstLanes(columns - c), Load(tile + c));
    }
    return;
  }
  // Other tiles are stored column by column: their rows are neighbours in memory, or nothing is, or
  // they have few columns.
  for (int c = 0; c < columns; ++c, ++tile, out += col_stride) {
    const float* from = tile;
    float* to = out;
    for (int r = 0; r < rows; ++r, from += tile_stride, to += row_stride) *to = *from;
  }
}

}  // namespace

namespace {

void StoreByteTile(const float* tile, int64_t tile_stride, int rows, int columns, char* out,
                   bool is_signed, int64_t row_stride, int64_t col_stride) {
  const Vec low = Broadcast(is_signed ? -128.0f : 0.0f),
            high = Broadcast(is_signed ? 127.0f : 255.0f);
  for (int r = 0; r < rows; ++r, tile += tile_stride, out += row_stride) {
    for (int c = 0; c < columns; c += kLanes) {
      const Vec v = Min(high, Max(low, Load(tile + c)));
      if (col_stride == 1 && c + kLanes <= columns) {
        StoreBytes(out + c, v);
        continue;
      }
      char bytes[kLanes];
      StoreBytes(bytes, v);
      const int left = columns - c < kLanes ? columns - c : kLanes;
      for (int i = 0; i < left; ++i) out[(c + i) * col_stride] = bytes[i];
    }
  }
}

}  // namespace

void StoreTile(const float* tile, int64_t tile_stride, int rows, int columns, void* out,
               DType dtype, int64_t row_stride, int64_t col_stride) {
  if (dtype == DType::kF32 || dtype == DType::kI32) {
    return StoreF32(tile, tile_stride, rows, columns, static_cast<float*>(out), row_stride,
                    col_stride);
  }
  if (dtype == DType::kU8 || dtype == DType::kI8) {
    return StoreByteTile(tile, tile_stride, rows, columns, static_cast<char*>(out),
                         dtype == DType::kI8, row_stride, col_stride);
  }
  for (int r = 0; r < rows; ++r, tile += tile_stride) {
    uint16_t* p = static_cast<uint16_t*>(out) + r * row_stride;
    int c = 0;
    if (dtype == DType::kF16 && col_stride == 1) {
      for (; c + kLanes <= columns; c += kLanes) NarrowHalf(p + c, Load(tile + c));
    }
    for (; c < columns; ++c) {
      p[c * col_stride] = dtype == DType::kF16 ? F32ToF16(tile[c]) : F32ToBF16(tile[c]);
    }
  }
}

AICF_ISA_END
