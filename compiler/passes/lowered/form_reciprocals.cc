#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/roundings.h"
#include "kernels/abi/discontinuous.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

float DivisorOf(const Expr& expr, const ExprNode& n) {
  return static_cast<float>(abi::BitsToFloat(expr.nodes[n.args[1]].imm));
}

// Whether the node is a quotient of f32 by a constant that is a normal number and whose reciprocal
// is one, too. A reciprocal that is rounded to a denormal would be off by much more.
bool IsCandidate(const Expr& expr, const ExprNode& n) {
  if (n.op != ExprOp::kDiv || n.dtype != DType::kF32) return false;
  if (expr.nodes[n.args[1]].op != ExprOp::kConst) return false;
  const float c = DivisorOf(expr, n);
  return std::isnormal(c) && std::isnormal(1 / c);
}

// How far c times its rounded reciprocal is from 1, in units of 2^-24. A product with that
// reciprocal, before it is rounded itself, is off by at most as many units in the last place.
double UnitsOff(float c) {
  // The product of two f32 numbers is exact in double, and so is the difference.
  return std::fabs(static_cast<double>(c) * static_cast<double>(1 / c) - 1) * 0x1p24;
}

// Makes products of quotients by constants; returns how many.
int FormReciprocalsIn(Expr& expr, std::string* note) {
  if (std::ranges::any_of(expr.nodes, abi::IsDiscontinuous)) return 0;
  Expr out;
  std::vector<uint16_t> now;  // by old node
  const auto add = [&](const ExprNode& n) {
    out.nodes.push_back(n);
    return static_cast<uint16_t>(out.nodes.size() - 1);
  };
  int formed = 0;
  double units = 0;
  for (const ExprNode& n : expr.nodes) {
    ExprNode copy = n;
    for (int a = 0; a < abi::ExprOpArity(n.op); ++a) copy.args[a] = now[n.args[a]];
    if (IsCandidate(expr, n)) {
      const float c = DivisorOf(expr, n);
      copy.op = ExprOp::kMul;
      copy.args[1] =
          add({ExprOp::kConst, DType::kF32, {}, abi::FloatBits(static_cast<double>(1 / c))});
      units = std::max(units, UnitsOff(c));
      ++formed;
    }
    now.push_back(add(copy));
  }
  for (uint16_t r : expr.results) out.results.push_back(now[r]);
  out = WithoutDeadNodes(out);
  if (formed == 0 || out.nodes.size() > abi::kMaxExprNodes) return 0;
  expr = std::move(out);
  char text[40];
  std::snprintf(text, sizeof(text), "%.2g", std::ceil((0.5 + units) * 100) / 100);
  *note = StrCat("; off by at most ", text, " ULP, a quotient by 0.5");
  return formed;
}

}  // namespace

Status FormReciprocals(ir::Lowered& lowered, PassContext& context) {
  const RoundingRewrite reciprocals = {
      "form-reciprocals", "reciprocal", "div",
      "a sum of products is rounded anyway, and a product takes a tenth of a quotient's time"};
  for (ir::LoweredStep& step : lowered.steps) {
    const abi::Family family = step.problem.family;
    if (family != abi::Family::kGemm && family != abi::Family::kConv) continue;
    RewriteRoundings(step, context, reciprocals, FormReciprocalsIn);
  }
  return OkStatus();
}

}  // namespace aicf
