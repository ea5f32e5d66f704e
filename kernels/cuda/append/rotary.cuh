// cuda.append.rotary: queries and keys are turned by their positions.
#pragma once

#include "append/append.cuh"

namespace aicf {

struct TurnedQueries {
  typedef In5 From;
  typedef Out2 To;
  static constexpr index_t kHeads = In5::extent(2);
  static AICF_DEVICE const void* from(const Args& args) { return args.in[5]; }
  static AICF_DEVICE void* to(const Args& args) { return args.out[2]; }
  static AICF_DEVICE void LoadTables(const Args& args, index_t request, index_t token, index_t d,
                                     float (&cosine)[kVector], float (&sine)[kVector]) {
    const index_t c =
        In6::kOffset + request * In6::stride(0) + token * In6::stride(1) + d * In6::stride(2);
    const index_t s =
        In7::kOffset + request * In7::stride(0) + token * In7::stride(1) + d * In7::stride(2);
    LoadPart<In6>(args.in[6], c, cosine);
    LoadPart<In7>(args.in[7], s, sine);
  }
};

AICF_DEVICE void Kernel(const Args& args) { Append<TurnedQueries>(args); }

}  // namespace aicf
