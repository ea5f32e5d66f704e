// GPT-2's alphabet: every byte has a letter of its own, and what is known of some of them.
#include "schema/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

#include "base/utf8.h"

namespace aicf::schema {
namespace {

TEST(ByteAlphabet, EveryByteHasAVisibleLetterOfItsOwn) {
  std::set<std::string> letters;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    const std::string letter = ToByteAlphabet(one);
    EXPECT_EQ(Utf8Length(letter), letter.size()) << byte;
    EXPECT_EQ(FromByteAlphabet(letter), one) << byte;
    if (byte > 0x20 && byte < 0x7f) {
      EXPECT_EQ(letter, one);
    } else {
      EXPECT_EQ(letter.size(), 2u) << byte;
    }
    letters.insert(letter);
  }
  EXPECT_EQ(letters.size(), 256u);
}

TEST(ByteAlphabet, KnownSpellings) {
  EXPECT_EQ(ToByteAlphabet(" the\n"), "\u0120the\u010a");
  EXPECT_EQ(ToByteAlphabet(std::string("\0\x7f\xad\xff", 4)), "\u0100\u0121\u0143\u00ff");
  EXPECT_EQ(FromByteAlphabet("\u00c3\u00a9"), "\u00e9");  // two bytes of one letter
  EXPECT_EQ(FromByteAlphabet(""), "");
}

TEST(ByteAlphabet, OtherLettersAreNone) {
  for (const char* other : {" ", "\n", "\u00ad", "\u0144", "\u0200", "\u8a9e", "\xff", "a\xc3"}) {
    EXPECT_EQ(FromByteAlphabet(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace aicf::schema
