// The shape rule of draws.
#include <gtest/gtest.h>

#include <tuple>

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
  return testing::Infer(declared, "aicf.Categorical(%x, %t, %k, %p, %m, %s, %c)", 2, 1);
}

TEST(InferCategorical, IdsAndWhetherTheyAreValidHaveARowEach) {
  EXPECT_EQ(InferDraws(Declared("f32[3x50]")), "i32 3, bool 3");
  EXPECT_EQ(InferDraws(Declared("bf16[3x1]")), "i32 3, bool 3");
  EXPECT_EQ(InferDraws(Declared("f16[3x50]", "c", "i32[3]")), "i32 3, bool 3");
}

// Draws that are stored in a table, too, at places %q in it.
TEST(InferCategorical, TheNextTableIsLikeTheTable) {
  const auto infer = [](const std::string& table, const std::string& places,
                        const std::string& operands, int outputs) {
    return testing::Infer(
        Declared("f32[3x50]") + "input %a: " + table + "\ninput %q: " + places + "\n",
        "aicf.Categorical(%x, %t, %k, %p, %m, %s, %c" + operands + ")", outputs, 3 - outputs);
  };
  EXPECT_EQ(infer("i32[7]", "i32[3]", ", %a, %q", 3), "i32 3, bool 3, i32 7");
  const std::tuple<const char*, const char*, const char*, int, const char*> others[] = {
      {"i64[7]", "i32[3]", ", %a, %q", 3, "the table is i64 7"},
      {"i32[7x1]", "i32[3]", ", %a, %q", 3, "the table is i32 7x1"},
      {"i32[7]", "i64[3]", ", %a, %q", 3, "input 8 is i64 3, expected i32 [3]"},
      {"i32[7]", "i32[7]", ", %a, %q", 3, "input 8 is i32 7, expected i32 [3]"},
      {"i32[7]", "i32[3]", ", %a", 3, "belong together"},
      {"i32[7]", "i32[3]", "", 3, "belong together"},
      {"i32[7]", "i32[3]", ", %a, %q", 2, "belong together"}};
  for (const auto& [table, places, operands, outputs, sentence] : others) {
    const std::string found = infer(table, places, operands, outputs);
    EXPECT_NE(found.find(sentence), std::string::npos) << sentence << ": " << found;
  }
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
