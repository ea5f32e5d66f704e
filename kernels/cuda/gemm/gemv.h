/// How cuda.gemm.gemv reads B: shared by its launch function and the source writer.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::cuda {

inline constexpr std::string_view kGemvKey = "cuda.gemm.gemv";

struct GemvShape {
  bool along_n = true;  ///< lanes take neighbouring columns; otherwise neighbouring k
  int piece = 1;        ///< elements of B per access
  int warps = 8;
  int64_t block_columns = 32;
};
GemvShape GemvShapeOf(const abi::Problem& problem, int sm_count);

}  // namespace aicf::cuda
