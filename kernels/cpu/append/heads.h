/// The inner loop of the vector appends: one head of one row.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace aicf::cpu {

/// Most elements of a head that the vector appends take.
inline constexpr int64_t kMostHead = 1024;

/// One head to be appended: `count` contiguous elements at `from` and at `to`.
struct AppendedHead {
  const void* from = nullptr;
  void* to = nullptr;
  DType from_dtype = DType::kF32, to_dtype = DType::kF32;  ///< f32, f16 or bf16
  int64_t count = 0;
  int64_t pairs = 0;  ///< pairs of elements that turn; 0: the head is only moved
  const float *cosine = nullptr, *sine = nullptr;
};

using AppendHeadLoop = void (*)(const AppendedHead& head);

namespace baseline {
void AppendHead(const AppendedHead& head);
}
namespace avx2 {
void AppendHead(const AppendedHead& head);
}
namespace avx512 {
void AppendHead(const AppendedHead& head);
}

}  // namespace aicf::cpu
