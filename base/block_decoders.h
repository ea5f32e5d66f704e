/// Decoders of one block, one function for each row of base/block_format.def: bytes in, values out.
/// Only block_format.cc calls them.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/float16.h"

namespace aicf::blocks {

#define AICF_BLOCK_FORMAT(id, ggml, name, elements, bytes) \
  void Decode_##id(const uint8_t* block, float* out);
#include "base/block_format.def"
#undef AICF_BLOCK_FORMAT

inline uint16_t Half(const uint8_t* p) { return static_cast<uint16_t>(p[0] | (p[1] << 8)); }
inline float Scale(const uint8_t* p) { return F16ToF32(Half(p)); }

}  // namespace aicf::blocks
