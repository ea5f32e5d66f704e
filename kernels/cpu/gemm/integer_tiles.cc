#include "kernels/cpu/gemm/integer_tiles.h"

#include "kernels/cpu/common/vnni.h"

namespace aicf::cpu {

FindIntegerTileFn IntegerTilesOf(abi::CpuIsa isa) {
  if (isa == abi::CpuIsa::kBaseline) return &baseline::FindIntegerTile;
  if (isa == abi::CpuIsa::kAvx2) return &avx2::FindIntegerTile;
  static const bool has_vnni = HasVnni();
  return has_vnni ? &avx512vnni::FindIntegerTile : &avx512::FindIntegerTile;
}

}  // namespace aicf::cpu
