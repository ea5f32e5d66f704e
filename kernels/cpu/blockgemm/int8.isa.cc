// There are no such products for the baseline, which multiplies no bytes and has no fused
// multiply-add: its kernel is cpu.blockgemm.ref.
#if !defined(AICF_ISA_baseline)

#include "kernels/cpu/blockgemm/dispatch.h"
#include "kernels/cpu/blockgemm/rounded_tiles.h"

AICF_ISA_BEGIN

void BlockProductsInt8(const BlockTask& task) {
  WithDecoderOfCodes(task.format, [&]<class D>(D) {
    if (task.rows <= kFewRows) return FewRows<D, true>(task);
    ManyRows<RoundedTiles<D>>(task);
  });
}

AICF_ISA_END

#endif
