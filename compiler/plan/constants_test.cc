// Constants kept beside the plan's weights: written and read, and hostile bytes refused.
#include <gtest/gtest.h>

#include "compiler/plan/weights.h"

namespace aicf {
namespace {

std::vector<std::byte> Bytes(size_t count, unsigned char first) {
  std::vector<std::byte> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(first + i);
  return out;
}

TEST(Constants, SurviveWritingAndReading) {
  const std::vector<std::byte> a = Bytes(70, 1), b = Bytes(3, 200), none;
  const auto section = EncodeConstants(
      {{HashBytes(a), a}, {HashBytes(b), b}, {HashBytes(a), a}, {HashBytes(none), none}});
  const Result<std::vector<NamedConstant>> read = DecodeConstants(section);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 3u) << "equal ones are there once";
  for (const std::vector<std::byte>* want : {&a, &b, &none}) {
    bool found = false;
    for (const NamedConstant& c : *read) {
      found |= c.hash == HashBytes(*want) && std::ranges::equal(c.bytes, *want);
    }
    EXPECT_TRUE(found) << want->size();
  }
  EXPECT_TRUE(DecodeConstants({})->empty());
}

TEST(Constants, EveryTruncationIsRefused) {
  const std::vector<std::byte> a = Bytes(70, 1), b = Bytes(3, 200);
  const auto section = EncodeConstants({{HashBytes(a), a}, {HashBytes(b), b}});
  for (size_t n = 1; n < section.size(); ++n) {
    const auto cut = std::span(section).first(n);
    EXPECT_EQ(DecodeConstants(cut).status().code(), Code::kBadArtifact) << n;
  }
}

TEST(Constants, FlippedBitsAreRefusedOrMeanTheSame) {
  const std::vector<std::byte> a = Bytes(70, 1);
  const auto section = EncodeConstants({{HashBytes(a), a}});
  for (size_t bit = 0; bit < section.size() * 8; ++bit) {
    std::vector<std::byte> bad = section;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    const Result<std::vector<NamedConstant>> read = DecodeConstants(bad);
    if (!read.ok()) continue;
    // Only the count of zero and padding between the table and the data are free.
    for (const NamedConstant& c : *read) EXPECT_TRUE(std::ranges::equal(c.bytes, a)) << bit;
  }
}

}  // namespace
}  // namespace aicf
