/// Prepares and runs a filled Igemm: merges axes, cuts the work into units, plans the epilogue.
#pragma once

#include "kernels/cpu/gemm/igemm.h"
#include "kernels/cpu/gemm/widen.h"

namespace aicf::cpu {

/// The functions of one instruction set.
struct IgemmIsa {
  int lanes;
  void (*run_unit)(const Igemm&, int64_t unit);
  EvalBlockFn eval_block;
  EvalChainFn eval_chain;
  WidenRunFn widen;
};
const IgemmIsa& IgemmIsaOf(abi::CpuIsa isa);

/// Which axes of the tensors are the outer axes, rows and columns of a product. FillEpilogue needs
/// them to fill epilogue.inputs and outputs from the call's tensors.
struct TileAxes {
  int outer_rank = 2;
  int outer[kMaxRank] = {};                                  ///< tensor axis, -1: none
  int64_t outer_scale[kMaxRank] = {1, 1, 1, 1, 1, 1, 1, 1};  ///< positions of that axis per step
  int row = -1, column = -1;
  int64_t row_scale = 1;
};
void FillEpilogue(const abi::ArgBlock& args, const TileAxes& axes, TileEpilogue* epilogue);

/// Completes *igemm: panels, units and the epilogue's chain.
void PlanIgemm(const abi::ArgBlock& args, const IgemmIsa& isa, Igemm* igemm);

/// Plans and runs the product on the caller's threads.
void RunIgemm(const abi::ArgBlock& args, const IgemmIsa& isa, Igemm* igemm);

}  // namespace aicf::cpu
