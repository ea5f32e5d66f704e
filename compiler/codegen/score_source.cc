#include "compiler/codegen/score_source.h"

#include "compiler/codegen/expr_source.h"
#include "kernels/abi/attention.h"

namespace aicf {
namespace {

// Absent operands have some view, so that code that is not taken compiles.
std::string OperandName(std::string_view name, int operand) {
  return StrCat("typedef In", operand < 0 ? 0 : operand, " ", name, "View;\nconstexpr int k", name,
                " = ", operand, ";\n");
}

constexpr std::string_view kScoreAxes[] = {"b", "h", "i", "j"};

std::string LoadText(const abi::View& view, int operand, int input) {
  const std::string in = StrCat("In", operand);
  std::string at = StrCat(in, "::kOffset");
  for (int axis = 0; axis < 4; ++axis) {
    at += StrCat(" + ", kScoreAxes[axis], " * ", in, "::stride(", axis, ")");
  }
  return StrCat("    const ", ComputeTypeName(view.dtype), " x", input,
                " = Widen(static_cast<const ", in, "::S*>(args.in[", operand, "])[", at, "]);\n");
}

}  // namespace

std::string ScoreSource(const abi::Problem& p) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  std::string out = OperandName("Lengths", s.lengths) + OperandName("Table", s.table) +
                    OperandName("Origins", s.origins);
  out += StrCat("typedef Out", p.outputs.size() - 1, " LogView;\n");
  out +=
      "struct Score {\n  static AICF_DEVICE raw_t Of(const Args& args, raw_t product, index_t b, "
      "index_t h, index_t i, index_t j) {\n";
  for (int k = 0; k < p.extra_inputs(); ++k) {
    const int operand = p.core_inputs + k;
    out += LoadText(p.inputs[static_cast<size_t>(operand)], operand, k + 1);
  }
  out += ExprStatements(
      p.score, "    ", [](int k) { return k == 0 ? std::string("product") : StrCat("x", k); },
      [](int axis) { return StrCat("static_cast<i64>(", kScoreAxes[axis], ")"); });
  const std::string result =
      p.score.empty() ? "product" : StrCat("t", static_cast<int>(p.score.results[0]));
  return out + StrCat("    return ", result, ";\n  }\n};\n");
}

}  // namespace aicf
