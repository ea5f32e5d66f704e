#include "base/scanner.h"
#include "base/text_writer.h"
#include "kernels/abi/write_text.h"

namespace aicf::abi {
namespace {

bool HasImmediate(ExprOp op) {
  return op == ExprOp::kInput || op == ExprOp::kConst || op == ExprOp::kIndex;
}

void WriteImmediate(TextWriter& out, const ExprNode& n) {
  if (n.op == ExprOp::kConst && IsFloat(n.dtype)) {
    out.Write(' ', FormatDouble(BitsToFloat(n.imm)));
  } else {
    out.Write(' ', static_cast<int64_t>(n.imm));
  }
}

Result<ExprOp> ParseOp(Scanner& in) {
  AICF_ASSIGN_OR_RETURN(const std::string_view name, in.Word());
  for (int i = 0; i < kExprOpCount; ++i) {
    if (ExprOpName(static_cast<ExprOp>(i)) == name) return static_cast<ExprOp>(i);
  }
  return Error(Code::kInvalidArgument, "line ", in.line(), ": unknown operator '", name, "'");
}

Result<uint16_t> ParseRef(Scanner& in) {
  AICF_RETURN_IF_ERROR(in.Expect("%"));
  AICF_ASSIGN_OR_RETURN(const int64_t v, in.Int());
  if (v < 0 || v > 0xffff) return in.Fail("a node number");
  return static_cast<uint16_t>(v);
}

Result<ExprNode> ParseNode(Scanner& in) {
  ExprNode n;
  AICF_ASSIGN_OR_RETURN(n.op, ParseOp(in));
  std::string literal;
  if (HasImmediate(n.op)) {
    // The dtype that says how to read the literal comes after it.
    AICF_ASSIGN_OR_RETURN(const double value, in.Double());
    n.imm = FloatBits(value);
  }
  for (int a = 0; a < ExprOpArity(n.op); ++a) {
    AICF_ASSIGN_OR_RETURN(n.args[a], ParseRef(in));
  }
  AICF_RETURN_IF_ERROR(in.Expect(":"));
  AICF_ASSIGN_OR_RETURN(const std::string_view dtype_name, in.Word());
  const std::optional<DType> dtype = ParseDType(dtype_name);
  if (!dtype) return in.Fail("a dtype");
  n.dtype = *dtype;
  return n;
}

}  // namespace

std::string ToString(const Expr& expr) {
  TextWriter out;
  Write(out, expr);
  return out.ToString();
}

void Write(TextWriter& out, const Expr& expr) {
  if (expr.empty()) {
    out.Write("id");
    return;
  }
  out.Write('(');
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    if (i > 0) out.Write("; ");
    out.Write('%', i, " = ", ExprOpName(n.op));
    if (HasImmediate(n.op)) WriteImmediate(out, n);
    for (int a = 0; a < ExprOpArity(n.op); ++a) out.Write(" %", n.args[a]);
    out.Write(" : ", DTypeName(n.dtype));
  }
  out.Write(") ->");
  for (uint16_t r : expr.results) out.Write(" %", r);
}

Result<Expr> ParseExprFrom(Scanner& in) {
  Expr expr;
  if (in.Accept("id")) return expr;
  AICF_RETURN_IF_ERROR(in.Expect("("));
  do {
    AICF_RETURN_IF_ERROR(in.Expect(StrCat("%", expr.nodes.size())));
    AICF_RETURN_IF_ERROR(in.Expect("="));
    Scanner at_node = in;
    AICF_ASSIGN_OR_RETURN(ExprNode node, ParseNode(in));
    if (HasImmediate(node.op) && !(node.op == ExprOp::kConst && IsFloat(node.dtype))) {
      AICF_RETURN_IF_ERROR(at_node.Expect(ExprOpName(node.op)));
      AICF_ASSIGN_OR_RETURN(const int64_t value, at_node.Int());
      node.imm = static_cast<uint64_t>(value);
    }
    expr.nodes.push_back(node);
  } while (in.Accept(";"));
  AICF_RETURN_IF_ERROR(in.Expect(")"));
  AICF_RETURN_IF_ERROR(in.Expect("->"));
  while (in.Peek("%")) {
    AICF_ASSIGN_OR_RETURN(const uint16_t r, ParseRef(in));
    expr.results.push_back(r);
  }
  return expr;
}

Result<Expr> ParseExpr(std::string_view text) {
  Scanner in(text);
  AICF_ASSIGN_OR_RETURN(Expr expr, ParseExprFrom(in));
  if (!in.AtEnd()) return in.Fail("end of expression");
  return expr;
}

}  // namespace aicf::abi
