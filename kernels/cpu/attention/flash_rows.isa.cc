// Rows of keys and values in any storage dtype: widened, transposed, and multiplied where they lie.
#include "kernels/cpu/attention/flash_parts.h"
#include "kernels/cpu/common/lanes.h"

AICF_ISA_BEGIN
namespace {

/// Calls f with a pointer type of the storage dtype.
template <class F>
void VisitFloats(DType dtype, const F& f) {
  if (dtype == DType::kF16) return f(static_cast<const F16*>(nullptr));
  if (dtype == DType::kBF16) return f(static_cast<const BF16*>(nullptr));
  return f(static_cast<const float*>(nullptr));
}

template <class T>
void WidenRow(const T* from, int64_t stride, int64_t n, float* to) {
  int64_t i = 0;
  if (stride == 1) {
    for (; i + kLanes <= n; i += kLanes) StoreLanes(to + i, LoadLanes(from + i));
  }
  for (; i < n; ++i) to[i] = LoadOne(from + i * stride);
}

#if defined(AICF_ISA_avx2) || defined(AICF_ISA_avx512)
static inline __m256 LoadEight(const float* p) { return _mm256_loadu_ps(p); }
static inline __m256 LoadEight(const F16* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
static inline __m256 LoadEight(const BF16* p) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

/// Eight rows by eight elements, transposed.
template <class T>
void TransposeEight(const T* const* row, int64_t at, float* to) {
  __m256 r[8], s[8];
  for (int i = 0; i < 8; ++i) r[i] = LoadEight(row[i] + at);
  for (int i = 0; i < 8; i += 2) {
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * kFlashKeys, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * kFlashKeys, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
#endif

template <class T>
void TransposePiece(const T* const* row, int64_t stride, int64_t n, float* to) {
  int64_t i = 0;
#if defined(AICF_ISA_avx2) || defined(AICF_ISA_avx512)
  if (stride == 1) {
    for (; i + 8 <= n; i += 8) TransposeEight(row, i, to + i * kFlashKeys);
  }
#endif
  for (; i < n; ++i) {
    for (int r = 0; r < 8; ++r) to[i * kFlashKeys + r] = LoadOne(row[r] + i * stride);
  }
}

void ClearColumns(float* to, int64_t n, int64_t begin, int64_t end) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = begin; c < end; ++c) to[i * kFlashKeys + c] = 0;
  }
}

template <class T>
float Dot(const float* q, const T* k, int64_t n) {
  Lanes even{}, odd{};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even += LoadLanes(q + i) * LoadLanes(k + i);
    odd += LoadLanes(q + i + kLanes) * LoadLanes(k + i + kLanes);
  }
  if (i + kLanes <= n) {
    even += LoadLanes(q + i) * LoadLanes(k + i);
    i += kLanes;
  }
  float rest = 0;
  for (; i < n; ++i) rest += q[i] * LoadOne(k + i);
  return FoldLanes(even + odd, SumOp::Do<Lanes>) + rest;
}

/// kRows weighted sums at once, so that a value is read once.
template <int kRows, class T>
void SumPiece(const FlashRows& values, const T* const* row, const float* weights, float* product,
              int64_t pitch) {
  int64_t i = 0;
  for (; i + kLanes <= values.length; i += kLanes) {
    Lanes sum[kRows] = {};
    for (int64_t c = 0; c < values.count; ++c) {
      const Lanes v = LoadLanes(row[c] + i);
      for (int r = 0; r < kRows; ++r) sum[r] += v * weights[r * kFlashKeys + c];
    }
    for (int r = 0; r < kRows; ++r) StoreLanes(product + r * pitch + i, sum[r]);
  }
  for (; i < values.length; ++i) {
    for (int r = 0; r < kRows; ++r) {
      float sum = 0;
      for (int64_t c = 0; c < values.count; ++c) {
        sum += LoadOne(row[c] + i) * weights[r * kFlashKeys + c];
      }
      product[r * pitch + i] = sum;
    }
  }
  for (; i < pitch; ++i) {
    for (int r = 0; r < kRows; ++r) product[r * pitch + i] = 0;
  }
}

}  // namespace

void WidenRows(const FlashRows& rows, float* to, int64_t pitch) {
  VisitFloats(rows.dtype, [&]<class T>(const T*) {
    for (int64_t r = 0; r < rows.count; ++r, to += pitch) {
      const auto* from = reinterpret_cast<const T*>(rows.address[r]);
      const int64_t n = from == nullptr ? 0 : rows.length;
      WidenRow(from, rows.stride, n, to);
      for (int64_t i = n; i < pitch; ++i) to[i] = 0;
    }
  });
}

void TransposeRows(const FlashRows& rows, float* to) {
  VisitFloats(rows.dtype, [&]<class T>(const T*) {
    int64_t r = 0;
    for (; r + 8 <= rows.count; r += 8) {
      const T* row[8];
      bool all = true;
      for (int i = 0; i < 8; ++i) {
        row[i] = reinterpret_cast<const T*>(rows.address[r + i]);
        all = all && row[i] != nullptr;
      }
      if (!all) break;
      TransposePiece(row, rows.stride, rows.length, to + r);
    }
    ClearColumns(to, rows.length, r, kFlashKeys);
    for (; r < rows.count; ++r) {
      const auto* row = reinterpret_cast<const T*>(rows.address[r]);
      if (row == nullptr) continue;
      for (int64_t i = 0; i < rows.length; ++i)
        to[i * kFlashKeys + r] = LoadOne(row + i * rows.stride);
    }
  });
}

void DotRows(const FlashRows& keys, const float* query, int64_t pitch, int64_t rows,
             float* scores) {
  VisitFloats(keys.dtype, [&]<class T>(const T*) {
    for (int64_t c = 0; c < keys.count; ++c) {
      const auto* key = reinterpret_cast<const T*>(keys.address[c]);
      for (int64_t r = 0; r < rows; ++r) {
        scores[r * kFlashKeys + c] = key == nullptr ? 0 : Dot(query + r * pitch, key, keys.length);
      }
    }
  });
}

void SumRows(const FlashRows& values, const float* weights, int64_t rows, const float* zeros,
             float* product, int64_t pitch) {
  VisitFloats(values.dtype, [&]<class T>(const T*) {
    const T* row[kFlashKeys];
    for (int64_t c = 0; c < values.count; ++c) {
      const char* at =
          values.address[c] == nullptr ? reinterpret_cast<const char*>(zeros) : values.address[c];
      row[c] = reinterpret_cast<const T*>(at);
    }
    for (; rows >= 4; rows -= 4, weights += 4 * kFlashKeys, product += 4 * pitch) {
      SumPiece<4>(values, row, weights, product, pitch);
    }
    if (rows >= 2) {
      SumPiece<2>(values, row, weights, product, pitch);
      rows -= 2, weights += 2 * kFlashKeys, product += 2 * pitch;
    }
    if (rows == 1) SumPiece<1>(values, row, weights, product, pitch);
  });
}

AICF_ISA_END
