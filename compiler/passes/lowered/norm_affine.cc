#include "compiler/passes/lowered/norm_affine.h"

namespace aicf {
namespace {

using abi::ExprOp;
using abi::Problem;

// The affine function of raw result 0 that a node is, where it is one.
std::optional<NormAffine> AffineAt(const Problem& norm, uint16_t node) {
  const auto& nodes = norm.epilogue.nodes;
  const abi::ExprNode& n = nodes[node];
  const auto is_raw = [&](uint16_t a) {
    return nodes[a].op == ExprOp::kInput && nodes[a].imm == 0;
  };
  const auto operand = [&](uint16_t a) {
    const bool extra = nodes[a].op == ExprOp::kInput && nodes[a].imm > 0;
    return extra ? norm.core_inputs + static_cast<int>(nodes[a].imm) - 1 : -1;
  };
  if (is_raw(node)) return NormAffine{};
  if (n.op == ExprOp::kMul || n.op == ExprOp::kFma) {
    for (const int side : {0, 1}) {
      const int gain = operand(n.args[1 - side]);
      if (!is_raw(n.args[side]) || gain < 0) continue;
      if (n.op == ExprOp::kMul) return NormAffine{gain, -1};
      const int shift = operand(n.args[2]);
      return shift < 0 ? std::nullopt : std::optional(NormAffine{gain, shift});
    }
  }
  if (n.op == ExprOp::kAdd) {
    for (const int side : {0, 1}) {
      const int shift = operand(n.args[1 - side]);
      const auto scaled = AffineAt(norm, n.args[side]);
      if (scaled && scaled->shift < 0 && shift >= 0) return NormAffine{scaled->gain, shift};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<NormAffine> AffineOf(const Problem& norm) {
  if (norm.epilogue.empty()) return NormAffine{};
  if (norm.epilogue.results.size() != 1) return std::nullopt;
  return AffineAt(norm, norm.epilogue.results[0]);
}

}  // namespace aicf
