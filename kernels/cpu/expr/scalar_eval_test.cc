// What scalar_eval.h promises where expr_ops.def leaves a choice, on chosen values, for the scalar
// evaluation and for EvalBlock of every instruction set.
#include "kernels/cpu/expr/scalar_eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/expr/block_test_util.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

/// A value as its dtype stores it.
struct StoredValue {
  DType dtype;
  alignas(8) unsigned char bytes[8] = {};
};

StoredValue Make(DType dtype, double value) {
  StoredValue s{dtype, {}};
  StoreScalar(s.bytes, dtype, ScalarFromDouble(value, abi::ComputeDType(dtype)));
  return s;
}
StoredValue MakeInt(DType dtype, int64_t value) {
  StoredValue s{dtype, {}};
  StoreScalar(s.bytes, dtype, IntScalar(value));
  return s;
}

std::string Text(const StoredValue& s) {
  const Scalar v = LoadScalar(s.bytes, s.dtype);
  const std::string value = IsFloat(s.dtype)         ? std::to_string(v.f)
                            : s.dtype == DType::kU64 ? std::to_string(static_cast<uint64_t>(v.i))
                                                     : std::to_string(v.i);
  return StrCat(DTypeName(s.dtype), " ", value);
}

bool Same(const StoredValue& a, const StoredValue& b) {
  const Scalar x = LoadScalar(a.bytes, a.dtype);
  const Scalar y = LoadScalar(b.bytes, b.dtype);
  if (!IsFloat(a.dtype)) return x.i == y.i;
  return x.f == y.f || (std::isnan(x.f) && std::isnan(y.f));
}

