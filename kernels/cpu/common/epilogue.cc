#include "kernels/cpu/common/epilogue.h"

#include <array>

#include "kernels/cpu/common/nest.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

/// The operands in nest order: inputs, outputs 1.., and output 0 last, which orders the loops.
struct Walk {
  EvalBlockFn eval;
  const abi::Expr* expr;
  const abi::TensorArg* operand[kMaxNestOperands];
  int inputs, outputs;
  Nest nest;
  BlockGrid grid{Nest{}};

  int OutputOperand(int r) const { return r == 0 ? inputs + outputs - 1 : inputs + r - 1; }
};

/// Address of an operand's element at the start of a block.
void* StartOf(const Walk& w, int operand, const BlockPosition& p) {
  const abi::TensorArg& t = *w.operand[operand];
  int64_t index = t.offset;
  for (int i = 0; i < w.nest.rank; ++i) index += p.at[i] * w.nest.stride[operand][i];
  return static_cast<char*>(t.data) + index * DTypeBytes(t.dtype);
}

int64_t StrideOf(const Walk& w, int operand, int loop) {
  return loop < 0 ? 0 : w.nest.stride[operand][loop];
}

void RunBlock(const Walk& w, int64_t block) {
  const BlockPosition p = PositionOf(w.nest, w.grid, block);
  BlockInput inputs[abi::kMaxExprInputs];
  for (int k = 0; k < w.inputs; ++k) {
    inputs[k] = {StartOf(w, k, p), StrideOf(w, k, w.grid.row_loop), StrideOf(w, k, w.grid.col_loop),
                 w.operand[k]->dtype};
  }
  BlockOutput outputs[abi::kMaxExprResults];
  for (int r = 0; r < w.outputs; ++r) {
    const int k = w.OutputOperand(r);
    outputs[r] = {StartOf(w, k, p), StrideOf(w, k, w.grid.row_loop),
                  StrideOf(w, k, w.grid.col_loop), w.operand[k]->dtype};
  }
  int64_t origin[kMaxRank] = {};
  for (int i = 0; i < w.nest.rank; ++i) origin[w.nest.axis[i]] = p.at[i];
  const BlockOrigin at = {origin, w.grid.row_loop < 0 ? -1 : w.nest.axis[w.grid.row_loop],
                          w.grid.col_loop < 0 ? -1 : w.nest.axis[w.grid.col_loop]};
  w.eval(*w.expr, p.rows, p.cols, inputs, outputs, &at);
}

std::array<abi::Expr, kDTypeCount> MakeIdentities() {
  std::array<abi::Expr, kDTypeCount> all;
  for (int d = 0; d < kDTypeCount; ++d) {
    abi::ExprBuilder b;
    all[static_cast<size_t>(d)] = b.Finish({b.Input(0, abi::ComputeDType(static_cast<DType>(d)))});
  }
  return all;
}

}  // namespace

// The table is made when a kernel is looked up (FindFunction). It cannot be made by the kernel,
// which never allocates, nor when the library is loaded, where running out of memory could not be
// reported.
const abi::Expr& IdentityExpr(DType dtype) {
  static const std::array<abi::Expr, kDTypeCount> identities = MakeIdentities();
  return identities[static_cast<size_t>(dtype)];
}

bool RawIsOutput(const abi::Problem& problem) {
  return problem.epilogue.empty() && problem.outputs[0].dtype == RawDType(problem);
}

void EvalTensors(const abi::ArgBlock& args, EvalBlockFn eval, const abi::Expr& expr,
                 const abi::TensorArg* const* inputs, int input_count) {
  Walk w;
  w.eval = eval;
  w.expr = expr.empty() ? &IdentityExpr(abi::ComputeDType(inputs[0]->dtype)) : &expr;
  w.inputs = input_count;
  w.outputs = static_cast<int>(args.output_count);
  for (int k = 0; k < w.inputs; ++k) w.operand[k] = inputs[k];
  for (int r = 0; r < w.outputs; ++r) w.operand[w.OutputOperand(r)] = &Output(args, r);
  w.nest = MakeNest(ShapeOf(Output(args, 0)),
                    std::span(w.operand, static_cast<size_t>(w.inputs + w.outputs)),
                    !UsesIndex(*w.expr));
  w.grid = BlockGrid(w.nest);
  if (w.nest.Points() == 0) return;
  // Costly expressions are split into smaller pieces.
  const int64_t piece = abi::Flops(*w.expr) > 20 ? 4096 : 16384;
  const int64_t block = w.grid.block_rows * w.grid.block_cols;
  ParallelRanges(args, w.grid.Blocks(), piece / block + 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) RunBlock(w, b);
  });
}

void EvalEpilogue(const abi::ArgBlock& args, EvalBlockFn eval, const abi::TensorArg& raw) {
  const abi::TensorArg* inputs[abi::kMaxExprInputs] = {&raw};
  const int extras = args.problem->extra_inputs();
  for (int k = 0; k < extras; ++k) inputs[k + 1] = &Input(args, args.problem->core_inputs + k);
  EvalTensors(args, eval, args.problem->epilogue, inputs, extras + 1);
}

}  // namespace aicf::cpu
