/// The activation functions of recurrent cells, exact.
#pragma once

#include "kernels/abi/attrs.h"

namespace aicf::cpu {

/// One activation of a cell with its parameters.
struct CellFunction {
  abi::CellActivation kind = abi::CellActivation::kTanh;
  double alpha = 0;
  double beta = 0;
};

/// Activation `index` (0 f, 1 g, 2 h) of direction `d`.
CellFunction CellFunctionOf(const abi::RecurrentAttrs& attrs, int64_t d, int index);

/// NaN stays NaN.
double ApplyCellFunction(const CellFunction& f, double x);

}  // namespace aicf::cpu
