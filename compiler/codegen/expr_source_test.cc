#include "compiler/codegen/expr_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernels/cuda/embedded.h"

namespace aicf {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;

std::string Statements(const abi::Expr& expr) {
  return ExprStatements(
      expr, "", [](int k) { return StrCat("x", k); }, [](int a) { return StrCat("c", a); });
}

std::string DeviceText(std::string_view name) {
  for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) {
    if (s.name == name) return std::string(s.text);
  }
  return "";
}

TEST(ExprSource, WritesOneStatementPerNode) {
  ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  const uint16_t y = b.Binary(ExprOp::kMul, x, b.Const(1.5, DType::kF32));
  const abi::Expr expr = b.Finish({b.Unary(ExprOp::kSin, y)});
  EXPECT_EQ(Statements(expr),
            "const float t0 = x0;\n"
            "const float t1 = FromBits(0x3fc00000u);\n"
            "const float t2 = OpMul(t0, t1);\n"
            "const float t3 = OpSin(t2);\n");
  EXPECT_FALSE(UsesIndex(expr));
}

TEST(ExprSource, WritesSelectCastAndIndex) {
  ExprBuilder b;
  const uint16_t i = b.Index(2);
  const uint16_t less = b.Binary(ExprOp::kLt, i, b.ConstInt(-3, DType::kI64));
  const uint16_t f = b.Cast(i, DType::kF32);
  const abi::Expr expr = b.Finish({b.Select(less, f, b.Const(0, DType::kF32))});
  const std::string text = Statements(expr);
  EXPECT_NE(text.find("const i64 t0 = c2;"), std::string::npos) << text;
  EXPECT_NE(text.find("static_cast<i64>(0xfffffffffffffffdull)"), std::string::npos) << text;
  EXPECT_NE(text.find("OpCast<float>(t0)"), std::string::npos) << text;
  EXPECT_NE(text.find(" ? "), std::string::npos) << text;
  EXPECT_TRUE(UsesIndex(expr));
}

TEST(ExprSource, ConstantsKeepTheirBits) {
  auto text = [](double v, DType dtype) {
    ExprBuilder b;
    const abi::Expr e = b.Finish({b.Const(v, dtype)});
    return ConstantText(e.nodes[0]);
  };
  EXPECT_EQ(text(-0.0, DType::kF32), "FromBits(0x80000000u)");
  EXPECT_EQ(text(INFINITY, DType::kF32), "FromBits(0x7f800000u)");
  EXPECT_EQ(text(0.1, DType::kF64), "FromBits64(0x3fb999999999999aull)");
  EXPECT_EQ(text(1, DType::kBool), "true");
  EXPECT_EQ(text(200, DType::kU8), "static_cast<u8>(0xc8ull)");
}

TEST(ExprSource, EveryOperatorHasADeviceFunction) {
  const std::string ops = DeviceText("common/ops.cuh");
  ASSERT_FALSE(ops.empty());
  constexpr std::string_view kNames[] = {
#define AICF_EXPR(id, text, arity, cls, flops) #id,
#include "kernels/abi/expr_ops.def"
#undef AICF_EXPR
  };
  for (int i = 0; i < abi::kExprOpCount; ++i) {
    const auto op = static_cast<ExprOp>(i);
    if (op == ExprOp::kInput || op == ExprOp::kConst || op == ExprOp::kIndex ||
        op == ExprOp::kSelect) {
      continue;
    }
    const std::string name = StrCat("Op", kNames[i].substr(1), op == ExprOp::kCast ? "(" : "");
    const bool defined = ops.find(StrCat(" ", name, "(")) != std::string::npos ||
                         ops.find(StrCat("(", name, ",")) != std::string::npos ||
                         ops.find(StrCat(" ", name)) != std::string::npos;
    EXPECT_TRUE(defined) << name;
  }
}

// round(x / 0.5) + zero, clamped to the codes of `to`.
uint16_t Coded(ExprBuilder& b, uint16_t x, DType to, double zero) {
  const auto with = [&](ExprOp op, double by) { x = b.Binary(op, x, b.Const(by, DType::kF32)); };
  with(ExprOp::kDiv, 0.75);
  x = b.Unary(ExprOp::kRound, x);
  if (zero != 0) with(ExprOp::kAdd, zero);
  with(ExprOp::kMax, to == DType::kI8 ? -128 : 0);
  with(ExprOp::kMin, to == DType::kI8 ? 127 : 255);
  return b.Cast(x, to);
}

