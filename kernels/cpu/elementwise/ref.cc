/// cpu.elementwise.ref: the expression at each point of the domain, one point at a time.
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/elementwise/elementwise.h"

namespace aicf::cpu {

void ElementwiseRef(const abi::ArgBlock& args) {
  const abi::Expr& expr = args.problem->epilogue;
  ParallelIndices(args, ShapeOf(Output(args, 0)), [&](const int64_t* coords) {
    Scalar inputs[abi::kMaxExprInputs];
    for (uint32_t k = 0; k < args.input_count; ++k) inputs[k] = LoadAt(Input(args, k), coords);
    if (expr.empty()) return StoreAt(Output(args, 0), coords, inputs[0]);
    // All inputs are read before any output is written: an output may be one of the inputs.
    Scalar results[abi::kMaxExprResults];
    EvalScalar(expr, inputs, coords, results);
    for (uint32_t r = 0; r < args.output_count; ++r) StoreAt(Output(args, r), coords, results[r]);
  });
}

}  // namespace aicf::cpu
