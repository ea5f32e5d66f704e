// Copies of integers into cells.
#include <cstring>

#include "kernels/cpu/gemm/integer_copy.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN
namespace {

template <class From, class To>
void CopyRows(const From* from, int64_t rows, int64_t row_stride, int64_t count, int64_t stride,
              int64_t padded, To* to) {
  for (int64_t r = 0; r < rows; ++r, from += row_stride, to += padded) {
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i * stride]);
    }
    for (int64_t i = count; i < padded; ++i) to[i] = 0;
  }
}

/// Copies rows of at most four bytes, such as the channels of an image, into one cell each. All but
/// the last row can be read as four bytes, since readable bytes follow them.
void CopyShortRows(const uint8_t* from, int64_t rows, int64_t row_stride, int64_t count,
                   uint8_t* to) {
  const uint32_t mask = count == 4 ? ~0u : (1u << (8 * count)) - 1;
  for (int64_t r = 0; r + 1 < rows; ++r, from += row_stride, to += sizeof(mask)) {
    uint32_t cell;
    std::memcpy(&cell, from, sizeof(cell));
    cell &= mask;
    std::memcpy(to, &cell, sizeof(cell));
  }
  if (rows > 0) CopyRows(from, 1, row_stride, count, 1, sizeof(mask), to);
}

}  // namespace

void CopyCellRows(const void* from, DType dtype, int64_t rows, int64_t row_stride, int64_t count,
                  int64_t stride, int64_t padded, bool words, void* to) {
  const auto copy = [&]<class From, class To>(const From* at, To* out) {
    CopyRows(at, rows, row_stride, count, stride, padded, out);
  };
  if (!words && padded == 4 && stride == 1 && count > 0 && row_stride + count >= 4) {
    return CopyShortRows(static_cast<const uint8_t*>(from), rows, row_stride, count,
                         static_cast<uint8_t*>(to));
  }
  // i8 and u8 are handled alike, since only bits are copied.
  if (!words) return copy(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to));
  auto* out = static_cast<int16_t*>(to);
  if (dtype == DType::kU8) return copy(static_cast<const uint8_t*>(from), out);
  if (dtype == DType::kI8) return copy(static_cast<const int8_t*>(from), out);
  copy(static_cast<const int16_t*>(from), out);
}

AICF_ISA_END
