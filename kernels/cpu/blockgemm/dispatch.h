/// From a format to the function made for it. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/blockgemm/decoders.h"
#include "kernels/cpu/blockgemm/products.h"

AICF_ISA_BEGIN

/// Calls f with the decoder of a format that has scales; returns at once for others.
template <class F>
void WithDecoderOfCodes(BlockFormat format, const F& f) {
  switch (format) {
    case BlockFormat::kQ4_0:
      return f(Decoder<BlockFormat::kQ4_0>());
    case BlockFormat::kQ4_1:
      return f(Decoder<BlockFormat::kQ4_1>());
    case BlockFormat::kQ5_0:
      return f(Decoder<BlockFormat::kQ5_0>());
    case BlockFormat::kQ5_1:
      return f(Decoder<BlockFormat::kQ5_1>());
    case BlockFormat::kQ8_0:
      return f(Decoder<BlockFormat::kQ8_0>());
    case BlockFormat::kQ2_K:
      return f(Decoder<BlockFormat::kQ2_K>());
    case BlockFormat::kQ3_K:
      return f(Decoder<BlockFormat::kQ3_K>());
    case BlockFormat::kQ4_K:
      return f(Decoder<BlockFormat::kQ4_K>());
    case BlockFormat::kQ5_K:
      return f(Decoder<BlockFormat::kQ5_K>());
    case BlockFormat::kQ6_K:
      return f(Decoder<BlockFormat::kQ6_K>());
    default:
      return;
  }
}

AICF_ISA_END
