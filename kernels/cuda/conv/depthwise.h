/// Shape of cuda.conv.depthwise: shared by its launch function and the source writer.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::cuda {

inline constexpr std::string_view kDepthwiseKey = "cuda.conv.depthwise";

struct DepthwiseShape {
  int piece = 1;   ///< neighbouring channels per thread
  int pixels = 1;  ///< neighbouring positions of the last spatial axis per thread
};
/// REQUIRES: RefuseDepthwise(problem) is empty.
DepthwiseShape DepthwiseShapeOf(const abi::Problem& problem, int sm_count);
std::string RefuseDepthwise(const abi::Problem& problem);

}  // namespace aicf::cuda
