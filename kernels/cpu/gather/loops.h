/// The inner loop of the vector gather of elements.
#pragma once

#include <cstdint>

namespace aicf::cpu {

/// out[i * out_step] = data[index[i * index_step] * axis_stride + i * data_step], or zero where the
/// index is out of range. Steps count elements.
struct GatherLine {
  const void* data = nullptr;
  const void* index = nullptr;
  void* out = nullptr;
  int element = 4;            ///< bytes
  bool narrow_index = false;  ///< i32 instead of i64
  int64_t data_step = 0, index_step = 0, out_step = 0;
  int64_t axis_stride = 0, extent = 0, count = 0;
};

using GatherLoop = void (*)(const GatherLine& line);

namespace baseline {
void MoveElements(const GatherLine& line);
}
namespace avx2 {
void MoveElements(const GatherLine& line);
}
namespace avx512 {
void MoveElements(const GatherLine& line);
}

}  // namespace aicf::cpu
