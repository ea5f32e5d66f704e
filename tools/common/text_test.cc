#include "tools/common/text.h"

#include <gtest/gtest.h>

namespace aicf::tools {
namespace {

TEST(Text, EscapeKeepsTextAndShowsControlBytes) {
  EXPECT_EQ(Escape("conv_1/Ünïcode 层 😀"), "conv_1/Ünïcode 层 😀");
  EXPECT_EQ(Escape("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(Escape("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(Escape(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Escape("\xc2\x9b"
                   "31m"),
            "\\xc2\\x9b31m");                            // C1 control: CSI in one code point
  EXPECT_EQ(Escape("\xff\xfe"), "\\xff\\xfe");           // not UTF-8
  EXPECT_EQ(Escape("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Escape("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(Escape("\xe5\xb1"), "\\xe5\\xb1");           // cut short
}

TEST(Text, EscapedTextHasNoControlBytesWhateverCameIn) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string in = {static_cast<char>(a), static_cast<char>(b)};
      for (const char c : Escape(in)) {
        const auto byte = static_cast<unsigned char>(c);
        EXPECT_TRUE(byte >= 0x20 && byte != 0x7f) << a << " " << b;
      }
    }
  }
}

TEST(Text, Numbers) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(1234.5678), "1235");
  EXPECT_EQ(FormatNumber(12.345678), "12.35");
  EXPECT_EQ(FormatNumber(0.012344), "0.01234");
  EXPECT_EQ(FormatNumber(1e-9), "1.000e-09");
  EXPECT_EQ(FormatNumber(-2.5), "-2.500");
  EXPECT_EQ(FormatNumber(999e12), "999000000000000");
  EXPECT_EQ(FormatNumber(1e15), "1.000e+15");
  EXPECT_EQ(FormatNumber(-1e300), "-1.000e+300");
  EXPECT_EQ(FormatNumber(1.0 / 0.0), "inf");
}

TEST(Text, Bytes) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(UINT64_MAX), "16.00 EiB");
}

TEST(Text, SplitJoinShorten) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(Join({"a", "b"}, " + "), "a + b");
  EXPECT_EQ(Shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(Shorten("abcdefg", 6), "abc...");
  EXPECT_EQ(Shorten("äöüäöüä", 6), "äöü...");
}

TEST(Text, TableAlignsAndEndsWithoutBlanks) {
  Table table({{"n", Table::Align::kRight}, {"name"}, {"note"}});
  table.Add({"1", "größe", "x"});
  table.Add({"100", "b", ""});
  EXPECT_EQ(table.ToString(" "),
            "   n  name   note\n"
            " ---  -----  ----\n"
            "   1  größe  x\n"
            " 100  b\n");
}

TEST(Text, ShortListsEndWhereOneMoreWouldBeAsShort) {
  EXPECT_EQ(ShortList({"a", "b", "c", "d"}, 3), "a, b, c, d");
  EXPECT_EQ(ShortList({"a", "b", "c", "d", "e"}, 3), "a, b, c and 2 more");
  EXPECT_EQ(ShortList({"\x1b[2J"}), "\\x1b[2J");
  EXPECT_EQ(ShortList({}), "");
}

}  // namespace
}  // namespace aicf::tools
