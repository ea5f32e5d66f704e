#include "kernels/cpu/normalize/group.h"

#include <algorithm>
#include <cstdlib>

#include "base/checked.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/block_eval.h"
#include "kernels/cpu/normalize/loops.h"

namespace aicf::cpu {
namespace {

/// A group with fewer elements does not fill a vector and is better normalised side by side with
/// others.
constexpr int64_t kShortGroup = 16;
constexpr int64_t kFewestSideBySide = 8;

bool IsAxis(const Dims& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

GroupPlan::GroupPlan(const abi::ArgBlock& args) {
  const abi::Problem& problem = *args.problem;
  const Dims& axes = problem.as<abi::NormalizeAttrs>().axes;
  const abi::TensorArg& out = Output(args, 0);
  inputs = static_cast<int>(args.input_count);
  outputs = static_cast<int>(args.output_count);
  // The marker's stride is 0 along loops inside a group, so that MakeNest does not merge such a
  // loop with one outside.
  abi::TensorArg marker = out;
  const Dims dense = RowMajorStrides(ShapeOf(out));
  for (int axis = 0; axis < out.rank; ++axis)
    marker.strides[axis] = IsAxis(axes, axis) ? 0 : dense[axis];
  const abi::TensorArg* operands[kMaxNestOperands];
  int count = 0;
  for (int k = 0; k < inputs; ++k) operands[count++] = &Input(args, k);
  for (int r = 1; r < outputs; ++r) operands[count++] = &Output(args, r);
  operands[count++] = &marker;
  operands[count++] = &out;
  nest = MakeNest(ShapeOf(out), std::span(operands, static_cast<size_t>(count)),
                  !UsesIndex(problem.prologue) && !UsesIndex(problem.epilogue));
  for (int i = 0; i < nest.rank; ++i) {
    grouped_[i] = IsAxis(axes, nest.axis[i]);
    (grouped_[i] ? elements : groups) *= nest.extent[i];
    if (!grouped_[i]) continue;
    row = col;
    col = i;
  }
  if (col >= 0) cols = nest.extent[col];
  if (row >= 0) rows = nest.extent[row];
  block_cols = std::clamp<int64_t>(cols, 1, kBlockElements);
  block_rows = std::clamp<int64_t>(rows, 1, kBlockElements / block_cols);
  col_blocks = CeilDiv(cols, block_cols);
  row_blocks = CeilDiv(rows, block_rows);
  blocks = col_blocks * row_blocks;
  for (int i = 0; i < nest.rank; ++i) {
    if (grouped_[i] && i != col && i != row) blocks *= nest.extent[i];
  }
  ChooseAcross();
  ChooseLines(problem);
}

void GroupPlan::ChooseAcross() {
  if (col < 0 || row >= 0 || elements == 0 || elements > kBlockElements) return;
  int kept = -1;
  for (int i = 0; i < nest.rank; ++i) {
    if (!grouped_[i]) kept = i;
  }
  if (kept < 0 || nest.extent[kept] < kFewestSideBySide) return;
  const bool far_apart = std::abs(StrideOf(OutputOperand(0), col)) != 1;
  if (elements >= kShortGroup && !far_apart) return;
  across = kept;
  tile = std::min({nest.extent[across], kNormalizeTile, kStagedGroup / elements});
  tiles = CeilDiv(nest.extent[across], tile);
}

bool GroupPlan::FollowsInLine(int loop) const {
  const int marker = nest.operands - 2;
  for (int k = 0; k < nest.operands; ++k) {
    if (k != marker && nest.stride[k][loop] != nest.stride[k][col] * cols) return false;
  }
  return true;
}

// Chooses in_lines for groups of which only few elements are neighbours, as in a group
// normalisation with channels innermost. Only means and variances can be formed column by column,
// so it is for layer norm and RMS norm alone.
void GroupPlan::ChooseLines(const abi::Problem& problem) {
  const abi::NormalizeKind kind = problem.as<abi::NormalizeAttrs>().kind;
  if (kind != abi::NormalizeKind::kLayerNorm && kind != abi::NormalizeKind::kRmsNorm) return;
  if (across >= 0 || row < 0 || cols > kLineColumns || elements == 0) return;
  if (elements != rows * cols || UsesIndex(problem.prologue) || UsesIndex(problem.epilogue)) return;
  for (int i = 0; i < nest.rank; ++i) {
    if (grouped_[i] || nest.extent[i] < 2 || !FollowsInLine(i)) continue;
    across = i;
    in_lines = true;
    // Half of the widest tile, so that even few channels give work to several threads.
    tile = std::clamp<int64_t>(kLineColumns / 2 / cols, 1, nest.extent[i]);
    tiles = CeilDiv(nest.extent[i], tile);
    return;
  }
}

int64_t GroupPlan::LocateTile(int64_t index, int64_t* at) const {
  at[across] = index % tiles * tile;
  index /= tiles;
  for (int i = nest.rank - 1; i >= 0; --i) {
    if (grouped_[i] || i == across) continue;
    at[i] = index % nest.extent[i];
    index /= nest.extent[i];
  }
  return std::min(tile, nest.extent[across] - at[across]);
}

void GroupPlan::LocateGroup(int64_t group, int64_t* at) const {
  for (int i = nest.rank - 1; i >= 0; --i) {
    if (grouped_[i]) continue;
    at[i] = group % nest.extent[i];
    group /= nest.extent[i];
  }
}

void GroupPlan::LocateBlock(int64_t block, int64_t* at, int64_t* in_rows, int64_t* in_cols) const {
  const int64_t c = block % col_blocks * block_cols;
  block /= col_blocks;
  const int64_t r = block % row_blocks * block_rows;
  block /= row_blocks;
  *in_cols = std::min(block_cols, cols - c);
  *in_rows = std::min(block_rows, rows - r);
  if (col >= 0) at[col] = c;
  if (row >= 0) at[row] = r;
  for (int i = nest.rank - 1; i >= 0; --i) {
    if (!grouped_[i] || i == col || i == row) continue;
    at[i] = block % nest.extent[i];
    block /= nest.extent[i];
  }
}

int64_t GroupPlan::IndexOf(int operand, const int64_t* at) const {
  int64_t index = 0;
  for (int i = 0; i < nest.rank; ++i) index += at[i] * nest.stride[operand][i];
  return index;
}

}  // namespace aicf::cpu
