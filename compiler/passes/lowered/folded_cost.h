/// Which convolutions are to have their taps folded (folded_taps.h), and what they take on a GPU
/// then.
#pragma once

#include <optional>
#include <string>

#include "compiler/passes/pass.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// The dtype that a product is going to multiply: choose-storage, which runs after fold-taps,
/// stores f32 values in context.storage.
DType OperandType(DType dtype, const PassContext& context);

/// Elements of the left operand in a piece of kFoldedPieceBytes.
int64_t PieceOf(const abi::Problem& p, const PassContext& context);

/// Whether the problem is a convolution of few channels whose operands the tensor cores multiply as
/// the copy engine brings them: codes, and floats in a mode of 16 bits, or in tf32 where the whole
/// program is. RefuseFolding says whether its taps can be folded.
bool MayFold(const abi::Problem& p, const PassContext& context);

/// The predicted time (CorrectedUs) of the copy that stores the input and of the convolution that
/// reads it, in us. The operands have the dtypes that are multiplied. nullopt where no kernel takes
/// a step, with `refusal` set. REQUIRES: RefuseFolding does not refuse the convolution.
std::optional<double> FoldedUs(const abi::Problem& conv, const PassContext& context,
                               std::string* refusal);

}  // namespace aicf
