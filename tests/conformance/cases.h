/// Random valid problems with data, the same for every backend. Every variant of a kernel must
/// compute them right.
///
/// The data of a case are such that the expected result is known within a tight bound: with whole
/// numbers every sum of products is exact in f32 (and in products in tf32, f16 and bf16), so that a
/// wrong index shows as a wrong bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/abi/problem.h"
#include "tests/conformance/random.h"

namespace aicf::conformance {

/// How far a result may lie from the reference: |got - want| <= ulp * spacing(want) + absolute.
struct Tolerance {
  double ulp = 0;  ///< in units of the last place of the output's dtype
  double absolute = 0;
};

struct Case {
  abi::Problem problem;
  std::vector<std::vector<std::byte>> buffers;  ///< inputs, then outputs (filled with a pattern)
  Tolerance tolerance;
  std::string name;  ///< family, seed and the problem's text
};

struct CaseOptions {
  bool whole_numbers = true;    ///< see above; else reals with a tolerance
  int64_t max_elements = 4000;  ///< of the largest operand, roughly
  std::vector<abi::MathMode> math = {abi::MathMode::kFp32};
  int64_t rows = 0;       ///< gemm: rows of A; 0: any
  int64_t length = 0;     ///< gemm: products in a sum; 0: any
  int64_t halves = 0;     ///< gemm, blockgemm: GemmAttrs::halves; 0: any, for blockgemm 1
  bool few_rows = false;  ///< gemm: 2 to 64 rows of floats that lie along k, and many columns
  int64_t columns = 0;    ///< blockgemm: about so many columns of results; 0: any number
  bool row_norm = false;  ///< gemm, blockgemm: rows are normalised; takes reals
  bool moments = false;   ///< gemm: the epilogue sees the moments of 16-bit rows; takes reals
  /// gemm, 16 bits. With `moments`, those are made of the moments of parts of the rows. Otherwise
  /// the product stores the moments of parts of its results, whose columns are a multiple of 64.
  bool parts = false;
  /// gemm, conv: operands of 8 bits (integers or, in math mode fp8, float8) in the layout that
  /// Hopper's tensor cores take: along k, in lines that are multiples of 16 bytes. `length` must be
  /// a multiple of 16.
  bool eight_bits = false;
  /// gemm: only float8, with scales for blocks of 128 terms. REQUIRES eight_bits.
  bool block_scales = false;
  bool appends = false;  ///< attention: it appends a row of each request to its pages
};

/// A random case of the family; equal arguments give equal cases. The problem is valid.
Case RandomCase(abi::Family family, uint64_t seed, const CaseOptions& options = {});

/// y = sin(a*x + b) with random broadcast, strides and offsets of every operand.
Case SinCase(uint64_t seed);

/// y = op(x) of every bit pattern of a type of 16 bits, within one unit in its last place, or
/// 2^-126.
Case Function16Case(abi::ExprOp op, DType dtype);

// ---- Pieces, for tests that build their own problems.

/// A random layout of `shape`: permuted axes, gaps, backwards strides, an offset; with `repeat`
/// some axes are broadcast (stride 0).
abi::View RandomView(Random& random, DType dtype, const Dims& shape, bool repeat);
/// The same with a given order of the axes, outermost first. `apart`: no two elements are
/// neighbours.
abi::View RandomViewInOrder(Random& random, DType dtype, const Dims& shape, const Dims& order,
                            bool repeat, bool apart);
Dims RandomShape(Random& random, int min_rank, int max_rank, int64_t max_elements);
/// A DAG of operators that every backend evaluates to the same bits, over inputs of the given
/// dtypes; its results have the compute dtypes `results`.
abi::Expr RandomExpr(Random& random, const std::vector<DType>& inputs,
                     const std::vector<DType>& results, int rank, int nodes);

/// Allocates and fills the buffers: whole numbers in [-4, 4] or reals in [-range, range]; outputs
/// get a pattern.
void FillBuffers(Random& random, Case& c, bool whole_numbers, double range = 1);
/// Bytes a buffer needs for its view.
size_t BufferBytes(const abi::View& view);

}  // namespace aicf::conformance
