/// How far a step's kernel may be from the reference kernel on the same operands.
///
/// The reference forms products exactly and adds them in f64. A kernel adds in f32, may round the
/// operands of products (the step's math mode), and rounds what it stores. With
///   u(t)   unit roundoff: 2^-24 for f32, 2^-11 for f16 and tf32, 2^-8 for bf16, 2^-4 for e4m3,
///   K      terms that are added for one output element (the reduction length),
///   n      arithmetic nodes of the step's expressions,
///   c      for float8 multiplied in math mode fp8 2^-14 sqrt(max(1, K / 32)), otherwise 0: tensor
///          cores add 32 of their terms at a time to a sum of which they keep some 14 bits. With
///          scales of blocks K counts the terms of one block. Kernels that add long sums in f32
///          (docs/arithmetic.md) lose less, which a problem does not tell,
/// an element `want` passes when
///   |got - want| <= eps * (|want| + rms(want)),
///   eps = 2 u(stored) + 16 (u(added) sqrt(K + n) + c + 2 u(math)).
///
/// Why: rounding errors of a sum of K terms grow like sqrt(K) with overwhelming probability, not
/// like K (Higham and Mary 2019, "A new approach to probabilistic rounding error analysis": a bound
/// lambda sqrt(K) u that fails with probability 2 exp(-lambda^2 / 2)); operands rounded to u(math)
/// leave an error of that order in the sum, whatever its length. 16 covers what cancellation
/// between terms and epilogues magnify in real models, and the tails of millions of elements. The
/// elements' root mean square stands for the magnitude of the terms, which a small element has lost
/// by cancellation; where that is not enough for a product, its terms are looked at
/// (product_bounds.h). For f32 this stays far below the conformance budgets that web and exchange
/// formats give (2 K units in the last place for a product), and up to a K of 10^5 by more than ten
/// times below the smallest real fault, one term of K missing: 1 / sqrt(K).
///
/// Steps without float arithmetic (copies, gathers, maxima, comparisons of operands, integers) must
/// agree exactly. Integers and booleans that float arithmetic decides (quantisation, comparisons of
/// sums) may differ by one unit where the value lies at a rounding boundary: at most 0.1 % of the
/// elements plus what eps moves across one.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::tools {

struct StepTolerance {
  double eps = 0;
  bool exact = false;  ///< no float arithmetic, so results have to be equal
};

StepTolerance ToleranceOf(const abi::Problem& problem);

/// The error that is allowed for a product, relative to the sum of its terms' magnitudes
/// (product_bounds.h).
double TermFactor(const abi::Problem& problem);

/// K of the formula; 1 where nothing is added.
double ReductionLength(const abi::Problem& problem);

}  // namespace aicf::tools
