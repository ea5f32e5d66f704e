/// A convolution's phase as the product of kernels/cpu/gemm/igemm.h, but for weights and columns.
#pragma once

#include "kernels/cpu/conv/layout.h"
#include "kernels/cpu/conv/source.h"
#include "kernels/cpu/gemm/igemm_plan.h"

namespace aicf::cpu {

/// Outer axes of the product: image, group, and the outer two spatial axes.
enum : int { kConvImage, kConvGroup, kConvDepth, kConvHeight };

/// Tensor axis of spatial axis a, -1 for a missing one.
inline int ConvTensorAxis(const ConvShape& s, int a) {
  return a < s.first_axis ? -1 : a - s.first_axis + 2;
}

/// Fills the rows of x and the epilogue's operands of *igemm. Operands of an output phase are those
/// of its first position only when the caller shifts them.
void FillConvProduct(const abi::ArgBlock& args, const ConvShape& shape, const ConvPhase& phase,
                     const ConvInput& in, ConvSource source, Igemm* igemm);

/// Shifts outputs and operands to the first position of the phase.
void EnterPhase(const abi::ArgBlock& args, const ConvShape& shape, const ConvPhase& phase,
                TileEpilogue* epilogue);

/// The columns of *igemm and, where the weights' taps are side by side, the place of each piece.
void FillPieces(const abi::ArgBlock& args, const ConvShape& shape, int64_t columns, Igemm* igemm);

}  // namespace aicf::cpu
