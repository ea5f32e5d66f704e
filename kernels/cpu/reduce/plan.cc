#include "kernels/cpu/reduce/plan.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kDirectColumns = 16384;
constexpr int64_t kShortRun = 32;

bool IsAxis(const Dims& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool IsArg(abi::ReduceKind kind) {
  return kind == abi::ReduceKind::kArgMin || kind == abi::ReduceKind::kArgMax;
}

}  // namespace

ReducePlan::ReducePlan(const abi::ArgBlock& args, const abi::TensorArg& target) {
  const abi::Problem& problem = *args.problem;
  const auto& attrs = problem.as<abi::ReduceAttrs>();
  core = problem.core_inputs;
  // The target has extent 1 along reduced axes. Its strides there become 0, so that a walk over the
  // input along them stays at the same element of the target.
  abi::TensorArg folded = target;
  for (int64_t axis : attrs.axes) folded.strides[axis] = 0;
  const abi::TensorArg* operands[kMaxNestOperands];
  for (int k = 1; k < core; ++k) operands[k - 1] = &Input(args, k);
  operands[core - 1] = &folded;
  operands[core] = &Input(args, 0);
  nest = MakeNest(ShapeOf(Input(args, 0)), std::span(operands, static_cast<size_t>(core + 1)),
                  !UsesIndex(problem.prologue));
  ChooseLoops(args);
  ChooseBlocks();
  ChooseSplits(!IsArg(attrs.kind));
}

/// The innermost of the longest kept loops; -1 without one.
int ReducePlan::LongestKept() const {
  int longest = -1;
  for (int i = 0; i < nest.rank; ++i) {
    if (!reduced_[i] && (longest < 0 || nest.extent[i] >= nest.extent[longest])) longest = i;
  }
  return longest;
}

void ReducePlan::ChooseLoops(const abi::ArgBlock& args) {
  const abi::Problem& problem = *args.problem;
  const Dims& axes = problem.as<abi::ReduceAttrs>().axes;
  for (int i = 0; i < nest.rank; ++i) {
    reduced_[i] = IsAxis(axes, nest.axis[i]);
    if (reduced_[i]) count *= nest.extent[i];
  }
  col = nest.rank - 1;
  inner = col >= 0 && reduced_[col];
  // If the innermost loop is a short reduced one, vectors better run across many outputs than along
  // it.
  if (inner && nest.extent[col] < kShortRun) {
    const int kept = LongestKept();
    if (kept >= 0 && nest.extent[kept] > nest.extent[col]) {
      col = kept;
      inner = false;
    }
  }
  for (int i = 0; i < nest.rank; ++i) {
    if (reduced_[i] && i != col) row = i;
  }
  if (col >= 0) cols = nest.extent[col];
  if (row >= 0) rows = nest.extent[row];
  direct = problem.prologue.empty() && problem.inputs[0].dtype == DType::kF32 &&
           (col < 0 || nest.stride[InputOperand(0)][col] == 1);
}

void ReducePlan::ChooseBlocks() {
  const int64_t widest = !inner ? kReduceTile : direct ? kDirectColumns : kBlockElements;
  block_cols = std::clamp<int64_t>(cols, 1, widest);
  const int64_t tallest = direct ? 64 : std::max<int64_t>(1, kBlockElements / block_cols);
  block_rows = std::clamp<int64_t>(rows, 1, tallest);
  col_blocks = CeilDiv(cols, block_cols);
  row_blocks = CeilDiv(rows, block_rows);
  tasks = inner ? 1 : col_blocks;
  blocks = inner ? col_blocks * row_blocks : row_blocks;
  for (int i = 0; i < nest.rank; ++i) {
    if (i == col || i == row) continue;
    (reduced_[i] ? blocks : tasks) *= nest.extent[i];
  }
}

void ReducePlan::ChooseSplits(bool splittable) {
  if (!splittable || tasks == 0) return;
  const int64_t per_task = count * (inner ? 1 : block_cols);
  splits = std::clamp<int64_t>(std::min(per_task / kReducePiece, 64 / tasks), 1, 64);
  splits = std::max<int64_t>(1, std::min(splits, blocks));
}

int64_t ReducePlan::LocateTask(int64_t task, int64_t* at) const {
  int64_t width = 1;
  if (!inner && col >= 0) {
    at[col] = task % col_blocks * block_cols;
    width = std::min(block_cols, cols - at[col]);
    task /= col_blocks;
  }
  for (int i = nest.rank - 1; i >= 0; --i) {
    if (reduced_[i] || i == col) continue;
    at[i] = task % nest.extent[i];
    task /= nest.extent[i];
  }
  return width;
}

void ReducePlan::LocateBlock(int64_t block, int64_t* at, int64_t* in_rows, int64_t* in_cols) const {
  *in_rows = 1;
  *in_cols = 1;
  if (inner) {
    at[col] = block % col_blocks * block_cols;
    *in_cols = std::min(block_cols, cols - at[col]);
    block /= col_blocks;
  }
  if (row >= 0) {
    at[row] = block % row_blocks * block_rows;
    *in_rows = std::min(block_rows, rows - at[row]);
    block /= row_blocks;
  }
  for (int i = nest.rank - 1; i >= 0; --i) {
    if (!reduced_[i] || i == col || i == row) continue;
    at[i] = block % nest.extent[i];
    block /= nest.extent[i];
  }
}

int64_t ReducePlan::TargetIndex(const int64_t* at) const {
  int64_t index = 0;
  for (int i = 0; i < nest.rank; ++i) index += at[i] * nest.stride[TargetOperand()][i];
  return index;
}

}  // namespace aicf::cpu
