#include "compiler/passes/lowered/folded_cost.h"

#include "compiler/passes/lowered/folded_taps.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {
namespace {

// Whether the tensor cores multiply the operands as the copy engine brings them. Where tf32 is
// asked for this convolution alone, and not for the whole program, the convolution stays as it is.
bool IsTensorProduct(const abi::Problem& p, const PassContext& context) {
  const DType x = OperandType(p.inputs[0].dtype, context);
  if (IsByteInteger(x) && IsByteInteger(p.inputs[1].dtype)) {
    return context.device.warpgroup_products;
  }
  return p.inputs[0].dtype == p.inputs[1].dtype &&
         ((x == DType::kF16 && p.math == abi::MathMode::kFp16) ||
          (x == DType::kBF16 && p.math == abi::MathMode::kBf16) ||
          (x == DType::kF32 && p.math == abi::MathMode::kTf32 &&
           context.math == abi::MathMode::kTf32));
}

}  // namespace

DType OperandType(DType dtype, const PassContext& context) {
  return dtype == DType::kF32 ? context.storage : dtype;
}

int64_t PieceOf(const abi::Problem& p, const PassContext& context) {
  return kFoldedPieceBytes / DTypeBytes(OperandType(p.inputs[0].dtype, context));
}

bool MayFold(const abi::Problem& p, const PassContext& context) {
  return p.family == abi::Family::kConv && IsTensorProduct(p, context) &&
         HasFewChannels(p, PieceOf(p, context));
}

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
