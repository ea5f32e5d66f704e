/// IEEE binary16 and bfloat16 conversions: round to nearest even, NaN stays NaN, denormals kept.
/// Header-only so that vectorised kernels inline them.
#pragma once

#include <bit>
#include <cstdint>

namespace aicf {

inline float F16ToF32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t rest = static_cast<uint32_t>(h & 0x7fffu) << 13;
  if ((h & 0x7c00u) == 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | rest);
  // Multiplying by 2^112 rebiases the exponent exactly, denormals included.
  const float magnitude = std::bit_cast<float>(rest) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

inline uint16_t F32ToF16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t mag = bits & 0x7fffffffu;
  if (mag > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((mag >> 13) & 0x1ffu));
  if (mag >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // >= 65520 rounds to inf
  if (mag < 0x38800000u) {
    // Denormal result: adding 0.5 aligns the mantissa so that the FPU rounds to nearest even.
    const float shifted = std::bit_cast<float>(mag) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (mag >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((mag - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float BF16ToF32(uint16_t b) {
  return std::bit_cast<float>(static_cast<uint32_t>(b) << 16);
}

inline uint16_t F32ToBF16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace aicf
