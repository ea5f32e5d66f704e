/// The register tiles of integer products, and the fastest ones that this machine has.
#pragma once

#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

#define AICF_INTEGER_TILES_OF(isa)                                                               \
  namespace isa {                                                                                \
  /** See FindIntegerTileFn. REQUIRES: rows are at most kTileRows[vectors - 1]; microkernel.h */ \
  IntegerTileFn FindIntegerTile(IntegerForm form, bool flip, int vectors, int rows,              \
                                bool gathered);                                                  \
  }
AICF_INTEGER_TILES_OF(baseline)
AICF_INTEGER_TILES_OF(avx2)
AICF_INTEGER_TILES_OF(avx512)
AICF_INTEGER_TILES_OF(avx512vnni)
#undef AICF_INTEGER_TILES_OF

/// The tiles of an instruction set. For AVX-512 they are those of AVX-512 VNNI where the processor
/// has it, which give the same results.
FindIntegerTileFn IntegerTilesOf(abi::CpuIsa isa);

}  // namespace aicf::cpu
