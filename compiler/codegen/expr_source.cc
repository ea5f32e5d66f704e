#include "compiler/codegen/expr_source.h"

#include <bit>
#include <cstdio>

#include "base/status.h"
#include "compiler/codegen/expr_forms.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

// Device functions by operator, in the order of expr_ops.def: "Op" and the enumerator without its
// k.
constexpr std::string_view kFunctions[] = {
#define AICF_EXPR(id, text, arity, cls, flops) #id,
#include "kernels/abi/expr_ops.def"
#undef AICF_EXPR
};

std::string Hex(uint64_t bits, const char* suffix) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx%s", static_cast<unsigned long long>(bits), suffix);
  return text;
}

std::string Call(const ExprNode& n) {
  std::string text = StrCat("Op", kFunctions[static_cast<int>(n.op)].substr(1), "(");
  for (int a = 0; a < abi::ExprOpArity(n.op); ++a)
    text += (a == 0 ? "" : ", ") + LocalName(n.args[a]);
  return text + ")";
}

std::string ValueText(const ExprNode& n, const std::function<std::string(int)>& input,
                      const std::function<std::string(int)>& coordinate) {
  switch (n.op) {
    case ExprOp::kInput:
      return input(static_cast<int>(n.imm));
    case ExprOp::kConst:
      return ConstantText(n);
    case ExprOp::kIndex:
      return coordinate(static_cast<int>(n.imm));
    case ExprOp::kCast:
      return StrCat("OpCast<", ComputeTypeName(n.dtype), ">(", LocalName(n.args[0]), ")");
    case ExprOp::kSelect:
      return StrCat(LocalName(n.args[0]), " ? ", LocalName(n.args[1]), " : ", LocalName(n.args[2]));
    default:
      return Call(n);
  }
}

}  // namespace

std::string LocalName(uint16_t node) { return StrCat("t", static_cast<int>(node)); }

std::string_view ComputeTypeName(DType dtype) {
  switch (abi::ComputeDType(dtype)) {
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kBool:
      return "bool";
    default:
      return DTypeName(abi::ComputeDType(dtype));
  }
}

std::string_view StorageTypeName(DType dtype) {
  return dtype == DType::kBool ? "b8" : DTypeName(dtype);
}

std::string ConstantText(const ExprNode& n) {
  if (n.dtype == DType::kBool) return n.imm != 0 ? "true" : "false";
  if (n.dtype == DType::kF64) return StrCat("FromBits64(", Hex(n.imm, "ull"), ")");
  if (n.dtype == DType::kF32) {
    const float value = static_cast<float>(abi::BitsToFloat(n.imm));
    return StrCat("FromBits(", Hex(std::bit_cast<uint32_t>(value), "u"), ")");
  }
  return StrCat("static_cast<", ComputeTypeName(n.dtype), ">(", Hex(n.imm, "ull"), ")");
}

std::string ExprStatements(const Expr& expr, std::string_view indent,
                           const std::function<std::string(int)>& input,
                           const std::function<std::string(int)>& coordinate) {
  const ExprForms forms(expr, input);
  std::string text;
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    const std::optional<std::string>& form = forms.Of(i);
    if (form && form->empty()) continue;
    text += StrCat(indent, "const ", forms.TypeOf(i), " ", LocalName(static_cast<uint16_t>(i)),
                   " = ", form ? *form : ValueText(n, input, coordinate), ";\n");
  }
  return text;
}

bool UsesIndex(const Expr& expr) {
  for (const ExprNode& n : expr.nodes) {
    if (n.op == ExprOp::kIndex) return true;
  }
  return false;
}

}  // namespace aicf
