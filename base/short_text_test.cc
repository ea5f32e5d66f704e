#include "base/short_text.h"

#include <gtest/gtest.h>

#include <string>

namespace aicf {
namespace {

// Each text has a buffer of its own of just its size: AddressSanitizer sees what reads beyond.
TEST(ShortText, CopiesEveryLength) {
  for (size_t bytes = 0; bytes < 40; ++bytes) {
    std::string from(bytes, ' '), to(bytes + 2, '|');
    for (size_t i = 0; i < bytes; ++i) from[i] = static_cast<char>('a' + i);
    CopyText(to.data() + 1, from);
    EXPECT_EQ(to, "|" + from + "|");
  }
}

TEST(ShortText, ComparesEveryCharacter) {
  for (size_t bytes = 0; bytes < 40; ++bytes) {
    const std::string a(bytes, 'a');
    EXPECT_TRUE(SameText(a, std::string(bytes, 'a')));
    EXPECT_FALSE(SameText(a, a + "a"));
    for (size_t i = 0; i < bytes; ++i) {
      std::string b = a;
      b[i] = 'b';
      EXPECT_FALSE(SameText(a, b)) << bytes << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace aicf
