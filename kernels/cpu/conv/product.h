/// Turns a phase of a convolution into the product of kernels/cpu/gemm/igemm.h, except for the
/// weights.
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

/// Fills the rows of x and the epilogue's operands of *igemm. The operands begin at the first
/// position of the output; the caller shifts them to that of the phase (EnterPhase).
void FillConvProduct(const abi::ArgBlock& args, const ConvShape& shape, const ConvPhase& phase,
                     const ConvInput& in, ConvSource source, Igemm* igemm);

/// Shifts outputs and operands to the first position of the phase.
void EnterPhase(const abi::ArgBlock& args, const ConvShape& shape, const ConvPhase& phase,
                TileEpilogue* epilogue);

/// Fills the columns of *igemm and, where every weight tap is a block of columns (ConvIsTiled), the
/// place of each such piece in the output.
void FillPieces(const abi::ArgBlock& args, const ConvShape& shape, int64_t columns, Igemm* igemm);

}  // namespace aicf::cpu
