/// cpu.scan.dense: x as [outer, extent, inner]; a block of inner positions runs along the axis with
/// its totals in registers or on the stack, so that memory is read and written in rows.
#include <algorithm>
#include <type_traits>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/scan/scan.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kBlock = 64;

template <bool kProduct, class T>
T Combined(T total, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return kProduct ? total * x : total + x;
  } else {
    using U = std::make_unsigned_t<T>;  // wraps
    const U a = static_cast<U>(total), b = static_cast<U>(x);
    return static_cast<T>(kProduct ? a * b : a + b);
  }
}

/// `width` neighbouring lines of `extent` elements, rows `step` elements apart (negative:
/// reversed).
template <bool kProduct, class T>
void ScanLines(const T* x, T* out, int64_t extent, int64_t step, int64_t width, bool exclusive) {
  T total[kBlock];
  std::fill_n(total, width, static_cast<T>(kProduct ? 1 : 0));
  for (int64_t i = 0; i < extent; ++i, x += step, out += step) {
    for (int64_t w = 0; w < width; ++w) {
      const T sum = Combined<kProduct>(total[w], x[w]);
      out[w] = exclusive ? total[w] : sum;
      total[w] = sum;
    }
  }
}

template <class T>
void ScanTyped(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::ScanAttrs>();
  const int axis = static_cast<int>(attrs.axis);
  const abi::TensorArg &x = Input(args, 0), &out = Output(args, 0);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= x.shape[d];
  for (int d = axis + 1; d < x.rank; ++d) inner *= x.shape[d];
  const int64_t extent = x.shape[axis];
  if (outer * inner * extent == 0) return;
  const T* from = static_cast<const T*>(x.data) + x.offset;
  T* to = static_cast<T*>(out.data) + out.offset;
  const int64_t blocks = (inner - 1) / kBlock + 1;
  const int64_t start = attrs.reverse ? (extent - 1) * inner : 0;
  const int64_t step = attrs.reverse ? -inner : inner;
  const int64_t grain = 8192 / std::max<int64_t>(1, extent * std::min(inner, kBlock)) + 1;
  ParallelRanges(args, outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kBlock;
      const int64_t at = i / blocks * extent * inner + start + first;
      const int64_t width = std::min(kBlock, inner - first);
      if (attrs.kind == abi::ScanKind::kProd) {
        ScanLines<true>(from + at, to + at, extent, step, width, attrs.exclusive);
      } else {
        ScanLines<false>(from + at, to + at, extent, step, width, attrs.exclusive);
      }
    }
  });
}

}  // namespace

void ScanDense(const abi::ArgBlock& args) {
  switch (Input(args, 0).dtype) {
    case DType::kF32:
      return ScanTyped<float>(args);
    case DType::kF64:
      return ScanTyped<double>(args);
    case DType::kI32:
      return ScanTyped<int32_t>(args);
    default:
      return ScanTyped<int64_t>(args);
  }
}

}  // namespace aicf::cpu
