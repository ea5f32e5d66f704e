#include "kernels/cpu/common/block_epilogue.h"

#include "kernels/cpu/common/epilogue.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {

BlockEpilogue::BlockEpilogue(const abi::ArgBlock& args, EvalBlockFn eval, DType raw)
    : args_(args),
      eval_(eval),
      raw_(raw),
      identity_(args.problem->epilogue.empty() && Output(args, 0).dtype == raw) {}

void BlockEpilogue::Store(const int64_t* coords, int row_axis, int col_axis, int64_t rows,
                          int64_t cols, const void* raw, int64_t raw_stride) const {
  const abi::Problem& problem = *args_.problem;
  const auto stride = [](const abi::TensorArg& t, int axis) {
    return axis < 0 ? int64_t{0} : t.strides[axis];
  };
  BlockInput inputs[abi::kMaxExprInputs];
  inputs[0] = {raw, raw_stride, 1, raw_};
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
  const abi::Expr& expr = problem.epilogue.empty() ? IdentityExpr(raw_) : problem.epilogue;
  eval_(expr, rows, cols, inputs, outputs, &origin);
}

}  // namespace aicf::cpu
