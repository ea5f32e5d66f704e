// The shape rule of draws.
#include <gtest/gtest.h>

#include "compiler/ir/infer/testing.h"

namespace aicf::ir {
namespace {

std::string Declared(const std::string& logits, const std::string& changed = "",
                     const std::string& as = "") {
  std::string text = "input %x: " + logits + "\n";
  const std::pair<const char*, const char*> operands[] = {{"t", "f32[3]"}, {"k", "i32[3]"},
                                                          {"p", "f32[3]"}, {"m", "f32[3]"},
                                                          {"s", "i64[3]"}, {"c", "i64[3]"}};
  for (const auto& [name, type] : operands) {
    text += StrCat("input %", name, ": ", changed == name ? as.c_str() : type, "\n");
  }
  return text;
}

std::string InferDraws(const std::string& declared) {
  return testing::Infer(declared, "aicf.Categorical(%x, %t, %k, %p, %m, %s, %c)", 2);
}

TEST(InferCategorical, IdsAndWhetherTheyAreValidHaveARowEach) {
  EXPECT_EQ(InferDraws(Declared("f32[3x50]")), "i32 3, bool 3");
  EXPECT_EQ(InferDraws(Declared("bf16[3x1]")), "i32 3, bool 3");
  EXPECT_EQ(InferDraws(Declared("f16[3x50]", "c", "i32[3]")), "i32 3, bool 3");
}

TEST(InferCategorical, OtherOperandsAreRefused) {
  const std::pair<const char*, const char*> logits[] = {
      {"f64[3x50]", "logits are f64 3x50"},
      {"f32[3]", "logits are f32 3"},
      {"f32[1x3x50]", "logits are f32 1x3x50"},
      {"f32[3x0]", "logits are f32 3x0"},
      {"f32[3x2147483648]", "logits are f32 3x2147483648"},
      {"i32[3x50]", "input 0 is i32"}};
  for (const auto& [type, sentence] : logits) {
    EXPECT_NE(InferDraws(Declared(type)).find(sentence), std::string::npos)
        << type << ": " << InferDraws(Declared(type));
  }
  const std::pair<const char*, const char*> others[] = {
      {"t", "f16[3]"}, {"t", "f32[2]"},  {"k", "i64[3]"}, {"k", "i32[1]"},
      {"p", "i32[3]"}, {"p", "f32[]"},   {"m", "f16[3]"}, {"m", "f32[3x1]"},
      {"s", "i32[3]"}, {"s", "i64[50]"}, {"c", "f32[3]"}, {"c", "i32[4]"}};
  for (const auto& [name, type] : others) {
    const std::string found = InferDraws(Declared("f32[3x50]", name, type));
    EXPECT_NE(found.find("expected"), std::string::npos) << name << " " << type << ": " << found;
  }
}

}  // namespace
}  // namespace aicf::ir
