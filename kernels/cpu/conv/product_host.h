/// What the host classes of the convolutions that are products of matrices share.
#pragma once

#include "kernels/cpu/conv/layout.h"
#include "kernels/cpu/gemm/igemm_host.h"

namespace aicf::cpu {

inline bool ExpressionUsesIndex(const abi::Expr& expr) {
  for (const abi::ExprNode& n : expr.nodes) {
    if (n.op == abi::ExprOp::kIndex) return true;
  }
  return false;
}

/// Empty, or why the convolution cannot be computed as products with x read as `planes` planes.
inline std::string ConvProductRefusal(const abi::Problem& p, const ConvShape& s, int64_t planes) {
  constexpr int64_t kMaxPhases = 64;
  if (ExpressionUsesIndex(p.epilogue) && (s.groups > 1 || s.transposed)) {
    return "an epilogue that uses coordinates needs one group and no transposition";
  }
  if (s.transposed && !ConvIsTiled(p, s) && s.stride[0] * s.stride[1] * s.stride[2] > kMaxPhases) {
    return StrCat("a transposed convolution of more than ", kMaxPhases, " phases");
  }
  if (planes * s.kernel[0] * s.kernel[1] * s.kernel[2] > kMaxTaps) {
    return StrCat("more than ", kMaxTaps, " taps");
  }
  return {};
}

/// Share of the peak that products of this shape reach. It accounts for unused lanes, for tiles
/// that do not fill their registers, and for the fixed cost of each tile.
inline double ConvProductShare(const abi::Problem& p, const ConvShape& s, int lanes) {
  const double columns = static_cast<double>(ConvColumns(p, s));
  const double padded = static_cast<double>(CeilDiv(ConvColumns(p, s), lanes) * lanes);
  const double row = static_cast<double>(std::max<int64_t>(1, ConvRowLength(s)));
  const double share = 0.75 * (padded > 0 ? columns / padded : 1) * std::min(1.0, row / 6);
  return std::max(share, 0.01);
}

}  // namespace aicf::cpu
