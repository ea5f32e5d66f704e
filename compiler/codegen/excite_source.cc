#include "compiler/codegen/excite_source.h"

#include "compiler/codegen/expr_source.h"
#include "kernels/abi/excite.h"

namespace aicf {
namespace {

// Operands [first, end) are views of two axes: image n, and unit or channel i.
std::string OperandsText(const abi::Problem& p, int first, int end) {
  std::string fields, loads;
  for (int k = first; k < end; ++k) {
    const std::string in = StrCat("In", k);
    const int input = 1 + k - first;
    fields +=
        StrCat("    ", ComputeTypeName(p.inputs[static_cast<size_t>(k)].dtype), " x", input, ";\n");
    loads += StrCat("    o.x", input, " = Widen(static_cast<const ", in, "::S*>(args.in[", k, "])[",
                    in, "::kOffset + n * ", in, "::stride(0) + i * ", in, "::stride(1)]);\n");
  }
  return StrCat("  struct Operands {\n", fields,
                "  };\n  static AICF_DEVICE Operands Load(const Args& args, index_t n, index_t i) "
                "{\n    Operands o;\n",
                loads, "    return o;\n  }\n");
}

std::string MiddleSource(std::string_view name, const abi::Problem& p, const abi::Expr& expr,
                         int first, int end) {
  constexpr std::string_view kAxes[] = {"n", "i"};
  std::string out = StrCat("struct ", name, " {\n", OperandsText(p, first, end),
                           "  static AICF_DEVICE float Of(const Operands& o, float product, "
                           "index_t n, index_t i) {\n");
  out += ExprStatements(
      expr, "    ", [](int k) { return k == 0 ? std::string("product") : StrCat("o.x", k); },
      [&](int axis) { return StrCat("static_cast<i64>(", kAxes[axis], ")"); });
  const std::string result =
      expr.empty() ? "product" : StrCat("t", static_cast<int>(expr.results[0]));
  return out + StrCat("    return ", result, ";\n  }\n};\n");
}

}  // namespace

std::string ExciteSource(const abi::Problem& p) {
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  return MiddleSource("Hidden", p, p.prologue, s.hidden_first, s.gate_first) +
         MiddleSource("Gate", p, p.score, s.gate_first, s.gate_end) +
         StrCat("typedef Extra", s.x, " Excited;\nconstexpr int kExcited = ", s.x,
                ";\ntemplate <int V>\nAICF_DEVICE const HeldRun<Excited, V>& "
                "ExcitedOf(const Epilogue::Operands<V>& operands) {\n  return operands.extra",
                s.x, ";\n}\n");
}

}  // namespace aicf
