/// Tables for chains with a quantisation. The steps after a quantisation often depend only on its 8
/// bits, so that they have only 256 different results.
#pragma once

#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

/// Replaces the steps after the first quantisation of a chain by a table, where they depend on the
/// quantised value alone and a table pays for `elements` results. The results are the same bit by
/// bit, since eval_chain runs the same steps to fill the table.
void TabulateChain(int64_t elements, EvalChainFn eval_chain, TileEpilogue* epilogue);

}  // namespace aicf::cpu
