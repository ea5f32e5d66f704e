#include "kernels/cpu/common/block_epilogue.h"

#include "kernels/cpu/common/epilogue.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {

BlockEpilogue::BlockEpilogue(const abi::ArgBlock& args, EvalBlockFn eval)
    : args_(args), eval_(eval), identity_(RawIsOutput(*args.problem)) {}

void BlockEpilogue::Store(const int64_t* coords, int row_axis, int col_axis, int64_t rows,
                          int64_t cols, const float* raw, int64_t raw_stride) const {
  const abi::Problem& problem = *args_.problem;
  const auto stride = [](const abi::TensorArg& t, int axis) {
    return axis < 0 ? int64_t{0} : t.strides[axis];
  };
  BlockInput inputs[abi::kMaxExprInputs];
  inputs[0] = {raw, raw_stride, 1, DType::kF32};
  for (int k = 0; k < problem.extra_inputs(); ++k) {
    const abi::TensorArg& t = Input(args_, problem.core_inputs + k);
    inputs[k + 1] = {ElementAt(t, coords), stride(t, row_axis), stride(t, col_axis), t.dtype};
  }
  BlockOutput outputs[abi::kMaxExprResults];
  for (int r = 0; r < static_cast<int>(args_.output_count); ++r) {
    const abi::TensorArg& t = Output(args_, r);
    outputs[r] = {ElementAt(t, coords), stride(t, row_axis), stride(t, col_axis), t.dtype};
  }
  const BlockOrigin origin = {coords, row_axis, col_axis};
  const abi::Expr& expr = problem.epilogue.empty() ? IdentityExpr(DType::kF32) : problem.epilogue;
  eval_(expr, rows, cols, inputs, outputs, &origin);
}

}  // namespace aicf::cpu
