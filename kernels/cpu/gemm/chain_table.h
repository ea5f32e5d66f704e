/// What follows a quantisation in a chain depends on 8 bits alone: it has 256 results.
#pragma once

#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

/// Puts a table in the place of the steps after the first quantisation of a chain, where they
/// depend on the quantised value alone and the table pays for `elements` results. The results are
/// the same bits: eval_chain runs the same steps.
void TabulateChain(int64_t elements, EvalChainFn eval_chain, TileEpilogue* epilogue);

}  // namespace aicf::cpu
