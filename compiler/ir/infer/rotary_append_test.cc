// The shape rule of rows that a cache takes in.
#include <gtest/gtest.h>

#include "compiler/ir/infer/testing.h"

namespace aicf::ir {
namespace {

// Operands by name, one of them of another type.
std::string AppendOperands(const std::string& changed = "", const std::string& as = "") {
  std::string text;
  const std::pair<const char*, const char*> operands[] = {
      {"k", "f32[2x3x2x10]"}, {"v", "bf16[2x3x2x10]"}, {"p", "i32[2x3x2]"}, {"a", "f16[5x8x2x10]"},
      {"b", "f32[5x8x2x10]"}, {"q", "f32[2x3x4x10]"},  {"c", "f32[2x3x4]"}, {"s", "f32[2x3x4]"}};
  for (const auto& [name, type] : operands) {
    text += StrCat("input %", name, ": ", changed == name ? as.c_str() : type, "\n");
  }
  return text;
}

std::string InferTurns(const std::string& changed = "", const std::string& as = "") {
  return testing::Infer(AppendOperands(changed, as),
                        "aicf.RotaryAppend(%k, %v, %p, %a, %b, %q, %c, %s)", 3);
}

TEST(InferRotaryAppend, TheCacheStaysAsItIsAndQueriesGetItsDType) {
  EXPECT_EQ(InferTurns(), "f16 5x8x2x10, f32 5x8x2x10, f16 2x3x4x10");
  EXPECT_EQ(InferTurns("a", "bf16[5x8x2x10]"), "bf16 5x8x2x10, f32 5x8x2x10, bf16 2x3x4x10");
}

TEST(InferRotaryAppend, OtherOperandsAreRefused) {
  const char* kOthers[][2] = {
      {"k", "f32[2x3x20]"},   {"k", "f64[2x3x2x10]"}, {"v", "f32[2x3x2x11]"},
      {"v", "i32[2x3x2x10]"}, {"p", "i64[2x3x2]"},    {"p", "i32[2x3x1]"},
      {"a", "f16[5x8x20]"},   {"a", "f64[5x8x2x10]"}, {"a", "f16[5x8x2x9]"},
      {"b", "f32[4x8x2x10]"}, {"b", "i32[5x8x2x10]"}, {"q", "f32[2x3x40]"},
      {"q", "f32[2x4x4x10]"}, {"q", "f64[2x3x4x10]"}, {"c", "f32[2x12]"},
      {"c", "f32[2x2x4]"},    {"s", "f32[2x3x3]"},    {"s", "i32[2x3x4]"}};
  for (const auto& [name, type] : kOthers) {
    const std::string found = InferTurns(name, type);
    EXPECT_NE(found.find("expected"), std::string::npos) << name << " " << type << ": " << found;
  }
  EXPECT_NE(InferTurns("c", "f32[2x3x6]").find("6 pairs in heads of 10"), std::string::npos);
  EXPECT_NE(InferTurns("c", "f32[2x3x0]").find("0 pairs"), std::string::npos);
  for (const char* call :
       {"aicf.RotaryAppend(%k, %v, %p, %a, %b)", "aicf.RotaryAppend(%k, %v, %p, %a, %b, %q)",
        "aicf.RotaryAppend(%k, %v, %p, %a, %b, %q, %c)"}) {
    const std::string found = testing::Infer(AppendOperands(), call, 3);
    EXPECT_NE(found.find("expected 5 without"), std::string::npos) << call << ": " << found;
  }
}

}  // namespace
}  // namespace aicf::ir
