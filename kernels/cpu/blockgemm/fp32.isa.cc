// There are no such products for the baseline, which has no fused multiply-add: its kernel is
// cpu.blockgemm.ref.
#if !defined(AICF_ISA_baseline)

#include "kernels/cpu/blockgemm/dispatch.h"
#include "kernels/cpu/blockgemm/exact_tiles.h"

AICF_ISA_BEGIN
namespace {

template <class D>
void ExactProducts(const BlockTask& task) {
  if (task.rows <= kFewRows) return FewRows<D, false>(task);
  ManyRows<ExactTiles<D>>(task);
}

}  // namespace

void BlockProductsFp32(const BlockTask& task) {
  if (task.format == BlockFormat::kF16) return ExactProducts<Decoder<BlockFormat::kF16>>(task);
  if (task.format == BlockFormat::kBF16) return ExactProducts<Decoder<BlockFormat::kBF16>>(task);
  WithDecoderOfCodes(task.format, [&]<class D>(D) { ExactProducts<D>(task); });
}

AICF_ISA_END

#endif
