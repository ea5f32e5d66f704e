#include "kernels/cpu/expr/stored.h"

#include <array>

#include "base/float8.h"
#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {
namespace {

using Values = std::array<float, 256>;

Values MakeValues(DType dtype) {
  Values values;
  for (int code = 0; code < 256; ++code) {
    values[static_cast<size_t>(code)] = Float8ToF32(static_cast<uint8_t>(code), dtype);
  }
  return values;
}

const Values& ValuesOf(DType dtype) {
  static const std::array<Values, 6> tables = {
      MakeValues(DType::kF8E4M3FN),   MakeValues(DType::kF8E4M3FNUZ), MakeValues(DType::kF8E5M2),
      MakeValues(DType::kF8E5M2FNUZ), MakeValues(DType::kF8E8M0),     MakeValues(DType::kF4E2M1)};
  return tables[static_cast<size_t>(dtype) - static_cast<size_t>(DType::kF8E4M3FN)];
}

}  // namespace

void WidenFloat8(DType dtype, const uint8_t* from, int64_t stride, int64_t n, float* to) {
  const Values& values = ValuesOf(dtype);
  for (int64_t i = 0; i < n; ++i) to[i] = values[from[i * stride]];
}

void NarrowStored(DType dtype, const void* from, int64_t from_stride, int64_t n, uint8_t* to,
                  int64_t stride) {
  if (IsFloat(dtype)) {
    const auto* values = static_cast<const float*>(from);
    for (int64_t i = 0; i < n; ++i) to[i * stride] = F32ToFloat8(values[i * from_stride], dtype);
    return;
  }
  const auto* values = static_cast<const uint8_t*>(from);
  for (int64_t i = 0; i < n; ++i) {
    to[i * stride] = static_cast<uint8_t>(WrapInteger(values[i * from_stride], dtype));
  }
}

}  // namespace aicf::cpu
