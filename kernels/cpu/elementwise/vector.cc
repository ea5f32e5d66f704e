// The vector variants: the expression over the output's domain in blocks.
#include "kernels/cpu/common/epilogue.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/elementwise/elementwise.h"

namespace aicf::cpu {
namespace {

void RunElementwise(const abi::ArgBlock& args, EvalBlockFn eval) {
  const abi::TensorArg* inputs[abi::kMaxExprInputs];
  const int count = static_cast<int>(args.input_count);
  for (int k = 0; k < count; ++k) inputs[k] = &Input(args, k);
  EvalTensors(args, eval, args.problem->epilogue, inputs, count);
}

}  // namespace

void baseline::Elementwise(const abi::ArgBlock& args) { RunElementwise(args, &EvalBlock); }
void avx2::Elementwise(const abi::ArgBlock& args) { RunElementwise(args, &EvalBlock); }
void avx512::Elementwise(const abi::ArgBlock& args) { RunElementwise(args, &EvalBlock); }

}  // namespace aicf::cpu
