/// cpu.blockgemm.columns_*: products with weights in blocks, packed in panels of sixteen columns
/// (kernels/cpu/blockgemm/layout.h), in both math modes. Host functions in blockgemm/hosts.h.
///
/// Up to four rows of A, codes are decoded in registers and the time is that of reading them; of
/// more rows, a stretch of two panels is decoded once for all rows of a piece of the work. In math
/// mode int8 all rows of A are rounded first, unless the weights are f16 or bf16, whose products
/// are exact in every mode. The order of sums follows from the problem alone.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// With AVX-512 the products of bytes are those of AVX-512 VNNI where the processor has it; the
/// results are the same bit by bit.
template <abi::CpuIsa kIsa>
void BlockGemmColumns(const abi::ArgBlock& args);

extern template void BlockGemmColumns<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
extern template void BlockGemmColumns<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
