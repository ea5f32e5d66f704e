#include "compiler/codegen/expr_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/status.h"
#include "compiler/codegen/expr_source.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

constexpr double kWholes = 0x1.8p23;  // of kernels/cuda/common/codes.cuh

// The value of an f32 constant.
std::optional<double> ConstantOf(const ExprNode& n) {
  if (n.op != ExprOp::kConst || n.dtype != DType::kF32) return std::nullopt;
  return abi::BitsToFloat(n.imm);
}

// The value of a constant that is a whole number of at most 18 bits.
std::optional<int> WholeConstant(const ExprNode& n) {
  constexpr double kMost = 0x1p17;
  const std::optional<double> value = ConstantOf(n);
  if (!value || std::fabs(*value) > kMost || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<int>(*value);
}

std::string FloatText(double value) {
  return ConstantText({ExprOp::kConst, DType::kF32, {0, 0, 0}, abi::FloatBits(value)});
}

// The operand that node `n` clamps by `op`, kMax or kMin, with the constant `bound`; nullptr where
// `n` is anything else.
const ExprNode* Clamped(const Expr& expr, const ExprNode& n, ExprOp op, double bound) {
  if (n.op != op || n.dtype != DType::kF32) return nullptr;
  return ConstantOf(expr.nodes[n.args[1]]) == bound ? &expr.nodes[n.args[0]] : nullptr;
}

bool IsShortInteger(DType d) {
  return d == DType::kI8 || d == DType::kU8 || d == DType::kI16 || d == DType::kU16;
}

std::optional<std::string> SaturatedCast(const Expr& expr, const ExprNode& n) {
  if (n.op != ExprOp::kCast || !IsShortInteger(n.dtype)) return std::nullopt;
  const int bits = static_cast<int>(8 * DTypeBytes(n.dtype));
  const bool is_signed = KindOf(n.dtype) == DTypeKind::kSigned;
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double most = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  const ExprNode& inner = expr.nodes[n.args[0]];
  const ExprNode* below = Clamped(expr, inner, ExprOp::kMin, most);
  if (below == nullptr || Clamped(expr, *below, ExprOp::kMax, least) == nullptr) {
    return std::nullopt;
  }
  const uint16_t value = below->args[0];
  const ExprNode& clamped = expr.nodes[value];
  const bool rounds = clamped.op == ExprOp::kRound && clamped.dtype == DType::kF32;
  return StrCat(rounds ? "ToNearest(" : "TowardsZero(", LocalName(rounds ? clamped.args[0] : value),
                ", ", ComputeTypeName(n.dtype), "())");
}

// A clamp between the largest numbers of f8e4m3fn, as everything that is stored in that dtype is
// clamped. ClampToE4M3 tells the store that no larger number comes, so that it need not test for
// one.
std::optional<std::string> ClampToE4M3(const Expr& expr, const ExprNode& n) {
  constexpr double kLargest = 448;
  const ExprNode* below = Clamped(expr, n, ExprOp::kMin, kLargest);
  if (below == nullptr || Clamped(expr, *below, ExprOp::kMax, -kLargest) == nullptr) {
    return std::nullopt;
  }
  return StrCat("ClampToE4M3(", LocalName(below->args[0]), ")");
}

// The only node that reads node `of`, if it has the operator and reads it first; -1 otherwise.
int OnlyReader(const Expr& expr, int of, ExprOp op) {
  int reader = -1;
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    for (int a = 0; a < abi::ExprOpArity(n.op); ++a) {
      if (n.args[a] != of) continue;
      if (reader >= 0 || a != 0 || n.op != op) return -1;
      reader = static_cast<int>(i);
    }
  }
  const bool result = std::ranges::find(expr.results, of) != expr.results.end();
  return result ? -1 : reader;
}

