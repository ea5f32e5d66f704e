/// A convolution for tests of what convolutions become on a GPU.
#pragma once

#include "compiler/ir/views.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// One image of side x side pixels, channels innermost.
inline abi::View PixelsOf(DType dtype, int64_t channels, int64_t side) {
  const Dims shape = {1, channels, side, side};
  return {dtype, shape, ir::StridesInOrder(shape, ir::ChannelsLastOrder(4)), 0};
}

/// A convolution by 3 x 3 windows, in math mode fp16, from pixels to pixels; its weights have their
/// output channels innermost.
inline abi::Problem ConvolutionOf(DType dtype, int64_t channels, int64_t outputs, int64_t side) {
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.math = abi::MathMode::kFp16;
  p.attrs = abi::ConvAttrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, false};
  const Dims weights = {outputs, channels, 3, 3};
  p.inputs = {PixelsOf(dtype, channels, side),
              {dtype, weights, ir::StridesInOrder(weights, {2, 3, 1, 0}), 0}};
  p.outputs = {PixelsOf(dtype, outputs, side)};
  p.core_inputs = 2;
  return p;
}

}  // namespace aicf
