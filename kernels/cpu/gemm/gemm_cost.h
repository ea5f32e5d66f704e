/// What the predictions of all gemm variants share.
#pragma once

#include "kernels/cpu/gemm/igemm_host.h"
#include "kernels/cpu/gemm/layout.h"

namespace aicf::cpu {

inline double GemmFlops(const abi::Problem& p) {
  const GemmShape s = GemmShapeOf(p);
  return 2.0 * static_cast<double>(ElementsOf(p.outputs[0])) * static_cast<double>(s.depth);
}

/// Share of the peak that a product of this shape reaches, with short tiles and unused lanes taken
/// into account.
inline double GemmShare(const abi::Problem& p, int lanes) {
  const GemmShape s = GemmShapeOf(p);
  const double padded = static_cast<double>(CeilDiv(s.columns, lanes) * lanes);
  const double used = padded > 0 ? static_cast<double>(s.columns) / padded : 1;
  return std::max(0.01, 0.75 * used * std::min(1.0, static_cast<double>(s.rows) / 6));
}

}  // namespace aicf::cpu