// Whether the node's value is only used to make a whole number of at most 18 bits: it is rounded,
// perhaps shifted by a zero point, and clamped.
bool IsRoundedAndClamped(const Expr& expr, int node) {
  const auto next = [&](int of, ExprOp op) {
    const int reader = OnlyReader(expr, of, op);
    if (reader < 0) return -1;
    return WholeConstant(expr.nodes[expr.nodes[reader].args[1]]) ? reader : -1;
  };
  int value = OnlyReader(expr, node, ExprOp::kRound);
  if (value < 0) return false;
  if (const int shifted = next(value, ExprOp::kAdd); shifted >= 0) value = shifted;
  value = next(value, ExprOp::kMax);
  return value >= 0 && next(value, ExprOp::kMin) >= 0;
}

// The constant by which the node divides an f32, if it meets the conditions of CorrectedQuotient
// (kernels/cuda/common/codes.cuh), which corrects the product with the reciprocal.
std::optional<float> Divisor(const Expr& expr, const ExprNode& n) {
  if (n.op != ExprOp::kDiv || n.dtype != DType::kF32) return std::nullopt;
  const std::optional<double> by = ConstantOf(expr.nodes[n.args[1]]);
  if (!by) return std::nullopt;
  const auto divisor = static_cast<float>(*by);
  constexpr uint32_t kSignificand = 0x7fffff;
  const double size = std::fabs(divisor);
  const bool largest = (std::bit_cast<uint32_t>(divisor) & kSignificand) == kSignificand;
  if (!(size >= 0x1p-30 && size <= 0x1p30) || largest) return std::nullopt;
  return divisor;
}

std::string ReciprocalText(float divisor) { return FloatText(static_cast<double>(1.0f / divisor)); }

std::optional<std::string> QuotientToRound(const Expr& expr, const ExprNode& n) {
  const std::optional<float> by = Divisor(expr, n);
  if (!by || !IsRoundedAndClamped(expr, static_cast<int>(&n - expr.nodes.data()))) {
    return std::nullopt;
  }
  return StrCat("QuotientToRound(", LocalName(n.args[0]), ", ", LocalName(n.args[1]), ", ",
                ReciprocalText(*by), ")");
}

bool IsByte(DType d) {
  return abi::ComputeDType(d) == DType::kI8 || abi::ComputeDType(d) == DType::kU8;
}

// The nodes by which an f32 becomes a code of 8 bits. Each is read only by the next one.
struct CodeChain {
  int cast, min, max, shift, round;  // shift: -1 without a zero point
  int zero_point;

  // The addend that codes.cuh calls `wholes`: kWholes and the zero point. Of an odd zero point it
  // has only the even number below, because an odd addend would round ties to the other side.
  // CodeOf adds the missing OddPart().
  double Wholes() const { return kWholes + zero_point - OddPart(); }
  int OddPart() const { return zero_point % 2 == 0 ? 0 : 1; }
};

// The chain that ends in node `cast`.
std::optional<CodeChain> ChainTo(const Expr& expr, int cast) {
  const ExprNode& n = expr.nodes[static_cast<size_t>(cast)];
  if (n.op != ExprOp::kCast || (n.dtype != DType::kI8 && n.dtype != DType::kU8)) {
    return std::nullopt;
  }
  const bool is_signed = n.dtype == DType::kI8;
  CodeChain chain{cast, n.args[0], 0, -1, 0, 0};
  const ExprNode& min = expr.nodes[static_cast<size_t>(chain.min)];
  const ExprNode* max = Clamped(expr, min, ExprOp::kMin, is_signed ? 127 : 255);
  if (max == nullptr) return std::nullopt;
  chain.max = min.args[0];
  const ExprNode* whole = Clamped(expr, *max, ExprOp::kMax, is_signed ? -128 : 0);
  if (whole == nullptr) return std::nullopt;
  chain.round = max->args[0];
  if (whole->op == ExprOp::kAdd) {
    const std::optional<int> by = WholeConstant(expr.nodes[whole->args[1]]);
    if (!by) return std::nullopt;
    chain.zero_point = *by;
    chain.shift = chain.round;
    chain.round = whole->args[0];
    whole = &expr.nodes[static_cast<size_t>(chain.round)];
  }
  if (whole->op != ExprOp::kRound || whole->dtype != DType::kF32) return std::nullopt;
  const int shifted = chain.shift < 0 ? chain.round : chain.shift;
  const bool alone =
      (chain.shift < 0 || OnlyReader(expr, chain.round, ExprOp::kAdd) == chain.shift) &&
      OnlyReader(expr, shifted, ExprOp::kMax) == chain.max &&
      OnlyReader(expr, chain.max, ExprOp::kMin) == chain.min &&
      OnlyReader(expr, chain.min, ExprOp::kCast) == cast;
  return alone ? std::optional(chain) : std::nullopt;
}

