// Every rule of an expression, broken once.
#include <gtest/gtest.h>

#include "kernels/abi/problem.h"

namespace aicf::abi {
namespace {

// Inputs: 0 and 1 are f32, 2 is i32, 3 is bool. One axis.
std::string MessageOf(const Expr& e) {
  return ValidateExpr(e, {DType::kF32, DType::kF32, DType::kI32, DType::kBool}, 1).message();
}

std::string MessageOf(std::string_view nodes) {
  const Result<Expr> e = ParseExpr(StrCat("(", nodes, ") -> %0"));
  EXPECT_TRUE(e.ok()) << nodes << ": " << e.status().ToString();
  return e.ok() ? MessageOf(*e) : "";
}

TEST(ExprRules, ValidOnes) {
  for (std::string_view nodes :
       {"%0 = in 3 : bool; %1 = min %0 %0 : bool; %2 = not %0 : bool", "%0 = index 0 : i64",
        "%0 = in 2 : i32; %1 = shl %0 %0 : i32; %2 = lt %0 %0 : bool; %3 = and %0 %0 : i32",
        "%0 = in 0 : f32; %1 = isnan %0 : bool; %2 = select %1 %0 %0 : f32; %3 = roundf16 %0 : f32",
        "%0 = in 0 : f32; %1 = cast %0 : i64; %2 = fma %0 %0 %0 : f32"}) {
    EXPECT_EQ(MessageOf(nodes), "") << nodes;
  }
}

TEST(ExprRules, EachIsNeeded) {
  const struct {
    std::string_view sentence, nodes;
  } kFaults[] = {
      {"an input that does not exist", "%0 = in 4 : f32"},
      {"differs from its input's dtype", "%0 = in 2 : f32"},
      {"an axis outside the domain", "%0 = index 1 : i64"},
      {"an index must be i64", "%0 = index 0 : f32"},
      {"selects on a value not bool", "%0 = in 0 : f32; %1 = select %0 %0 %0 : f32"},
      {"selects between other dtypes",
       "%0 = in 3 : bool; %1 = in 2 : i32; %2 = select %0 %1 %1 : f32"},
      {"a value that is not a float", "%0 = in 2 : i32; %1 = isinf %0 : bool"},
      {"a predicate must be bool", "%0 = in 0 : f32; %1 = isnan %0 : f32"},
      {"%1", "%0 = in 2 : i32; %1 = roundf16 %0 : f32"},
      {"%1", "%0 = in 0 : f32; %1 = roundbf16 %0 : i32"},
      {"illegal dtype", "%0 = const 1 : f16"},
      {"refers to a later node", "%0 = neg %0 : f32"},
      {"arithmetic on bool", "%0 = in 3 : bool; %1 = add %0 %0 : bool"},
      {"a value that is not an integer", "%0 = in 0 : f32; %1 = shl %0 %0 : f32"},
      {"a value that is not an integer", "%0 = in 0 : f32; %1 = shr %0 %0 : f32"},
      {"operand dtypes differ", "%0 = in 0 : f32; %1 = in 2 : i32; %2 = add %0 %1 : f32"},
      {"a comparison must be bool", "%0 = in 0 : f32; %1 = lt %0 %0 : f32"},
      {"compares different dtypes", "%0 = in 0 : f32; %1 = in 2 : i32; %2 = lt %0 %1 : bool"},
      {"logical operator on a float", "%0 = in 0 : f32; %1 = and %0 %0 : f32"},
      {"operand dtypes differ", "%0 = in 3 : bool; %1 = in 2 : i32; %2 = and %0 %1 : bool"},
      {"needs a float dtype", "%0 = in 2 : i32; %1 = exp %0 : i32"},
      {"operand dtypes differ", "%0 = in 2 : i32; %1 = exp %0 : f32"},
  };
  for (const auto& fault : kFaults) {
    EXPECT_NE(MessageOf(fault.nodes).find(fault.sentence), std::string::npos)
        << fault.nodes << "\nfound: " << MessageOf(fault.nodes);
  }
}

TEST(ExprRules, WhatTextCannotSay) {
  const Expr valid = *ParseExpr("(%0 = in 0 : f32; %1 = neg %0 : f32) -> %1");
  ASSERT_EQ(MessageOf(valid), "");
  const auto broken = [&](void (*edit)(Expr&)) {
    Expr e = valid;
    edit(e);
    return MessageOf(e);
  };
  const auto op = [](Expr& e) { e.nodes[1].op = static_cast<ExprOp>(200); };
  EXPECT_NE(broken(op).find("unknown operator"), std::string::npos);
  const auto dtype = [](Expr& e) { e.nodes[1].dtype = static_cast<DType>(200); };
  EXPECT_NE(broken(dtype).find("illegal dtype"), std::string::npos);
  const auto arity = [](Expr& e) { e.nodes[1].args[1] = 1; };
  EXPECT_NE(broken(arity).find("beyond its arity"), std::string::npos);
  const auto none = [](Expr& e) { e.results.clear(); };
  EXPECT_NE(broken(none).find("0 results"), std::string::npos);
  const auto many = [](Expr& e) { e.results.assign(kMaxExprResults + 1, 1); };
  EXPECT_NE(broken(many).find("5 results"), std::string::npos);
  const auto nothing = [](Expr& e) { e.nodes.clear(); };
  EXPECT_NE(broken(nothing).find("results without nodes"), std::string::npos);
  const std::vector<DType> inputs(kMaxExprInputs + 1, DType::kF32);
  EXPECT_NE(ValidateExpr(valid, inputs, 1).message().find("13 inputs"), std::string::npos);
}

}  // namespace
}  // namespace aicf::abi
