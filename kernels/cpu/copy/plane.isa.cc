// Copies of planes, by what is contiguous in memory: the rows of both sides, the columns of one
// side (a transpose), or neither.
#include "kernels/cpu/copy/plane.h"

#include <cstring>

#include "kernels/cpu/copy/transpose.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN
namespace {

template <class T>
void CopyRuns(const CopyPlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  const size_t bytes = static_cast<size_t>(p.cols) * sizeof(T);
  for (int64_t r = 0; r < p.rows; ++r) std::memcpy(out + r * p.out_row, in + r * p.in_row, bytes);
}

template <class T>
void RepeatElements(const CopyPlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  for (int64_t r = 0; r < p.rows; ++r) {
    const T value = in[r * p.in_row];
    T* row = out + r * p.out_row;
    for (int64_t c = 0; c < p.cols; ++c) row[c] = value;
  }
}

template <class T>
void CopyStrided(const CopyPlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  for (int64_t r = 0; r < p.rows; ++r) {
    const T* from = in + r * p.in_row;
    T* to = out + r * p.out_row;
    for (int64_t c = 0; c < p.cols; ++c) to[c * p.out_col] = from[c * p.in_col];
  }
}

/// Interleaves kCols planes into one row of kCols-tuples, e.g. RGB planes into pixels.
/// REQUIRES: in_row == 1, out_row == kCols, out_col == 1.
template <class T, int kCols>
void Interleave(const CopyPlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T* __restrict out = static_cast<T*>(p.out);
  const T* __restrict from[kCols];
  for (int c = 0; c < kCols; ++c) from[c] = in + c * p.in_col;
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int c = 0; c < kCols; ++c) out[r * kCols + c] = from[c][r];
  }
}

/// The inverse of Interleave: splits a row of kRows-tuples into kRows rows.
/// REQUIRES: in_row == 1, in_col == kRows, out_col == 1.
template <class T, int kRows>
void Deinterleave(const CopyPlane& p) {
  const T* __restrict in = static_cast<const T*>(p.in);
  T* __restrict out = static_cast<T*>(p.out);
  for (int r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < p.cols; ++c) out[r * p.out_row + c] = in[c * kRows + r];
  }
}

template <class T>
bool CopyTuples(const CopyPlane& p) {
  if (p.out_row == p.cols && p.cols == 3) return Interleave<T, 3>(p), true;
  if (p.out_row == p.cols && p.cols == 4) return Interleave<T, 4>(p), true;
  if (p.in_col == p.rows && p.rows == 3) return Deinterleave<T, 3>(p), true;
  if (p.in_col == p.rows && p.rows == 4) return Deinterleave<T, 4>(p), true;
  return false;
}

template <class T>
void Copy(const CopyPlane& p) {
  if (p.out_col != 1) return CopyStrided<T>(p);
  if (p.in_col == 1) return CopyRuns<T>(p);
  if (p.in_col == 0) return RepeatElements<T>(p);
  if (p.in_row != 1) return CopyStrided<T>(p);
  if (!CopyTuples<T>(p)) TransposePlane<T>(p);
}

}  // namespace

CopyPlaneFn FindCopyPlane(int64_t bytes) {
  switch (bytes) {
    case 1:
      return &Copy<uint8_t>;
    case 2:
      return &Copy<uint16_t>;
    case 4:
      return &Copy<uint32_t>;
    default:
      return &Copy<uint64_t>;
  }
}

AICF_ISA_END
