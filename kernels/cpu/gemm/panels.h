/// The packed layout of weights: columns in panels of one to three vectors, so that a micro-kernel
/// streams its panel from first byte to last. Shared by the compiler, which packs, and the kernels.
///
/// packed[panel][k][column in panel], zero beyond the last column. Host code only: files compiled
/// per instruction set get panels as numbers (isa.h says why).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/dtype.h"
#include "base/float16.h"
#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// f32 lanes of a vector register.
constexpr int LanesOf(abi::CpuIsa isa) {
  return isa == abi::CpuIsa::kAvx512 ? 16 : isa == abi::CpuIsa::kAvx2 ? 8 : 4;
}

/// The name of a packed layout (abi::PackedLayout::name) among the three that differ by the lanes.
constexpr std::string_view NameByLanes(int lanes, std::string_view of4, std::string_view of8,
                                       std::string_view of16) {
  return lanes == 16 ? of16 : lanes == 8 ? of8 : of4;
}

/// How `columns` columns are cut: panels of three vectors, with one or two of two vectors at the
/// end where three do not divide; a single vector only when there is no second.
struct Panels {
  int64_t vectors = 0;
  int64_t threes = 0;
  int64_t count = 0;
  int lanes = 1;
  int narrow = 2;  ///< width of the panels after the first `threes`; the last may be narrower

  Panels(int64_t columns, int lane_count)
      : vectors((columns + lane_count - 1) / lane_count), lanes(lane_count) {
    threes = vectors % 3 == 1 && vectors > 1 ? (vectors - 4) / 3 : vectors / 3;
    count = threes + (vectors - 3 * threes + 1) / 2;
  }
  /// Panels of at most `width` vectors, for kernels that need other panels than products do.
  Panels(int64_t columns, int lane_count, int width)
      : vectors((columns + lane_count - 1) / lane_count), lanes(lane_count), narrow(width) {
    count = (vectors + width - 1) / width;
  }
  int64_t first_vector(int64_t panel) const {
    return panel < threes ? 3 * panel : 3 * threes + narrow * (panel - threes);
  }
  int width(int64_t panel) const {
    if (panel < threes) return 3;
    return static_cast<int>(std::min<int64_t>(narrow, vectors - first_vector(panel)));
  }
  /// Floats of a whole packed matrix with `depth` rows.
  int64_t packed_floats(int64_t depth) const { return vectors * lanes * depth; }
};

/// Element i of a buffer of f32, f16, bf16, u8, i8 or i16.
inline float LoadF32(const void* data, DType dtype, int64_t i) {
  if (dtype == DType::kF32) return static_cast<const float*>(data)[i];
  if (dtype == DType::kU8) return static_cast<const uint8_t*>(data)[i];
  if (dtype == DType::kI8) return static_cast<const int8_t*>(data)[i];
  if (dtype == DType::kI16) return static_cast<const int16_t*>(data)[i];
  const uint16_t bits = static_cast<const uint16_t*>(data)[i];
  return dtype == DType::kF16 ? F16ToF32(bits) : BF16ToF32(bits);
}

/// The inverse of LoadF32: an element with the very bits that `value` was loaded from, NaN
/// included. A value that LoadF32 cannot give is rounded to the nearest.
inline void StoreF32(void* data, DType dtype, int64_t i, float value) {
  if (dtype == DType::kF32) {
    static_cast<float*>(data)[i] = value;
    return;
  }
  if (IsByteInteger(dtype)) {
    static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(static_cast<int>(value));
    return;
  }
  if (dtype == DType::kI16) {
    static_cast<int16_t*>(data)[i] = static_cast<int16_t>(value);
    return;
  }
  const auto bits = std::bit_cast<uint32_t>(value);
  uint16_t& to = static_cast<uint16_t*>(data)[i];
  if ((bits & 0x7fffffffu) <= 0x7f800000u) {
    to = dtype == DType::kF16 ? F32ToF16(value) : F32ToBF16(value);
    return;
  }
  // Rounding would make a signalling NaN a quiet one.
  const uint32_t f16 = (bits >> 16 & 0x8000u) | 0x7c00u | (bits >> 13 & 0x3ffu);
  to = static_cast<uint16_t>(dtype == DType::kF16 ? f16 : bits >> 16);
}

inline bool IsHalfOrSingle(DType d) {
  return d == DType::kF32 || d == DType::kF16 || d == DType::kBF16;
}

/// Sets packed weights below the normal range to zero. Trained models have whole layers of such
/// weights, each of which costs the processor a hundred cycles per use, and none of which can
/// change a sum of normal values.
inline void FlushDenormals(float* values, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (std::abs(values[i]) < std::numeric_limits<float>::min()) values[i] = 0.0f;
  }
}

/// Packs a depth x columns matrix whose element (k, c) is at(k, c) into packed[panel][k][c].
template <class At>
void PackPanel(const Panels& panels, int64_t panel, int64_t depth, int64_t columns, const At& at,
               float* packed) {
  const int64_t first = panels.first_vector(panel) * panels.lanes;
  const int64_t width = panels.width(panel) * panels.lanes;
  float* out = packed + first * depth;
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t c = 0; c < width; ++c) *out++ = first + c < columns ? at(k, first + c) : 0.0f;
  }
}

/// The inverse of PackPanel: put(k, c, value) for every element of the panel inside the matrix.
template <class Put>
void UnpackPanel(const Panels& panels, int64_t panel, int64_t depth, int64_t columns,
                 const float* packed, const Put& put) {
  const int64_t first = panels.first_vector(panel) * panels.lanes;
  const int64_t width = panels.width(panel) * panels.lanes;
  const int64_t valid = std::min(width, columns - first);
  const float* row = packed + first * depth;
  for (int64_t k = 0; k < depth; ++k, row += width) {
    for (int64_t c = 0; c < valid; ++c) put(k, first + c, row[c]);
  }
}

/// The same as PackPanel for a strided f32 matrix; fast where rows or columns are contiguous.
inline void PackPanelF32(const Panels& panels, int64_t panel, int64_t depth, int64_t columns,
                         const float* from, int64_t k_stride, int64_t n_stride, float* packed) {
  const int64_t first = panels.first_vector(panel) * panels.lanes;
  const int64_t width = panels.width(panel) * panels.lanes;
  const int64_t valid = std::min(width, columns - first);
  float* out = packed + first * depth;
  from += first * n_stride;
  if (n_stride == 1) {
    for (int64_t k = 0; k < depth; ++k, out += width) {
      std::memcpy(out, from + k * k_stride, static_cast<size_t>(valid) * sizeof(float));
      std::fill(out + valid, out + width, 0.0f);
    }
    return;
  }
  // Short runs of k keep the lines of both sides in the cache while columns are walked.
  constexpr int64_t kRun = 16;
  for (int64_t k0 = 0; k0 < depth; k0 += kRun) {
    const int64_t k1 = std::min(depth, k0 + kRun);
    for (int64_t c = 0; c < width; ++c) {
      const float* column = from + c * n_stride;
      for (int64_t k = k0; k < k1; ++k)
        out[k * width + c] = c < valid ? column[k * k_stride] : 0.0f;
    }
  }
}

}  // namespace aicf::cpu
