#include "base/text_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "base/scanner.h"
#include "base/status.h"

namespace aicf {
namespace {

TEST(TextWriter, WritesWhatStrCatGives) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const std::string name = "a name that is longer than eight bytes";
  TextWriter out;
  out.Write("x=", 0, ' ', 9, ' ', 10, ' ', -1, ' ', kLeast, ' ', kMost, ' ', name, "");
  EXPECT_EQ(out.ToString(),
            StrCat("x=", 0, ' ', 9, ' ', 10, ' ', -1, ' ', kLeast, ' ', kMost, ' ', name, ""));
  EXPECT_EQ(out.text(), out.ToString());
  EXPECT_EQ(TextWriter().ToString(), "");
}

TEST(TextWriter, TextsOfEveryLength) {
  const std::string all = "abcdefghijklmnopqrstuvwxyz0123456789";
  TextWriter out;
  std::string expected;
  for (size_t length = 0; length <= all.size(); ++length) {
    const std::string_view text = std::string_view(all).substr(all.size() - length);
    out.Write(text, '|', text);
    expected += StrCat(text, '|', text);
  }
  EXPECT_EQ(out.ToString(), expected);
}

TEST(TextWriter, NumbersOfEveryLength) {
  for (int64_t n = -11000; n < 11000; ++n) {
    TextWriter out;
    out.Write(n, ' ', static_cast<uint64_t>(n), ' ', static_cast<int32_t>(n));
    ASSERT_EQ(out.ToString(), StrCat(n, ' ', static_cast<uint64_t>(n), ' ', n));
  }
}

TEST(TextWriter, GrowsAtEveryLength) {
  for (size_t start = 2000; start < 2100; ++start) {
    TextWriter out;
    std::string expected(start, 'a');
    out.Write(expected);
    for (int i = 0; i < 500; ++i) {
      const int64_t number = int64_t{1} << (i % 62);
      out.Write(number, ',', "some text");
      expected += StrCat(number, ',', "some text");
    }
    ASSERT_EQ(out.ToString(), expected) << start;
  }
}

TEST(TextWriter, Lists) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const Dims lists[] = {{}, {1}, {0, -1, 10}, Dims::Filled(kMaxRank, kLeast)};
  for (const Dims& list : lists) {
    std::string expected = "[";
    for (int i = 0; i < list.rank(); ++i) expected += StrCat(i > 0 ? ", " : "", list[i]);
    EXPECT_EQ(ToListString(list), expected + "]");
    TextWriter full;
    full.Write(std::string(2040, ' '));
    full.Write(AsList{list});
    EXPECT_EQ(full.text().substr(2040), expected + "]");
  }
  EXPECT_EQ(ToString(Dims{}), "scalar");
  EXPECT_EQ(ToString(Dims{1, 2, 33}), "1x2x33");
}

// Also where the block ends with them: what lies beyond a rank is copied, and is no part of the
// text.
TEST(TextWriter, Bytes) {
  const double reals[] = {1, -0.0};
  Dims shortened = Dims::Filled(kMaxRank, 7);
  while (shortened.rank() > 1) shortened.erase(1);
  for (size_t start = 1800; start < 2050; ++start) {
    TextWriter out;
    out.Write(std::string(start, ' '));
    out.Write(AsBytes{uint16_t{0x4142}}, DimsAsBytes{shortened}, 'x');
    out.Write(ListAsBytes<double>(reals), ListAsBytes<double>({}));
    out.Write(DimsAsBytes{{}});
    const std::string expected = std::string(start, ' ') + "BA" + "\1" + "\7" +
                                 std::string(7, '\0') + "x" + "\2" + std::string(3 + 6, '\0') +
                                 "\xf0\x3f" + std::string(7, '\0') + "\x80" +
                                 std::string(4 + 1, '\0');
    ASSERT_EQ(out.ToString(), expected) << start;
  }
}

// Symbols in artifacts hash these texts.
TEST(FormatDouble, IsThatOfPrintf) {
  const auto expected = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%a", value);
    return std::string(text);
  };
  std::mt19937_64 random(1);
  int hexadecimal = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t bits = i % 2 == 0 ? random() : random() & ~uint64_t{0xffffffff};
    const auto value = std::bit_cast<double>(bits);
    const std::string text = FormatDouble(value);
    if (text.find('x') == std::string::npos && text.find('n') == std::string::npos) continue;
    ++hexadecimal;
    ASSERT_EQ(text, expected(value));
  }
  EXPECT_GT(hexadecimal, 100'000);
  const double special[] = {-0.0,
                            0.1,
                            -1.5,
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::min(),
                            std::numeric_limits<double>::max(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  for (double value : special) EXPECT_EQ(FormatDouble(value), expected(value));
  EXPECT_EQ(FormatDouble(0), "0");
  EXPECT_EQ(FormatDouble(-3), "-3");
  EXPECT_EQ(FormatDouble(0x1p53 - 1), "9007199254740991");
  EXPECT_EQ(FormatDouble(0x1p53), "0x1p+53");
}

}  // namespace
}  // namespace aicf