TEST(ExprSource, CodesAreBytesOfSums) {
  ExprBuilder b;
  const uint16_t code = Coded(b, b.Input(0, DType::kF32), DType::kI8, 3);
  const uint16_t number =
      b.Binary(ExprOp::kSub, b.Cast(code, DType::kF32), b.Const(3, DType::kF32));
  const std::string text = Statements(b.Finish({code, number}));
  // Times 0.75: -131, 124 and -3; 1.5 * 2^23 and the even part of the zero point, 2.
  EXPECT_NE(text.find("QuotientWholeSum<i8>(t0, FromBits(0xc2c48000u), FromBits(0x42ba0000u), "
                      "FromBits(0xc0100000u), t1, FromBits(0x3faaaaabu), FromBits(0x4b400002u))"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("CodeOf<i8>(t3, 1u)"), std::string::npos) << text;
  EXPECT_NE(text.find(" = t3 - FromBits(0x4b400002u);"), std::string::npos) << text;
  for (const char* plain : {"OpRound", "OpDiv", "OpMax", "OpMin", "OpAdd", "OpCast"}) {
    EXPECT_EQ(text.find(plain), std::string::npos) << plain << "\n" << text;
  }
}

// round(x) + zero, clamped to the codes of u8.
uint16_t CodedWithoutScale(ExprBuilder& b, uint16_t x, double zero) {
  const auto with = [&](ExprOp op, double by) { x = b.Binary(op, x, b.Const(by, DType::kF32)); };
  x = b.Unary(ExprOp::kRound, x);
  if (zero != 0) with(ExprOp::kAdd, zero);
  with(ExprOp::kMax, 0);
  with(ExprOp::kMin, 255);
  return b.Cast(x, DType::kU8);
}

TEST(ExprSource, CodesThatAreOnlyStoredAreRoundedWhenTheyArePacked) {
  ExprBuilder b;
  const std::string plain =
      Statements(b.Finish({CodedWithoutScale(b, b.Input(0, DType::kF32), 0)}));
  EXPECT_NE(plain.find("const RoundingCode<u8> t"), std::string::npos) << plain;
  EXPECT_NE(plain.find("= RoundingCode<u8>{t0};"), std::string::npos) << plain;
  ExprBuilder shifted;
  const std::string text =
      Statements(shifted.Finish({CodedWithoutScale(shifted, shifted.Input(0, DType::kF32), 5)}));
  // 1.5 * 2^23, and 5 less.
  EXPECT_NE(text.find("{(t0 + FromBits(0x4b400000u)) - FromBits(0x4b3ffffbu)}"), std::string::npos)
      << text;
  for (const char* left_out : {"OpRound", "OpAdd", "OpMax", "OpMin", "OpCast"}) {
    EXPECT_EQ(plain.find(left_out), std::string::npos) << left_out << "\n" << plain;
    EXPECT_EQ(text.find(left_out), std::string::npos) << left_out << "\n" << text;
  }
}

TEST(ExprSource, NumbersOfLoadedCodesAreBytesToo) {
  ExprBuilder b;
  const uint16_t x = b.Cast(b.Input(0, DType::kI8), DType::kF32);
  const std::string text =
      Statements(b.Finish({b.Binary(ExprOp::kSub, x, b.Const(-11, DType::kF32))}));
  EXPECT_NE(text.find("= WholeOf(x0, FromBits(0x4b000075u));"), std::string::npos) << text;
}

TEST(ExprSource, ValuesThatOthersReadKeepTheirOperators) {
  ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  const uint16_t code = Coded(b, x, DType::kU8, 0);
  const uint16_t whole =
      b.Unary(ExprOp::kRound, b.Binary(ExprOp::kDiv, x, b.Const(0.75, DType::kF32)));
  const std::string text = Statements(b.Finish({code, whole}));
  EXPECT_NE(text.find("OpRound"), std::string::npos) << text;
  EXPECT_NE(text.find("OpDiv"), std::string::npos) << text;
  EXPECT_EQ(text.find("WholeSum"), std::string::npos) << text;
}

TEST(ExprSource, TypeNames) {
  EXPECT_EQ(ComputeTypeName(DType::kF16), "float");
  EXPECT_EQ(StorageTypeName(DType::kF16), "f16");
  EXPECT_EQ(ComputeTypeName(DType::kBool), "bool");
  EXPECT_EQ(StorageTypeName(DType::kBool), "b8");
  EXPECT_EQ(ComputeTypeName(DType::kU16), "u16");
}

}  // namespace
}  // namespace aicf
