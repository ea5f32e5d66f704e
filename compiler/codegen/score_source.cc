#include "compiler/codegen/score_source.h"

#include "compiler/codegen/expr_source.h"
#include "kernels/abi/attention.h"

namespace aicf {
namespace {

// An absent operand (-1) gets the view of input 0, so that device code that names it, in branches
// that are not taken, compiles.
std::string OperandName(std::string_view name, int operand) {
  return StrCat("typedef In", operand < 0 ? 0 : operand, " ", name, "View;\nconstexpr int k", name,
                " = ", operand, ";\n");
}

constexpr std::string_view kScoreAxes[] = {"b", "h", "i", "j"};

std::string AddressText(int operand) {
  const std::string in = StrCat("In", operand);
  std::string at = StrCat(in, "::kOffset");
  for (int axis = 0; axis < 4; ++axis) {
    at += StrCat(" + ", kScoreAxes[axis], " * ", in, "::stride(", axis, ")");
  }
  return at;
}

// The operands of one score, and the functions that load them: for key j, and for j and j + 1.
std::string OperandsText(const abi::Problem& p) {
  std::string fields, one, two;
  for (int k = 0; k < p.extra_inputs(); ++k) {
    const int operand = p.core_inputs + k;
    const std::string in = StrCat("In", operand), at = AddressText(operand);
    const abi::View& view = p.inputs[static_cast<size_t>(operand)];
    fields += StrCat("    ", ComputeTypeName(view.dtype), " x", k + 1, ";\n");
    one += StrCat("    o.x", k + 1, " = Widen(static_cast<const ", in, "::S*>(args.in[", operand,
                  "])[", at, "]);\n");
    two += StrCat("    LoadTwo<", in, ", 3>(args.in[", operand, "], ", at, ", low.x", k + 1,
                  ", high.x", k + 1, ");\n");
  }
  return StrCat(
      "  struct Operands {\n", fields,
      "  };\n  static AICF_DEVICE Operands Load(const Args& args, index_t b, index_t h, "
      "index_t i, index_t j) {\n    Operands o;\n",
      one,
      "    return o;\n  }\n  static AICF_DEVICE void LoadPair(const Args& args, index_t b, "
      "index_t h, index_t i, index_t j, Operands& low, Operands& high) {\n",
      two, "  }\n");
}

// Whether some operand of the scores differs along the axis.
bool MovesAlong(const abi::Problem& p, int axis) {
  for (int k = 0; k < p.extra_inputs(); ++k) {
    const abi::View& v = p.inputs[static_cast<size_t>(p.core_inputs + k)];
    if (v.shape[axis] > 1 && v.strides[axis] != 0) return true;
  }
  return false;
}

std::string BoolConstant(std::string_view name, bool value) {
  return StrCat("constexpr bool ", name, " = ", value ? "true" : "false", ";\n");
}

}  // namespace

std::string ScoreSource(const abi::Problem& p) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  std::string out = OperandName("Lengths", s.lengths) + OperandName("Table", s.table) +
                    OperandName("Origins", s.origins);
  out += OperandName("NewKeys", s.new_keys) + OperandName("NewValues", s.new_values) +
         OperandName("Places", s.places) + OperandName("Cosine", s.cosine) +
         OperandName("Sine", s.sine);
  const bool appends = abi::AppendsRows(p);
  const size_t next_keys = appends ? size_t{abi::kAttentionNextKeys} : 0;
  const size_t next_values = appends ? size_t{abi::kAttentionNextValues} : 0;
  out += StrCat("typedef Out", next_keys, " NextKeysView;\n");
  out += StrCat("typedef Out", next_values, " NextValuesView;\n");
  out += StrCat("typedef Out", p.outputs.size() - 1, " LogView;\n");
  out += BoolConstant("kHasScore", !p.score.empty());
  out += BoolConstant("kScoreMovesAlongHeads", MovesAlong(p, 1));
  out += BoolConstant("kScoreMovesAlongRows", MovesAlong(p, 2));
  out += StrCat(
      "struct Score {\n", OperandsText(p),
      "  static AICF_DEVICE raw_t Of(const Operands& o, raw_t product, index_t b, index_t h, "
      "index_t i, index_t j) {\n");
  out += ExprStatements(
      p.score, "    ", [](int k) { return k == 0 ? std::string("product") : StrCat("o.x", k); },
      [](int axis) { return StrCat("static_cast<i64>(", kScoreAxes[axis], ")"); });
  const std::string result =
      p.score.empty() ? "product" : StrCat("t", static_cast<int>(p.score.results[0]));
  return out +
         StrCat(
             "    return ", result,
             ";\n  }\n  static AICF_DEVICE raw_t Of(const Args& args, raw_t product, index_t b, "
             "index_t h, index_t i, index_t j) {\n    return Of(Load(args, b, h, i, j), product, "
             "b, h, i, j);\n  }\n};\n");
}

}  // namespace aicf
