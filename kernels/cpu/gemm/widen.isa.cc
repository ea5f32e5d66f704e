#include "kernels/cpu/gemm/widen.h"

#include "kernels/cpu/common/simd.h"

AICF_ISA_BEGIN
namespace {

void WidenHalves(const uint16_t* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(to + i, WidenHalf(from + i));
  for (; i < n; ++i) to[i] = F16ToF32(from[i]);
}

template <class T>
void WidenIntegers(const T* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace

void WidenRun(const void* from, DType dtype, int64_t n, float* to) {
  switch (dtype) {
    case DType::kF16:
      return WidenHalves(static_cast<const uint16_t*>(from), n, to);
    case DType::kU8:
      return WidenIntegers(static_cast<const uint8_t*>(from), n, to);
    case DType::kI8:
      return WidenIntegers(static_cast<const int8_t*>(from), n, to);
    case DType::kI16:
      return WidenIntegers(static_cast<const int16_t*>(from), n, to);
    default:
      break;
  }
  const auto* half = static_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < n; ++i) to[i] = BF16ToF32(half[i]);
}

AICF_ISA_END
