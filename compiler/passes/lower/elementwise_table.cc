#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {
namespace {

using abi::ExprOp;

template <ExprOp op>
uint16_t Unary(const ElementwiseArgs& a) {
  return a.b.Unary(op, a.in[0]);
}

template <ExprOp op>
uint16_t Binary(const ElementwiseArgs& a) {
  return a.b.Binary(op, a.in[0], a.in[1]);
}

// in[0] > in[1] as in[1] < in[0].
template <ExprOp op>
uint16_t Swapped(const ElementwiseArgs& a) {
  return a.b.Binary(op, a.in[1], a.in[0]);
}

template <ExprOp op>
uint16_t Fold(const ElementwiseArgs& a) {
  uint16_t value = a.in[0];
  for (size_t i = 1; i < a.in.size(); ++i) value = a.b.Binary(op, value, a.in[i]);
  return value;
}

uint16_t BuildMod(const ElementwiseArgs& a) {
  const bool c_like = a.node.Int("fmod", 0) != 0;
  return a.b.Binary(c_like ? ExprOp::kFmod : ExprOp::kMod, a.in[0], a.in[1]);
}

uint16_t BuildRelu(const ElementwiseArgs& a) {
  return a.b.Binary(ExprOp::kMax, a.in[0], a.Const(0));
}

uint16_t BuildWhere(const ElementwiseArgs& a) { return a.b.Select(a.in[0], a.in[1], a.in[2]); }

struct Formula {
  std::string_view op;
  BuildElementwise build;
};

constexpr Formula kFormulas[] = {
    {"Abs", Unary<ExprOp::kAbs>},
    {"Acos", Unary<ExprOp::kAcos>},
    {"Acosh", Unary<ExprOp::kAcosh>},
    {"Add", Binary<ExprOp::kAdd>},
    {"And", Binary<ExprOp::kAnd>},
    {"Asin", Unary<ExprOp::kAsin>},
    {"Asinh", Unary<ExprOp::kAsinh>},
    {"Atan", Unary<ExprOp::kAtan>},
    {"Atanh", Unary<ExprOp::kAtanh>},
    {"BitShift", BuildBitShift},
    {"BitwiseAnd", Binary<ExprOp::kAnd>},
    {"BitwiseNot", Unary<ExprOp::kNot>},
    {"BitwiseOr", Binary<ExprOp::kOr>},
    {"BitwiseXor", Binary<ExprOp::kXor>},
    {"Cast", BuildCast},
    {"Ceil", Unary<ExprOp::kCeil>},
    {"Celu", BuildCelu},
    {"Clip", BuildClip},
    {"Cos", Unary<ExprOp::kCos>},
    {"Cosh", Unary<ExprOp::kCosh>},
    {"Div", Binary<ExprOp::kDiv>},
    {"Elu", BuildElu},
    {"Equal", Binary<ExprOp::kEq>},
    {"Erf", Unary<ExprOp::kErf>},
    {"Exp", Unary<ExprOp::kExp>},
    {"Floor", Unary<ExprOp::kFloor>},
    {"Gelu", BuildGelu},
    {"Greater", Swapped<ExprOp::kLt>},
    {"GreaterOrEqual", Swapped<ExprOp::kLe>},
    {"HardSigmoid", BuildHardSigmoid},
    {"HardSwish", BuildHardSwish},
    {"IsInf", BuildIsInf},
    {"IsNaN", Unary<ExprOp::kIsNan>},
    {"LeakyRelu", BuildLeakyRelu},
    {"Less", Binary<ExprOp::kLt>},
    {"LessOrEqual", Binary<ExprOp::kLe>},
    {"Log", Unary<ExprOp::kLog>},
    {"Max", Fold<ExprOp::kMax>},
    {"Mean", BuildMean},
    {"Min", Fold<ExprOp::kMin>},
    {"Mish", BuildMish},
    {"Mod", BuildMod},
    {"Mul", Binary<ExprOp::kMul>},
    {"Neg", Unary<ExprOp::kNeg>},
    {"Not", Unary<ExprOp::kNot>},
    {"Or", Binary<ExprOp::kOr>},
    {"PRelu", BuildPRelu},
    {"Pow", BuildPow},
    {"Reciprocal", Unary<ExprOp::kRecip>},
    {"Relu", BuildRelu},
    {"Round", Unary<ExprOp::kRound>},
    {"Selu", BuildSelu},
    {"Shrink", BuildShrink},
    {"Sigmoid", Unary<ExprOp::kSigmoid>},
    {"Sign", Unary<ExprOp::kSign>},
    {"Sin", Unary<ExprOp::kSin>},
    {"Sinh", Unary<ExprOp::kSinh>},
    {"Softplus", Unary<ExprOp::kSoftplus>},
    {"Softsign", BuildSoftsign},
    {"Sqrt", Unary<ExprOp::kSqrt>},
    {"Sub", Binary<ExprOp::kSub>},
    {"Sum", Fold<ExprOp::kAdd>},
    {"SwiGLU", BuildSwiGLU},
    {"Swish", BuildSwish},
    {"Tan", Unary<ExprOp::kTan>},
    {"Tanh", Unary<ExprOp::kTanh>},
    {"ThresholdedRelu", BuildThresholdedRelu},
    {"Where", BuildWhere},
    {"Xor", Binary<ExprOp::kXor>},
};

}  // namespace

BuildElementwise FindElementwise(std::string_view op) {
  for (const Formula& row : kFormulas) {
    if (row.op == op) return row.build;
  }
  return nullptr;
}

}  // namespace aicf
