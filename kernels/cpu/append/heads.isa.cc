#include "kernels/cpu/append/heads.h"

#include <cstring>

#include "kernels/cpu/expr/half.h"

AICF_ISA_BEGIN
namespace {

// The head's elements as floats: in place if they are f32, otherwise converted into `room`.
const float* Widened(const AppendedHead& h, float* room) {
  const auto* halves = static_cast<const uint16_t*>(h.from);
  if (h.from_dtype == DType::kF32) return static_cast<const float*>(h.from);
  if (h.from_dtype == DType::kF16) {
    WidenF16(halves, room, h.count);
  } else {
    WidenBF16(halves, room, h.count);
  }
  return room;
}

void Turn(const AppendedHead& h, const float* __restrict x, float* __restrict y) {
  const float *c = h.cosine, *s = h.sine;
  const float* second = x + h.pairs;
  float* turned = y + h.pairs;
  for (int64_t d = 0; d < h.pairs; ++d) {
    y[d] = x[d] * c[d] - second[d] * s[d];
    turned[d] = second[d] * c[d] + x[d] * s[d];
  }
  const int64_t rest = h.count - 2 * h.pairs;
  if (rest > 0) {
    std::memcpy(y + 2 * h.pairs, x + 2 * h.pairs, static_cast<size_t>(rest) * sizeof(float));
  }
}

void Narrow(const AppendedHead& h, const float* values) {
  auto* halves = static_cast<uint16_t*>(h.to);
  if (h.to_dtype == DType::kF16) {
    NarrowF16(values, halves, h.count);
  } else if (h.to_dtype == DType::kBF16) {
    NarrowBF16(values, halves, h.count);
  } else if (values != h.to) {
    std::memcpy(h.to, values, static_cast<size_t>(h.count) * sizeof(float));
  }
}

}  // namespace

void AppendHead(const AppendedHead& h) {
  if (h.pairs == 0 && h.from_dtype == h.to_dtype) {
    std::memcpy(h.to, h.from, static_cast<size_t>(h.count * DTypeBytes(h.to_dtype)));
    return;
  }
  float staged[kMostHead], turned[kMostHead];
  const float* values = Widened(h, staged);
  if (h.pairs > 0) {
    float* y = h.to_dtype == DType::kF32 ? static_cast<float*>(h.to) : turned;
    Turn(h, values, y);
    values = y;
  }
  Narrow(h, values);
}

AICF_ISA_END
