#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {

void* ElementAt(const abi::TensorArg& t, const int64_t* coords) {
  int64_t index = t.offset;
  for (int axis = 0; axis < t.rank; ++axis) index += coords[axis] * t.strides[axis];
  return static_cast<char*>(t.data) + index * DTypeBytes(t.dtype);
}

Scalar LoadAt(const abi::TensorArg& t, const int64_t* coords) {
  return LoadScalar(ElementAt(t, coords), t.dtype);
}

void StoreAt(const abi::TensorArg& t, const int64_t* coords, Scalar value) {
  StoreScalar(ElementAt(t, coords), t.dtype, value);
}

Scalar PrologueAt(const abi::ArgBlock& args, const int64_t* coords) {
  const abi::Problem& problem = *args.problem;
  if (problem.prologue.empty()) return LoadAt(Input(args, 0), coords);
  Scalar inputs[abi::kMaxExprInputs];
  for (int k = 0; k < problem.core_inputs; ++k) inputs[k] = LoadAt(Input(args, k), coords);
  Scalar results[abi::kMaxExprResults];
  EvalScalar(problem.prologue, inputs, coords, results);
  return results[0];
}

void StoreEpilogue(const abi::ArgBlock& args, const int64_t* coords, Scalar raw) {
  StoreEpilogue(args, coords, &raw);
}

void StoreEpilogue(const abi::ArgBlock& args, const int64_t* coords, const Scalar* raw) {
  const abi::Problem& problem = *args.problem;
  if (problem.epilogue.empty()) {
    const abi::TensorArg& out = Output(args, 0);
    return StoreAt(out, coords,
                   CastScalar(raw[0], RawDType(problem), abi::ComputeDType(out.dtype)));
  }
  Scalar inputs[abi::kMaxExprInputs];
  const int first = RawInputs(problem);
  for (int r = 0; r < first; ++r) inputs[r] = raw[r];
  for (int k = 0; k < problem.extra_inputs(); ++k) {
    inputs[first + k] = LoadAt(Input(args, problem.core_inputs + k), coords);
  }
  Scalar results[abi::kMaxExprResults];
  EvalScalar(problem.epilogue, inputs, coords, results);
  for (size_t r = 0; r < problem.epilogue.results.size(); ++r) {
    StoreAt(Output(args, static_cast<int>(r)), coords, results[r]);
  }
}

}  // namespace aicf::cpu