// Whether results alone read the chain's code.
bool IsOnlyStored(const Expr& expr, const CodeChain& chain) {
  return std::ranges::none_of(expr.nodes, [&](const ExprNode& n) {
    const auto args = std::span(n.args).first(static_cast<size_t>(abi::ExprOpArity(n.op)));
    return std::ranges::find(args, chain.cast) != args.end();
  });
}

// The node whose value the chain rounds.
int RoundedBy(const Expr& expr, const CodeChain& chain) {
  return expr.nodes[static_cast<size_t>(chain.round)].args[0];
}

// The positive constant by which a quotient divides that the chain alone reads, and rounds.
std::optional<float> QuotientOf(const Expr& expr, const CodeChain& chain) {
  const int value = RoundedBy(expr, chain);
  const std::optional<float> by = Divisor(expr, expr.nodes[static_cast<size_t>(value)]);
  const bool alone = OnlyReader(expr, value, ExprOp::kRound) == chain.round;
  return by && *by > 0 && alone ? by : std::nullopt;
}

typedef std::vector<std::optional<std::string>> Texts;

// Leaves out the nodes between the one that rounds and the cast.
void LeaveOutBetween(const CodeChain& chain, Texts& texts) {
  for (int node : {chain.shift, chain.max, chain.min}) {
    if (node >= 0) texts[static_cast<size_t>(node)] = "";
  }
}

// Writes the texts of a chain's nodes. The node that rounds gets the sum whose last byte is the
// code, the nodes between it and the cast are left out, and the cast takes the code from the sum.
void WriteChain(const Expr& expr, const CodeChain& chain, Texts& texts) {
  const DType code = expr.nodes[static_cast<size_t>(chain.cast)].dtype;
  const bool is_signed = code == DType::kI8;
  const int value = RoundedBy(expr, chain);
  const ExprNode& n = expr.nodes[static_cast<size_t>(value)];
  const std::optional<float> by = QuotientOf(expr, chain);
  const double scale = by ? static_cast<double>(*by) : 1;
  const auto bound = [&](int of) { return FloatText(scale * (of - chain.zero_point)); };
  const std::string bounds =
      StrCat(bound(is_signed ? -128 : 0), ", ", bound(is_signed ? 127 : 255), ", ", bound(0), ", ");
  const std::string wholes = FloatText(chain.Wholes());
  const std::string type = StrCat("<", ComputeTypeName(code), ">(");
  std::optional<std::string>& round = texts[static_cast<size_t>(chain.round)];
  if (by) {
    texts[static_cast<size_t>(value)] = "";
    round = StrCat("QuotientWholeSum", type, LocalName(n.args[0]), ", ", bounds,
                   LocalName(n.args[1]), ", ", ReciprocalText(*by), ", ", wholes, ")");
  } else {
    round = StrCat("WholeSum", type, LocalName(static_cast<uint16_t>(value)), ", ", bounds, wholes,
                   ")");
  }
  LeaveOutBetween(chain, texts);
  texts[static_cast<size_t>(chain.cast)] = StrCat(
      "CodeOf", type, LocalName(static_cast<uint16_t>(chain.round)), ", ", chain.OddPart(), "u)");
}

