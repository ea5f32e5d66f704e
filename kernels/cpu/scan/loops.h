/// The inner loops of the vector scan.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace aicf::cpu {

/// Lines that run side by side.
inline constexpr int64_t kScanWidth = 64;

/// `width` lines of `extent` elements: element i of line w at i * step + w * line_step. A negative
/// step runs backwards.
struct ScanLines {
  DType dtype = DType::kF32;  ///< f32, f64, i32 or i64
  bool product = false, exclusive = false;
  const void* x = nullptr;  ///< element 0 of line 0
  void* out = nullptr;
  int64_t extent = 0, step = 0;
  int64_t width = 0, line_step = 1;  ///< width <= kScanWidth
};

using ScanLoop = void (*)(const ScanLines& lines);

namespace baseline {
void RunScan(const ScanLines& lines);
}
namespace avx2 {
void RunScan(const ScanLines& lines);
}
namespace avx512 {
void RunScan(const ScanLines& lines);
}

}  // namespace aicf::cpu
