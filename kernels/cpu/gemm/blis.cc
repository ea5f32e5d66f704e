#include "kernels/cpu/gemm/blis.h"

#include <blis.h>

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/gemm/igemm_plan.h"
#include "kernels/cpu/gemm/layout.h"

namespace aicf::cpu {
namespace {

// Rows of one call of the library: a multiple of its register tiles, and the same for every number
// of threads.
constexpr int64_t kRowsPerCall = 96;

struct Matrix {
  float* data;
  int64_t strides[kMaxRank];
};

Matrix MatrixOf(const abi::TensorArg& t) {
  Matrix m{static_cast<float*>(t.data) + t.offset, {}};
  std::copy(t.strides, t.strides + t.rank, m.strides);
  return m;
}

// Where raw results go: the output itself, or a dense copy of it in the workspace.
Matrix RawMatrix(const abi::ArgBlock& args) {
  const abi::TensorArg& out = args.tensors[args.input_count];
  if (GemmBlisIsDirect(*args.problem)) return MatrixOf(out);
  Matrix m{static_cast<float*>(args.workspace), {}};
  int64_t stride = 1;
  for (int axis = out.rank - 1; axis >= 0; stride *= out.shape[axis--]) m.strides[axis] = stride;
  return m;
}

// Strides as the library accepts them. An axis of one element may have any stride in a view; the
// library requires a stride that is possible for a matrix of this size.
struct Strides {
  int64_t row, column;
  Strides(const int64_t* s, int64_t rows, int64_t columns) : row(s[0]), column(s[1]) {
    if (rows == 1) row = std::max<int64_t>(1, column * columns);
    if (columns == 1) column = std::max<int64_t>(1, row * rows);
  }
};

void Multiply(int64_t rows, int64_t columns, int64_t depth, const float* a,
              const int64_t* a_strides, const float* b, const int64_t* b_strides, float* c,
              const int64_t* c_strides) {
  const Strides as(a_strides, rows, depth), bs(b_strides, depth, columns);
  const Strides cs(c_strides, rows, columns);
  float one = 1, zero = 0;
  rntm_t runtime = BLIS_RNTM_INITIALIZER;
  bli_rntm_set_num_threads(1, &runtime);
  bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, rows, columns, depth, &one,
               const_cast<float*>(a), as.row, as.column, const_cast<float*>(b), bs.row, bs.column,
               &zero, c, cs.row, cs.column, nullptr, &runtime);
}

// The epilogue of rows [begin, end) of one matrix, from its dense raw results.
void Finish(const abi::ArgBlock& args, const GemmShape& s, const Matrix& raw, const int64_t* batch,
            int64_t begin, int64_t end) {
  const int core = args.problem->core_inputs;
  const auto extras = static_cast<int>(args.input_count) - core;
  const auto at = [&](const abi::TensorArg& t, int64_t row, int64_t column) {
    int64_t offset =
        t.offset + row * t.strides[s.batch_rank] + column * t.strides[s.batch_rank + 1];
    for (int axis = 0; axis < s.batch_rank; ++axis) offset += batch[axis] * t.strides[axis];
    return static_cast<char*>(t.data) + offset * DTypeBytes(t.dtype);
  };
  int64_t base = 0;
  for (int axis = 0; axis < s.batch_rank; ++axis) base += batch[axis] * raw.strides[axis];
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t column = 0; column < s.columns; column += kBlockElements) {
      const int64_t width = std::min(kBlockElements, s.columns - column);
      BlockInput inputs[kMaxEpilogueInputs + 1];
      BlockOutput outputs[abi::kMaxExprResults];
      int64_t origin[kMaxRank] = {};
      std::copy(batch, batch + s.batch_rank, origin);
      origin[s.batch_rank] = row;
      origin[s.batch_rank + 1] = column;
      inputs[0] = {raw.data + base + row * s.columns + column, s.columns, 1, DType::kF32};
      for (int k = 0; k < extras; ++k) {
        const abi::TensorArg& t = args.tensors[core + k];
        inputs[k + 1] = {at(t, row, column), 0, t.strides[s.batch_rank + 1], t.dtype};
      }
      for (uint32_t k = 0; k < args.output_count; ++k) {
        const abi::TensorArg& t = args.tensors[args.input_count + k];
        outputs[k] = {at(t, row, column), 0, t.strides[s.batch_rank + 1], t.dtype};
      }
      const BlockOrigin block = {origin, s.batch_rank, s.batch_rank + 1};
      baseline::EvalBlock(args.problem->epilogue, 1, width, inputs, outputs, &block);
    }
  }
}

}  // namespace

void GemmBlis(const abi::ArgBlock& args) {
  const GemmShape s = GemmShapeOf(*args.problem);
  const Matrix a = MatrixOf(args.tensors[0]), b = MatrixOf(args.tensors[1]), raw = RawMatrix(args);
  const abi::TensorArg& out = args.tensors[args.input_count];
  int64_t matrices = 1;
  for (int axis = 0; axis < s.batch_rank; ++axis) matrices *= out.shape[axis];
  if (s.rows == 0 || s.columns == 0) return;
  const int64_t calls = CeilDiv(s.rows, kRowsPerCall);
  ParallelRanges(args, matrices * calls, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      int64_t batch[kMaxRank] = {}, rest = i / calls;
      int64_t offsets[3] = {};
      for (int axis = s.batch_rank - 1; axis >= 0; --axis) {
        batch[axis] = rest % out.shape[axis];
        rest /= out.shape[axis];
        offsets[0] += batch[axis] * a.strides[axis];
        offsets[1] += batch[axis] * b.strides[axis];
        offsets[2] += batch[axis] * raw.strides[axis];
      }
      const int64_t begin = i % calls * kRowsPerCall;
      const int64_t end = std::min(s.rows, begin + kRowsPerCall);
      const int64_t* a_strides = a.strides + s.batch_rank;
      const int64_t* c_strides = raw.strides + s.batch_rank;
      Multiply(end - begin, s.columns, s.depth, a.data + offsets[0] + begin * a_strides[0],
               a_strides, b.data + offsets[1], b.strides + s.batch_rank,
               raw.data + offsets[2] + begin * c_strides[0], c_strides);
      if (!GemmBlisIsDirect(*args.problem)) Finish(args, s, raw, batch, begin, end);
    }
  });
}

}  // namespace aicf::cpu
