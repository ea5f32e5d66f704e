/// Loads and stores of the storage-only dtypes by runs of elements, for the block evaluation.
/// Compiled once: base/float8.h must not be inlined into files that are compiled per instruction
/// set.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace aicf::cpu {

/// to[i] = the value of the float8 or float4 code from[i * stride].
void WidenFloat8(DType dtype, const uint8_t* from, int64_t stride, int64_t n, float* to);

/// to[i * stride] = from[i * from_stride] as `dtype`: a float8 or float4 from f32, or the low bits
/// of an integer below 8 bits from i8 or u8.
void NarrowStored(DType dtype, const void* from, int64_t from_stride, int64_t n, uint8_t* to,
                  int64_t stride);

}  // namespace aicf::cpu