// The same for a code that is only stored. It is rounded when it is packed. Of a code with a zero
// point the zero point is added before that, behind a rounding of its own: adding kWholes rounds,
// and what is taken away again leaves the zero point. Saturation makes a clamp unnecessary.
void WriteRoundingCode(const Expr& expr, const CodeChain& chain, Texts& texts) {
  const DType code = expr.nodes[static_cast<size_t>(chain.cast)].dtype;
  const std::string value = LocalName(static_cast<uint16_t>(RoundedBy(expr, chain)));
  const std::string whole = chain.zero_point == 0
                                ? value
                                : StrCat("(", value, " + ", FloatText(kWholes), ") - ",
                                         FloatText(kWholes - chain.zero_point));
  texts[static_cast<size_t>(chain.round)] = "";
  LeaveOutBetween(chain, texts);
  texts[static_cast<size_t>(chain.cast)] =
      StrCat("RoundingCode<", ComputeTypeName(code), ">{", whole, "}");
}

// The text of an f32: the code of 8 bits that is the value of node `code`, minus `less`.
std::string NumberOfCode(const Expr& expr, int code, int less,
                         const std::function<std::string(int)>& input) {
  const auto local = [](int node) { return LocalName(static_cast<uint16_t>(node)); };
  if (const std::optional<CodeChain> chain = ChainTo(expr, code)) {
    // The sum has only the even part of the zero point, the code has all of it.
    return StrCat(local(chain->round), " - ", FloatText(kWholes - chain->OddPart() + less));
  }
  const ExprNode& n = expr.nodes[static_cast<size_t>(code)];
  const bool is_signed = abi::ComputeDType(n.dtype) == DType::kI8;
  // The text of an input is used as it is, because epilogues hold inputs as WideCode, which WholeOf
  // reads directly; the local has been converted to a plain code.
  return StrCat("WholeOf(", n.op == ExprOp::kInput ? input(static_cast<int>(n.imm)) : local(code),
                ", ", FloatText(0x1p23 + (is_signed ? 128 : 0) + less), ")");
}

std::optional<std::string> NumberOf(const Expr& expr, const ExprNode& n,
                                    const std::function<std::string(int)>& input) {
  const auto code_of = [&](const ExprNode& cast) {
    const bool widens = cast.op == ExprOp::kCast && cast.dtype == DType::kF32 &&
                        IsByte(expr.nodes[cast.args[0]].dtype);
    return widens ? int{cast.args[0]} : -1;
  };
  if (const int code = code_of(n); code >= 0) return NumberOfCode(expr, code, 0, input);
  if (n.op != ExprOp::kSub || n.dtype != DType::kF32) return std::nullopt;
  const int code = code_of(expr.nodes[n.args[0]]);
  const std::optional<int> less = WholeConstant(expr.nodes[n.args[1]]);
  return code >= 0 && less ? std::optional(NumberOfCode(expr, code, *less, input)) : std::nullopt;
}

// Whether nodes read the value of node `code` only to cast it to f32.
bool OnlyNumbersOf(const Expr& expr, int code) {
  return std::ranges::all_of(expr.nodes, [&](const ExprNode& n) {
    if (n.op == ExprOp::kCast && n.dtype == DType::kF32) return true;
    return std::ranges::none_of(
        std::span(n.args).first(static_cast<size_t>(abi::ExprOpArity(n.op))),
        [&](uint16_t arg) { return arg == code; });
  });
}

}  // namespace

ExprForms::ExprForms(const Expr& expr, const std::function<std::string(int)>& input)
    : texts_(expr.nodes.size()) {
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    types_.emplace_back(ComputeTypeName(n.dtype));
    if (const std::optional<CodeChain> chain = ChainTo(expr, static_cast<int>(i))) {
      const bool rounds_late = IsOnlyStored(expr, *chain) && !QuotientOf(expr, *chain);
      const bool is_byte = OnlyNumbersOf(expr, static_cast<int>(i));
      (rounds_late ? WriteRoundingCode : WriteChain)(expr, *chain, texts_);
      if (rounds_late || is_byte)
        types_[i] = StrCat(rounds_late ? "RoundingCode<" : "ByteCode<", types_[i], ">");
      continue;
    }
    texts_[i] = SaturatedCast(expr, n);
    if (!texts_[i]) texts_[i] = NumberOf(expr, n, input);
    if (!texts_[i]) texts_[i] = ClampToE4M3(expr, n);
    if (!texts_[i]) texts_[i] = QuotientToRound(expr, n);
  }
}

}  // namespace aicf