/// Evaluates one operator everywhere and compares.
void Expect(ExprOp op, const std::vector<StoredValue>& args, const StoredValue& expected) {
  abi::Expr expr;
  abi::ExprNode node{op, abi::ComputeDType(expected.dtype), {0, 0, 0}, 0};
  std::vector<Scalar> scalars;
  std::vector<BlockInput> inputs;
  for (size_t k = 0; k < args.size(); ++k) {
    expr.nodes.push_back({ExprOp::kInput, abi::ComputeDType(args[k].dtype), {0, 0, 0}, k});
    node.args[k] = static_cast<uint16_t>(k);
    scalars.push_back(LoadScalar(args[k].bytes, args[k].dtype));
    // Both as one repeated element and as a row.
    inputs.push_back({args[k].bytes, 0, 0, args[k].dtype});
  }
  expr.results = {static_cast<uint16_t>(expr.nodes.size())};
  expr.nodes.push_back(node);
  std::vector<DType> dtypes;
  for (const StoredValue& a : args) dtypes.push_back(a.dtype);
  ASSERT_TRUE(abi::ValidateExpr(expr, dtypes, 0).ok()) << abi::ToString(expr);

  Scalar result;
  EvalScalar(expr, scalars.data(), nullptr, &result);
  StoredValue got{expected.dtype, {}};
  StoreScalar(got.bytes, got.dtype, result);
  EXPECT_TRUE(Same(got, expected))
      << abi::ToString(expr) << ": " << Text(got) << ", expected " << Text(expected);
  constexpr int64_t kRow = 37;
  std::vector<std::vector<unsigned char>> rows(args.size());
  std::vector<BlockInput> row_inputs = inputs;
  for (size_t k = 0; k < args.size(); ++k) {
    const int64_t bytes = DTypeBytes(args[k].dtype);
    for (int64_t i = 0; i < kRow; ++i) {
      rows[k].insert(rows[k].end(), args[k].bytes, args[k].bytes + bytes);
    }
    row_inputs[k] = {rows[k].data(), 0, 1, args[k].dtype};
  }
  for (const NamedEval& eval : RunnableEvals()) {
    for (const auto& in : {inputs, row_inputs}) {
      alignas(8) unsigned char out[8 * kRow] = {};
      const BlockOutput o{out, 0, 1, expected.dtype};
      eval.fn(expr, 1, kRow, in.data(), &o, nullptr);
      for (int64_t i : {int64_t{0}, kRow - 1}) {
        const int64_t bytes = DTypeBytes(expected.dtype);
        std::copy(out + i * bytes, out + (i + 1) * bytes, got.bytes);
        EXPECT_TRUE(Same(got, expected)) << eval.name << " " << abi::ToString(expr) << ": "
                                         << Text(got) << ", expected " << Text(expected);
      }
    }
  }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr DType kF32 = DType::kF32, kF64 = DType::kF64, kI8 = DType::kI8, kI32 = DType::kI32,
                kI64 = DType::kI64, kU8 = DType::kU8, kU64 = DType::kU64, kBool = DType::kBool;

TEST(ScalarEval, CastsSaturateTruncateAndWrap) {
  for (DType from : {kF32, kF64}) {
    Expect(ExprOp::kCast, {Make(from, 2.9)}, MakeInt(kI32, 2));
    Expect(ExprOp::kCast, {Make(from, -2.9)}, MakeInt(kI32, -2));
    Expect(ExprOp::kCast, {Make(from, 1e20)}, MakeInt(kI32, INT32_MAX));
    Expect(ExprOp::kCast, {Make(from, -1e20)}, MakeInt(kI32, INT32_MIN));
    Expect(ExprOp::kCast, {Make(from, kNan)}, MakeInt(kI32, 0));
    Expect(ExprOp::kCast, {Make(from, kInf)}, MakeInt(kI64, INT64_MAX));
    Expect(ExprOp::kCast, {Make(from, -kInf)}, MakeInt(kI64, INT64_MIN));
    Expect(ExprOp::kCast, {Make(from, 300)}, MakeInt(kU8, 255));
    Expect(ExprOp::kCast, {Make(from, -5)}, MakeInt(kU8, 0));
    Expect(ExprOp::kCast, {Make(from, kNan)}, MakeInt(kU8, 0));
    Expect(ExprOp::kCast, {Make(from, -300)}, MakeInt(kI8, -128));
    Expect(ExprOp::kCast, {Make(from, 1e30)}, MakeInt(kU64, -1));
    Expect(ExprOp::kCast, {Make(from, 0x1p63)}, MakeInt(kU64, INT64_MIN));
    Expect(ExprOp::kCast, {Make(from, kNan)}, MakeInt(kBool, 1));
    Expect(ExprOp::kCast, {Make(from, -0.0)}, MakeInt(kBool, 0));
    Expect(ExprOp::kCast, {Make(from, 0.25)}, MakeInt(kBool, 1));
  }
  Expect(ExprOp::kCast, {MakeInt(kI32, 300)}, MakeInt(kU8, 44));
  Expect(ExprOp::kCast, {MakeInt(kI64, -1)}, MakeInt(kI32, -1));
  Expect(ExprOp::kCast, {MakeInt(kU8, 200)}, MakeInt(kI8, -56));
  Expect(ExprOp::kCast, {MakeInt(kI64, 256)}, MakeInt(kBool, 1));
  // Rounded once: through double this would round down to the even neighbour.
  Expect(ExprOp::kCast, {MakeInt(kI64, (int64_t{1} << 53) + (int64_t{1} << 29) + 1)},
         Make(kF32, 0x1p53 + 0x1p30));
  Expect(ExprOp::kCast, {MakeInt(kU64, -1)}, Make(kF32, 0x1p64));
}

TEST(ScalarEval, IntegerArithmeticWrapsAndNeverTraps) {
  Expect(ExprOp::kAdd, {MakeInt(kI32, INT32_MAX), MakeInt(kI32, 1)}, MakeInt(kI32, INT32_MIN));
  Expect(ExprOp::kMul, {MakeInt(kI64, INT64_MAX), MakeInt(kI64, 2)}, MakeInt(kI64, -2));
  Expect(ExprOp::kSub, {MakeInt(kU8, 1), MakeInt(kU8, 2)}, MakeInt(kU8, 255));
  Expect(ExprOp::kNeg, {MakeInt(kI8, -128)}, MakeInt(kI8, -128));
  Expect(ExprOp::kAbs, {MakeInt(kI64, INT64_MIN)}, MakeInt(kI64, INT64_MIN));
  Expect(ExprOp::kDiv, {MakeInt(kI64, INT64_MIN), MakeInt(kI64, -1)}, MakeInt(kI64, INT64_MIN));
  Expect(ExprOp::kDiv, {MakeInt(kI32, -7), MakeInt(kI32, 2)}, MakeInt(kI32, -3));
  Expect(ExprOp::kDiv, {MakeInt(kI32, 7), MakeInt(kI32, 0)}, MakeInt(kI32, 0));
  Expect(ExprOp::kMod, {MakeInt(kI32, -7), MakeInt(kI32, 3)}, MakeInt(kI32, 2));
  Expect(ExprOp::kMod, {MakeInt(kI32, 7), MakeInt(kI32, -3)}, MakeInt(kI32, -2));
  Expect(ExprOp::kMod, {MakeInt(kI32, 7), MakeInt(kI32, 0)}, MakeInt(kI32, 0));
  Expect(ExprOp::kFmod, {MakeInt(kI32, -7), MakeInt(kI32, 3)}, MakeInt(kI32, -1));
  Expect(ExprOp::kFmod, {MakeInt(kI64, INT64_MIN), MakeInt(kI64, -1)}, MakeInt(kI64, 0));
  Expect(ExprOp::kPow, {MakeInt(kI32, 3), MakeInt(kI32, 4)}, MakeInt(kI32, 81));
  Expect(ExprOp::kPow, {MakeInt(kI32, -1), MakeInt(kI32, -3)}, MakeInt(kI32, -1));
  Expect(ExprOp::kPow, {MakeInt(kI32, 2), MakeInt(kI32, -1)}, MakeInt(kI32, 0));
  Expect(ExprOp::kShl, {MakeInt(kU8, 3), MakeInt(kU8, 7)}, MakeInt(kU8, 128));
  Expect(ExprOp::kShl, {MakeInt(kU64, 1), MakeInt(kU64, 64)}, MakeInt(kU64, 0));
  Expect(ExprOp::kShr, {MakeInt(kU64, -1), MakeInt(kU64, 63)}, MakeInt(kU64, 1));
  Expect(ExprOp::kShr, {MakeInt(kI8, -100), MakeInt(kI8, 9)}, MakeInt(kI8, -1));
  Expect(ExprOp::kLt, {MakeInt(kU64, 1), MakeInt(kU64, -1)}, MakeInt(kBool, 1));
  Expect(ExprOp::kLt, {MakeInt(kI64, 1), MakeInt(kI64, -1)}, MakeInt(kBool, 0));
  Expect(ExprOp::kNot, {MakeInt(kI32, 5)}, MakeInt(kI32, -6));
}

TEST(ScalarEval, BoolsAreZeroOrOne) {
  StoredValue seven{kBool, {7}};  // any byte but 0 is true
  Expect(ExprOp::kNot, {seven}, MakeInt(kBool, 0));
  Expect(ExprOp::kAnd, {seven, MakeInt(kBool, 1)}, MakeInt(kBool, 1));
  Expect(ExprOp::kXor, {seven, MakeInt(kBool, 1)}, MakeInt(kBool, 0));
  Expect(ExprOp::kMax, {seven, MakeInt(kBool, 0)}, MakeInt(kBool, 1));
  Expect(ExprOp::kCast, {seven}, Make(kF32, 1));
  Expect(ExprOp::kSelect, {seven, Make(kF32, 2), Make(kF32, 3)}, Make(kF32, 2));
}

TEST(ScalarEval, FloatSpecialValues) {
  for (DType d : {kF32, kF64}) {
    for (ExprOp op : {ExprOp::kMin, ExprOp::kMax}) {
      Expect(op, {Make(d, kNan), Make(d, 1)}, Make(d, kNan));
      Expect(op, {Make(d, 1), Make(d, kNan)}, Make(d, kNan));
    }
    Expect(ExprOp::kSign, {Make(d, kNan)}, Make(d, kNan));
    Expect(ExprOp::kSign, {Make(d, -3)}, Make(d, -1));
    Expect(ExprOp::kRound, {Make(d, 2.5)}, Make(d, 2));
    Expect(ExprOp::kRound, {Make(d, -0.5)}, Make(d, 0));
    Expect(ExprOp::kMod, {Make(d, -7.5), Make(d, 2)}, Make(d, 0.5));
    Expect(ExprOp::kFmod, {Make(d, -7.5), Make(d, 2)}, Make(d, -1.5));
    Expect(ExprOp::kMod, {Make(d, 1), Make(d, 0)}, Make(d, kNan));
    Expect(ExprOp::kPow, {Make(d, -8), Make(d, 3)}, Make(d, -512));
    Expect(ExprOp::kPow, {Make(d, kNan), Make(d, 0)}, Make(d, 1));
    Expect(ExprOp::kPow, {Make(d, -8), Make(d, 0.5)}, Make(d, kNan));
    Expect(ExprOp::kSoftplus, {Make(d, 1000)}, Make(d, 1000));
    Expect(ExprOp::kSigmoid, {Make(d, -kInf)}, Make(d, 0));
    Expect(ExprOp::kSigmoid, {Make(d, kNan)}, Make(d, kNan));
    Expect(ExprOp::kTanh, {Make(d, kInf)}, Make(d, 1));
    Expect(ExprOp::kLog, {Make(d, -1)}, Make(d, kNan));
    Expect(ExprOp::kLog, {Make(d, 0)}, Make(d, -kInf));
    Expect(ExprOp::kIsNan, {Make(d, kNan)}, MakeInt(kBool, 1));
    Expect(ExprOp::kIsInf, {Make(d, -kInf)}, MakeInt(kBool, 1));
    Expect(ExprOp::kIsInf, {Make(d, kNan)}, MakeInt(kBool, 0));
    Expect(ExprOp::kLe, {Make(d, kNan), Make(d, kNan)}, MakeInt(kBool, 0));
  }
}

// One rounding: the product alone would round 2^-46 away.
TEST(ScalarEval, FmaRoundsOnce) {
  const double a = 1 + 0x1p-23;
  Expect(ExprOp::kFma, {Make(kF32, a), Make(kF32, a), Make(kF32, -(1 + 0x1p-22))},
         Make(kF32, 0x1p-46));
  const double b = 1 + 0x1p-52;
  Expect(ExprOp::kFma, {Make(kF64, b), Make(kF64, b), Make(kF64, -(1 + 0x1p-51))},
         Make(kF64, 0x1p-104));
}

TEST(ScalarEval, NarrowStorageRoundsToNearestEven) {
  Expect(ExprOp::kAdd, {Make(kF32, 1), Make(kF32, 0x1p-11)}, Make(DType::kF16, 1));
  Expect(ExprOp::kAdd, {Make(kF32, 1 + 0x1p-10), Make(kF32, 0x1p-11)},
         Make(DType::kF16, 1 + 0x1p-9));
  Expect(ExprOp::kAdd, {Make(kF32, 65519), Make(kF32, 0)}, Make(DType::kF16, 65504));
  Expect(ExprOp::kAdd, {Make(kF32, 65520), Make(kF32, 0)}, Make(DType::kF16, kInf));
  Expect(ExprOp::kAdd, {Make(DType::kF16, 0x1p-24), Make(DType::kF16, 0)},
         Make(DType::kF16, 0x1p-24));
  Expect(ExprOp::kAdd, {Make(kF32, 1), Make(kF32, 0x1p-8)}, Make(DType::kBF16, 1));
  Expect(ExprOp::kAdd, {Make(DType::kBF16, 3), Make(kF32, 0x1p-20)}, Make(DType::kBF16, 3));
}

// An expression with more live values than the scratch holds at full block size.
TEST(BlockEval, ManyLiveValues) {
  abi::ExprBuilder b;
  const uint16_t x = b.Input(0, kF64);
  std::vector<uint16_t> terms;
  for (int i = 0; i < 45; ++i) terms.push_back(b.Binary(ExprOp::kMul, x, b.Const(i + 2, kF64)));
  uint16_t sum = terms[0];
  for (size_t i = 1; i < terms.size() && b.node_count() < abi::kMaxExprNodes - 1; ++i) {
    sum = b.Binary(i % 2 == 0 ? ExprOp::kAdd : ExprOp::kSub, sum, terms[terms.size() - i]);
  }
  const abi::Expr expr = b.Finish({sum});
  ASSERT_TRUE(abi::ValidateExpr(expr, {kF64}, 0).ok());
  std::vector<double> in(1024), out(1024);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i) - 500;
  for (const NamedEval& eval : RunnableEvals()) {
    for (int64_t rows : {1, 4, 32}) {
      const int64_t cols = 1024 / rows;
      const BlockInput input{in.data(), cols, 1, kF64};
      const BlockOutput output{out.data(), cols, 1, kF64};
      eval.fn(expr, rows, cols, &input, &output, nullptr);
      for (size_t i = 0; i < in.size(); ++i) {
        const Scalar v = FloatScalar(in[i]);
        Scalar expected;
        EvalScalar(expr, &v, nullptr, &expected);
        ASSERT_EQ(out[i], expected.f) << eval.name << " element " << i;
      }
    }
  }
}

// More different expressions in turn than the plans that a thread keeps.
TEST(BlockEval, ManyExpressionsInTurn) {
  std::vector<abi::Expr> exprs;
  for (int i = 0; i < 11; ++i) {
    abi::ExprBuilder b;
    exprs.push_back(b.Finish({b.Binary(ExprOp::kAdd, b.Input(0, kF32), b.Const(i, kF32))}));
  }
  const float in[3] = {1, 2, 3};
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < exprs.size(); ++i) {
      for (const NamedEval& eval : RunnableEvals()) {
        float out[3] = {};
        const BlockInput input{in, 0, 1, kF32};
        const BlockOutput output{out, 0, 1, kF32};
        eval.fn(exprs[i], 1, 3, &input, &output, nullptr);
        ASSERT_EQ(out[2], 3.0f + static_cast<float>(i)) << eval.name;
      }
    }
  }
}

}  // namespace
}  // namespace aicf::cpu
