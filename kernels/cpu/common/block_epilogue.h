/// The epilogue of a step on blocks of raw results, while they are still in the cache.
#pragma once

#include <cstdint>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

class BlockEpilogue {
 public:
  /// args and eval must outlive this object. raw: the dtype of raw results, which the epilogue
  /// reads.
  BlockEpilogue(const abi::ArgBlock& args, EvalBlockFn eval, DType raw = DType::kF32);

  /// True when raw results may be written straight to outputs[0].
  bool identity() const { return identity_; }

  /// Applies the epilogue to rows x cols <= kBlockElements raw values, row r at raw + r *
  /// raw_stride, and stores its results. coords: output coordinates of the first value; rows go
  /// along row_axis and columns along col_axis (-1: a single one).
  void Store(const int64_t* coords, int row_axis, int col_axis, int64_t rows, int64_t cols,
             const void* raw, int64_t raw_stride) const;

 private:
  const abi::ArgBlock& args_;
  EvalBlockFn eval_;
  DType raw_;
  bool identity_;
};

}  // namespace aicf::cpu
