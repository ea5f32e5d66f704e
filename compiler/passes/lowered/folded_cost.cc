#include "compiler/passes/lowered/folded_cost.h"

#include "compiler/passes/lowered/folded_taps.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {

std::optional<double> FoldedUs(const abi::Problem& conv, const PassContext& context,
                               std::string* refusal) {
  const int64_t element = DTypeBytes(conv.inputs[0].dtype);
  const Folded f = FoldedOf(conv, kFoldedPieceBytes / element, true);
  const std::optional<double> copy = CorrectedUs(StoringCopy(conv, f, 0), context, refusal);
  if (!copy) return std::nullopt;
  const std::optional<double> product =
      CorrectedUs(FoldedProblem(conv, f, FoldedAlongSum(conv.inputs[1].dtype)), context, refusal);
  return product ? std::optional(*copy + *product) : std::nullopt;
}

}  // namespace aicf
