#include "kernels/cpu/scan/loops.h"

#include <type_traits>

#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN
namespace {

template <bool kProduct, class T>
inline T Combined(T total, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return kProduct ? total * x : total + x;
  } else {
    using U = std::make_unsigned_t<T>;  // wraps
    const U a = static_cast<U>(total), b = static_cast<U>(x);
    return static_cast<T>(kProduct ? a * b : a + b);
  }
}

/// x and out may be the same memory: every element is read just before it is written.
template <bool kProduct, bool kExclusive, bool kAdjacent, class T>
void Run(const ScanLines& l) {
  const T* x = static_cast<const T*>(l.x);
  T* out = static_cast<T*>(l.out);
  const int64_t line_step = kAdjacent ? 1 : l.line_step;
  alignas(64) T total[kScanWidth];
  for (int64_t w = 0; w < l.width; ++w) total[w] = static_cast<T>(kProduct ? 1 : 0);
  for (int64_t i = 0; i < l.extent; ++i, x += l.step, out += l.step) {
#pragma GCC ivdep
    for (int64_t w = 0; w < l.width; ++w) {
      const T sum = Combined<kProduct>(total[w], x[w * line_step]);
      out[w * line_step] = kExclusive ? total[w] : sum;
      total[w] = sum;
    }
  }
}

template <bool kProduct, class T>
void Dispatch(const ScanLines& l) {
  if (l.line_step == 1) {
    return l.exclusive ? Run<kProduct, true, true, T>(l) : Run<kProduct, false, true, T>(l);
  }
  l.exclusive ? Run<kProduct, true, false, T>(l) : Run<kProduct, false, false, T>(l);
}

template <class T>
void Typed(const ScanLines& l) {
  l.product ? Dispatch<true, T>(l) : Dispatch<false, T>(l);
}

}  // namespace

void RunScan(const ScanLines& lines) {
  switch (lines.dtype) {
    case DType::kF32:
      return Typed<float>(lines);
    case DType::kF64:
      return Typed<double>(lines);
    case DType::kI32:
      return Typed<int32_t>(lines);
    default:
      return Typed<int64_t>(lines);
  }
}

AICF_ISA_END
