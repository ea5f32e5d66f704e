/// Translates a gemm problem into cuBLASLt's terms. This is a pure function, so that the compiler
/// that asks whether the library can run a step, whoever records an algorithm, and the runtime that
/// replays it all describe the same matrix product. What cuBLASLt takes is stated here alone.
///
/// cuBLASLt's matrices are column-major. A row-major product out = A * B is, with the same bytes,
/// the column-major product out' = B' * A' of the transposed matrices: the library's first matrix
/// is the problem's B, its second the problem's A, its m the problem's n.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "kernels/abi/problem.h"

namespace aicf::cuda {

/// A column-major matrix inside an operand's buffer.
struct MatrixLayout {
  DType dtype = DType::kF32;
  bool transposed = false;  ///< the product uses the stored matrix's transpose
  int64_t rows = 0;         ///< as stored
  int64_t cols = 0;
  int64_t ld = 0;            ///< elements from column to column, >= rows
  int64_t batch_stride = 0;  ///< elements; 0 repeats one matrix
  int64_t offset = 0;        ///< elements from the buffer's first byte
};

enum class MatmulActivation : uint8_t { kNone, kRelu };

struct MatmulLayout {
  MatrixLayout a;  ///< the problem's B
  MatrixLayout b;  ///< the problem's A
  MatrixLayout d;  ///< the problem's output
  int64_t batch_count = 1;
  abi::MathMode math = abi::MathMode::kFp32;
  double alpha = 1;
  MatmulActivation activation = MatmulActivation::kNone;
  int bias_input = -1;      ///< problem input added to every row of the output; -1: none
  int64_t bias_offset = 0;  ///< elements
  int residual_input = -1;  ///< problem input added element by element (beta = 1); -1: none
  MatrixLayout c;           ///< the residual; equals d without one
};

/// REQUIRES: the problem has passed abi::ValidateProblem.
/// Errors: kUnsupported with one sentence that goes on after "cublaslt.matmul": strides that are no
/// matrix, batches that are no single stride or too many, an epilogue that cuBLASLt does not have,
/// a dtype or math mode it does not take.
Result<MatmulLayout> DescribeMatmul(const abi::Problem& problem);

}  // namespace aicf::cuda
