// Random expressions of operators with one right answer: rounded once, or exact.
#include "tests/conformance/cases.h"

namespace aicf::conformance {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;

const std::vector<ExprOp> kFloatBinary = {ExprOp::kAdd, ExprOp::kSub, ExprOp::kMul,  ExprOp::kDiv,
                                          ExprOp::kMin, ExprOp::kMax, ExprOp::kFmod, ExprOp::kMod};
const std::vector<ExprOp> kFloatUnary = {ExprOp::kNeg,   ExprOp::kAbs,  ExprOp::kSign,
                                         ExprOp::kFloor, ExprOp::kCeil, ExprOp::kRound,
                                         ExprOp::kTrunc, ExprOp::kSqrt, ExprOp::kRecip};
const std::vector<ExprOp> kIntBinary = {ExprOp::kAdd, ExprOp::kSub, ExprOp::kMul, ExprOp::kDiv,
                                        ExprOp::kMin, ExprOp::kMax, ExprOp::kMod, ExprOp::kFmod,
                                        ExprOp::kAnd, ExprOp::kOr,  ExprOp::kXor, ExprOp::kPow,
                                        ExprOp::kShl, ExprOp::kShr};
const std::vector<ExprOp> kIntUnary = {ExprOp::kNeg, ExprOp::kAbs, ExprOp::kSign, ExprOp::kNot};
const std::vector<ExprOp> kBoolBinary = {ExprOp::kAnd, ExprOp::kOr, ExprOp::kXor, ExprOp::kMin,
                                         ExprOp::kMax};
const std::vector<ExprOp> kCompare = {ExprOp::kEq, ExprOp::kLt, ExprOp::kLe};

class Writer {
 public:
  Writer(Random& random, ExprBuilder& builder) : random_(random), b_(builder) {}

  void Known(uint16_t node) { nodes_.push_back(node); }

  // A node of the dtype: an existing one, or a cast of one.
  uint16_t Of(DType dtype) {
    std::vector<uint16_t> fit;
    for (uint16_t n : nodes_) {
      if (b_.dtype(n) == dtype) fit.push_back(n);
    }
    if (!fit.empty() && !random_.OneIn(8)) return random_.Pick(fit);
    if (random_.OneIn(3) || nodes_.empty())
      return b_.Const(static_cast<double>(random_.Int(0, 3)), dtype);
    return b_.Cast(random_.Pick(nodes_), dtype);
  }

  void Grow() {
    const DType dtype = nodes_.empty() ? DType::kF32 : b_.dtype(random_.Pick(nodes_));
    if (random_.OneIn(8)) return Known(b_.Select(Of(DType::kBool), Of(dtype), Of(dtype)));
    if (dtype == DType::kBool) return GrowBool();
    if (random_.OneIn(8)) return Known(b_.Binary(random_.Pick(kCompare), Of(dtype), Of(dtype)));
    const bool is_float = IsFloat(dtype);
    if (is_float && random_.OneIn(8)) return Known(b_.Fma(Of(dtype), Of(dtype), Of(dtype)));
    if (is_float && random_.OneIn(12)) return Known(b_.Unary(ExprOp::kIsNan, Of(dtype)));
    if (is_float && random_.OneIn(12)) return Known(b_.Unary(ExprOp::kIsInf, Of(dtype)));
    if (dtype == DType::kF32 && random_.OneIn(10)) {
      return Known(b_.Unary(random_.OneIn(2) ? ExprOp::kRoundF16 : ExprOp::kRoundBF16, Of(dtype)));
    }
    if (random_.OneIn(4)) {
      return Known(b_.Unary(random_.Pick(is_float ? kFloatUnary : kIntUnary), Of(dtype)));
    }
    Known(b_.Binary(random_.Pick(is_float ? kFloatBinary : kIntBinary), Of(dtype), Of(dtype)));
  }

 private:
  void GrowBool() {
    if (random_.OneIn(4)) return Known(b_.Unary(ExprOp::kNot, Of(DType::kBool)));
    Known(b_.Binary(random_.Pick(kBoolBinary), Of(DType::kBool), Of(DType::kBool)));
  }

  Random& random_;
  ExprBuilder& b_;
  std::vector<uint16_t> nodes_;
};

}  // namespace

abi::Expr RandomExpr(Random& random, const std::vector<DType>& inputs,
                     const std::vector<DType>& results, int rank, int nodes) {
  ExprBuilder builder;
  Writer writer(random, builder);
  for (size_t k = 0; k < inputs.size(); ++k) {
    writer.Known(builder.Input(static_cast<int>(k), abi::ComputeDType(inputs[k])));
  }
  if (rank > 0 && random.OneIn(3)) {
    writer.Known(builder.Index(static_cast<int>(random.Int(0, rank - 1))));
  }
  for (int i = 0; i < nodes && builder.node_count() < abi::kMaxExprNodes - 16; ++i) writer.Grow();
  std::vector<uint16_t> values;
  for (DType dtype : results) values.push_back(writer.Of(abi::ComputeDType(dtype)));
  return builder.Finish(values);
}

}  // namespace aicf::conformance
