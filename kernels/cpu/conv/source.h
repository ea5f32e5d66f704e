/// The input of a convolution as the kernels read it: in place, or through a dense channels-last
/// copy in the workspace.
#pragma once

#include "kernels/cpu/conv/layout.h"
#include "kernels/cpu/gemm/widen.h"

namespace aicf::cpu {

struct ConvInput {
  const float* data = nullptr;  ///< element (0, 0, 0..)
  int64_t image_stride = 0;
  int64_t channel_stride = 0;
  int64_t spatial_strides[3] = {};
};

/// Makes the copy if the problem needs one. REQUIRES: a workspace of ConvCopyBytes for a copy.
ConvInput PrepareConvInput(const abi::ArgBlock& args, const ConvShape& shape, ConvSource source,
                           WidenRunFn widen);

}  // namespace aicf::cpu
