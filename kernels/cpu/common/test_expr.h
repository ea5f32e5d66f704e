/// Random expressions for tests. Only operators whose result is exactly rounded are used, so that
/// every instruction set must give the same bits as the reference.
#pragma once

#include <vector>

#include "kernels/abi/expr.h"
#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {

class RandomExpr {
 public:
  RandomExpr(Random& random, const std::vector<DType>& inputs) : random_(random) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      pool_.push_back(b_.Input(static_cast<int>(k), abi::ComputeDType(inputs[k])));
    }
    pool_.push_back(b_.Const(1.5, DType::kF32));
  }

  void UseIndex(int rank) {
    if (rank > 0) pool_.push_back(b_.Index(static_cast<int>(Pick(random_, 0, rank - 1))));
  }

  /// Adds operators and returns an expression whose result has the compute dtype `result`.
  abi::Expr Make(int operators, DType result) {
    for (int i = 0; i < operators; ++i) pool_.push_back(Grow());
    return b_.Finish({b_.Cast(pool_.back(), result)});
  }
  abi::Expr MakeTwo(int operators, DType first, DType second) {
    for (int i = 0; i < operators; ++i) pool_.push_back(Grow());
    return b_.Finish({b_.Cast(Any(), first), b_.Cast(pool_.back(), second)});
  }

 private:
  using Op = abi::ExprOp;

  uint16_t Any() {
    return pool_[static_cast<size_t>(Pick(random_, 0, static_cast<int64_t>(pool_.size()) - 1))];
  }
  template <size_t n>
  Op Choose(const Op (&ops)[n]) {
    return ops[Pick(random_, 0, static_cast<int64_t>(n) - 1)];
  }

  uint16_t Grow() {
    const uint16_t a = Any();
    const DType dtype = b_.dtype(a);
    const uint16_t other = b_.Cast(Any(), dtype);
    if (Chance(random_, 10)) return b_.Cast(a, RandomCompute());
    if (Chance(random_, 10)) {
      const Op compare = Choose({Op::kEq, Op::kLt, Op::kLe});
      return b_.Select(b_.Binary(compare, a, other), b_.Cast(Any(), dtype), other);
    }
    if (dtype == DType::kBool) {
      if (Chance(random_, 20)) return b_.Unary(Op::kNot, a);
      return b_.Binary(Choose({Op::kAnd, Op::kOr, Op::kXor, Op::kMin, Op::kMax}), a, other);
    }
    return IsFloat(dtype) ? GrowFloat(a, other) : GrowInteger(a, other);
  }

  uint16_t GrowFloat(uint16_t a, uint16_t other) {
    if (Chance(random_, 40)) {
      return b_.Unary(Choose({Op::kNeg, Op::kAbs, Op::kSign, Op::kSqrt, Op::kRecip, Op::kFloor,
                              Op::kCeil, Op::kRound, Op::kTrunc, Op::kIsNan, Op::kIsInf}),
                      a);
    }
    if (Chance(random_, 15)) return b_.Fma(a, other, b_.Cast(Any(), b_.dtype(a)));
    if (b_.dtype(a) == DType::kF32 && Chance(random_, 15)) {
      return b_.Unary(Choose({Op::kRoundF16, Op::kRoundBF16}), a);
    }
    return b_.Binary(
        Choose({Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMin, Op::kMax, Op::kMod, Op::kFmod}),
        a, other);
  }

  uint16_t GrowInteger(uint16_t a, uint16_t other) {
    if (Chance(random_, 30)) {
      return b_.Unary(Choose({Op::kNeg, Op::kAbs, Op::kSign, Op::kNot}), a);
    }
    return b_.Binary(Choose({Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMod, Op::kFmod, Op::kPow,
                             Op::kMin, Op::kMax, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr}),
                     a, other);
  }

  DType RandomCompute() {
    const DType d = static_cast<DType>(Pick(random_, 0, kDTypeCount - 1));
    return abi::ComputeDType(d);
  }

  Random& random_;
  abi::ExprBuilder b_;
  std::vector<uint16_t> pool_;
};

}  // namespace aicf::cpu
