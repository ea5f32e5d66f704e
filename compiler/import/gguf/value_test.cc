// Metadata values of every type, and what they are taken for.
#include "compiler/import/gguf/value.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/import/gguf/testing.h"

namespace aicf::gguf {
namespace {

using namespace aicf::testing;  // NOLINT

// The value's bytes must outlive it, so a test keeps them.
Result<Value> ReadValue(uint32_t type, const std::string& bytes) {
  Cursor in(std::as_bytes(std::span(bytes)));
  AICF_ASSIGN_OR_RETURN(const Value value, Value::Read(type, in));
  if (in.left() == 0) return value;
  return Error(Code::kInternal, "not all bytes were read");
}

void ExpectValueRefused(uint32_t type, const std::string& bytes, const std::string& expected) {
  const auto value = ReadValue(type, bytes);
  ASSERT_FALSE(value.ok()) << expected;
  EXPECT_EQ(value.status().code(), Code::kBadModel);
  EXPECT_NE(value.status().message().find(expected), std::string::npos) << value.status().message();
}

template <class T>
void ExpectInteger(uint32_t type, T stored) {
  const std::string bytes = Raw(stored);
  const auto value = ReadValue(type, bytes);
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  const auto as_signed = value->As<int64_t>();
  const auto as_unsigned = value->As<uint32_t>();
  ASSERT_EQ(as_signed.ok(), std::in_range<int64_t>(stored)) << type;
  if (as_signed.ok()) {
    EXPECT_EQ(*as_signed, static_cast<int64_t>(stored));
  }
  ASSERT_EQ(as_unsigned.ok(), std::in_range<uint32_t>(stored)) << type;
  if (as_unsigned.ok()) {
    EXPECT_EQ(*as_unsigned, static_cast<uint32_t>(stored));
  }
}

template <class T>
void ExpectIntegers(uint32_t type) {
  for (T v : {T{0}, T{1}, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
    ExpectInteger<T>(type, v);
  }
}

TEST(GgufValue, IntegersKeepTheirValueWhereItFits) {
  ExpectIntegers<uint8_t>(0);
  ExpectIntegers<int8_t>(1);
  ExpectIntegers<uint16_t>(2);
  ExpectIntegers<int16_t>(3);
  ExpectIntegers<uint32_t>(4);
  ExpectIntegers<int32_t>(5);
  ExpectIntegers<uint64_t>(10);
  ExpectIntegers<int64_t>(11);
  const std::string bytes = Raw(int64_t{-3});
  EXPECT_EQ(ReadValue(11, bytes)->As<uint64_t>().status().message(),
            "is -3, which does not fit an unsigned integer of 64 bits");
}

TEST(GgufValue, FloatsBoolsAndStrings) {
  const std::string f32 = Raw(1.5f), f64 = Raw(2.5), yes("\1", 1), text = GgufString("t\0\xff");
  EXPECT_EQ(*ReadValue(6, f32)->As<float>(), 1.5f);
  EXPECT_EQ(*ReadValue(12, f64)->As<float>(), 2.5f);
  EXPECT_TRUE(*ReadValue(7, yes)->As<bool>());
  EXPECT_EQ(*ReadValue(8, text)->As<std::string_view>(), "t\0\xff");
  EXPECT_EQ(ReadValue(6, f32)->As<int32_t>().status().message(),
            "is a 32-bit float, expected an integer");
  EXPECT_EQ(ReadValue(7, yes)->As<uint64_t>().status().message(), "is a bool, expected an integer");
  EXPECT_FALSE(ReadValue(8, text)->As<float>().ok());
  EXPECT_FALSE(ReadValue(6, f32)->As<bool>().ok());
  EXPECT_FALSE(ReadValue(6, f32)->As<std::vector<float>>().ok());
}

TEST(GgufValue, Arrays) {
  const std::string ints = GgufArray(5, 3, Raw(1) + Raw(-2) + Raw(3));
  EXPECT_EQ(*ReadValue(9, ints)->As<std::vector<int64_t>>(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(ReadValue(9, ints)->As<std::vector<uint32_t>>().status().message(),
            "element 1: is -2, which does not fit an unsigned integer of 32 bits");
  EXPECT_EQ(ReadValue(9, ints)->As<int32_t>().status().message(),
            "is an array, expected an integer");
  const std::string texts = GgufArray(8, 2, GgufString("a") + GgufString(""));
  const auto value = ReadValue(9, texts);
  EXPECT_EQ(value->count(), 2u);
  EXPECT_EQ(value->element_type(), ValueType::kString);
  EXPECT_EQ(*value->As<std::vector<std::string_view>>(), (std::vector<std::string_view>{"a", ""}));
  EXPECT_FALSE(value->As<std::vector<Value>>().ok());
  const std::string none = GgufArray(6, 0, "");
  EXPECT_TRUE(ReadValue(9, none)->As<std::vector<float>>()->empty());
}

TEST(GgufValue, ArraysOfArrays) {
  const std::string rows =
      GgufArray(9, 2, GgufArray(0, 2, "ab") + GgufArray(8, 1, GgufString("c")));
  const auto value = ReadValue(9, rows);
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  const auto elements = value->As<std::vector<Value>>();
  ASSERT_EQ(elements->size(), 2u);
  EXPECT_EQ(*(*elements)[0].As<std::vector<uint32_t>>(), (std::vector<uint32_t>{'a', 'b'}));
  EXPECT_EQ(*(*elements)[1].As<std::vector<std::string_view>>(),
            (std::vector<std::string_view>{"c"}));
  EXPECT_FALSE(value->As<std::vector<uint32_t>>().ok());
}

TEST(GgufValue, C4Refusals) {
  ExpectValueRefused(13, "x", "value type 13 is unknown");
  ExpectValueRefused(~0u, "x", "is unknown");
  ExpectValueRefused(7, "\2", "a bool is 2, expected 0 or 1");
  ExpectValueRefused(9, GgufArray(7, 2, "\1\3"), "a bool is 3");
  ExpectValueRefused(9, GgufArray(4, uint64_t{1} << 62, ""), "larger than any file");
  ExpectValueRefused(9, GgufArray(4, uint64_t{1} << 61, "x"), "the file ends after 1");
  ExpectValueRefused(9, GgufArray(8, ~uint64_t{0}, GgufString("a")), "the file ends after");
  ExpectValueRefused(9, GgufArray(77, 1, "x"), "value type 77 is unknown");
  ExpectValueRefused(8, Raw(~uint64_t{0}) + "abc", "the file ends after 3");
  ExpectValueRefused(4, "abc", "a 32-bit unsigned integer at offset 0 takes 4 bytes");
}

TEST(GgufValue, NestingEndsAtItsLimit) {
  std::string nested = GgufArray(0, 1, "x");
  for (int depth = 1; depth < kMaxArrayDepth; ++depth) nested = GgufArray(9, 1, nested);
  EXPECT_TRUE(ReadValue(9, nested).ok());
  ExpectValueRefused(9, GgufArray(9, 1, nested), "nested more than 4 deep");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += GgufArray(9, 1, "");
  ExpectValueRefused(9, deep, "nested more than 4 deep");
}

TEST(GgufValue, EveryTruncationIsRefused) {
  const std::string whole =
      GgufArray(9, 2, GgufArray(8, 1, GgufString("ab")) + GgufArray(6, 0, ""));
  ASSERT_TRUE(ReadValue(9, whole).ok());
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(ReadValue(9, whole.substr(0, n)).ok()) << n;
}

}  // namespace
}  // namespace aicf::gguf
