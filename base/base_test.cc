#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/checked.h"
#include "base/dims.h"
#include "base/dtype.h"
#include "base/float16.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/scanner.h"
#include "base/status.h"
#include "base/utf8.h"

namespace aicf {
namespace {

TEST(Status, MapsEveryCodeToItsExitCode) {
  EXPECT_EQ(ExitCode(Code::kOk), 0);
  EXPECT_EQ(ExitCode(Code::kCheckFailed), 1);
  EXPECT_EQ(ExitCode(Code::kInvalidArgument), 2);
  EXPECT_EQ(ExitCode(Code::kBadModel), 3);
  EXPECT_EQ(ExitCode(Code::kUnsupported), 4);
  EXPECT_EQ(ExitCode(Code::kBadArtifact), 5);
  EXPECT_EQ(ExitCode(Code::kDevice), 6);
  EXPECT_EQ(ExitCode(Code::kResource), 7);
  EXPECT_EQ(ExitCode(Code::kIo), 8);
  EXPECT_EQ(ExitCode(Code::kInternal), 70);
}

TEST(Status, KeepsItsCodeWhenContextIsAdded) {
  const Status s = Error(Code::kBadModel, "node ", 3, " is odd").WithContext("m.onnx");
  EXPECT_EQ(s.ToString(), "bad-model: m.onnx: node 3 is odd");
  EXPECT_TRUE(OkStatus().WithContext("x").ok());
}

TEST(Status, NoNameMakesAMessageLong) {
  const std::string name(200'000, 'n');
  const Status s = Error(Code::kBadModel, "value ", name, " is odd").WithContext(name);
  EXPECT_LT(s.message().size(), 3000u);
  EXPECT_NE(s.message().find("n... (200000 bytes) is odd"), std::string::npos);
  EXPECT_EQ(StrCat(name).size(), name.size());
  // Between two characters.
  EXPECT_EQ(Abridge("a\xc3\xa9\xc3\xa9", 2), "a... (5 bytes)");
  EXPECT_EQ(Abridge("a\xc3\xa9\xc3\xa9", 3), "a\xc3\xa9... (5 bytes)");
  EXPECT_EQ(Abridge("a\xc3\xa9\xc3\xa9", 5), "a\xc3\xa9\xc3\xa9");
}

TEST(Result, NeverHidesAnOkStatus) {
  const Result<int> r = OkStatus();
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), Code::kInternal);
}

TEST(Checked, OverflowSticks) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ((Checked(3) * 4 + 5 - 1).value(), 16);
  EXPECT_EQ((Checked(kMost) - kMost).value(), 0);
  EXPECT_FALSE((Checked(kMost) + 1).ok());
  EXPECT_FALSE((Checked(kMost) + 1 - 1).ok());
  EXPECT_FALSE((Checked(kLeast) - 1).ok());
  EXPECT_FALSE((Checked(kLeast) * -1 * 0).ok());
  EXPECT_FALSE(Checked(kMost) * 2 == Checked(kMost) * 2);
  EXPECT_TRUE(Checked(2) * 3 == 6);
  EXPECT_TRUE(Checked(5).In(5, 5));
  EXPECT_FALSE((Checked(kMost) + 1).In(kLeast, kMost));
}

TEST(Checked, QuotientsAreRoundedUp) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(CeilDiv(7, 2), 4);
  EXPECT_EQ(CeilDiv(8, 2), 4);
  EXPECT_EQ(CeilDiv(-3, 2), -1);
  EXPECT_EQ(CeilDiv(-4, 2), -2);
  EXPECT_EQ(CeilDiv(7, kMost), 1);
  EXPECT_EQ(CeilDiv(kMost, kMost), 1);
  EXPECT_EQ(CeilDiv(kMost, 2), kMost / 2 + 1);
}

TEST(Checked, RefusesWhatWraps) {
  EXPECT_TRUE(InRange(4, 4, 8));
  EXPECT_FALSE(InRange(5, 4, 8));
  EXPECT_FALSE(InRange(std::numeric_limits<uint64_t>::max(), 2, 8));
  uint64_t out = 0;
  EXPECT_TRUE(CheckedAlignUp(257, 256, &out));
  EXPECT_EQ(out, 512u);
  EXPECT_FALSE(CheckedAlignUp(std::numeric_limits<uint64_t>::max() - 3, 256, &out));
}

TEST(Dims, CountsWithoutWrapping) {
  EXPECT_EQ(ElementCount(Dims{}), 1);
  EXPECT_EQ(ElementCount(Dims{2, 0, 3}), 0);
  EXPECT_EQ(ElementCount(Dims{int64_t{1} << 62, 8}), std::nullopt);
  EXPECT_EQ(ElementCount(Dims{int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(ElementCount(Dims{0, int64_t{1} << 62, 8}), std::nullopt);
  EXPECT_EQ(ElementCount(Dims{-1, 2}), std::nullopt);
}

TEST(Dims, ParsesWhatItPrints) {
  for (const Dims& d : {Dims{}, Dims{1}, Dims{1, 3, 48, 320}, Dims{0, 7}}) {
    EXPECT_EQ(ParseShape(ToString(d)), d);
  }
  for (const char* bad : {"x", "1x", "x1", "-1x2", "1x-2", "1 x2", "0x1p", "1e3",
                          "9223372036854775808", "1x1x1x1x1x1x1x1x1", "1,5"}) {
    EXPECT_EQ(ParseShape(bad), std::nullopt) << bad;
  }
}

TEST(Dims, BroadcastsLikeNumPy) {
  EXPECT_EQ(BroadcastShapes({3, 1, 5}, {4, 1}), (Dims{3, 4, 5}));
  EXPECT_EQ(BroadcastShapes({0, 1}, {1, 3}), (Dims{0, 3}));
  EXPECT_EQ(BroadcastShapes({2}, {3}), std::nullopt);
}

TEST(DType, NamesParseBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType d = static_cast<DType>(i);
    EXPECT_EQ(ParseDType(DTypeName(d)), d);
    EXPECT_EQ(VisitStorage(d, [](auto v) { return static_cast<int64_t>(sizeof v); }),
              DTypeBytes(d));
  }
  EXPECT_EQ(ParseDType("f31"), std::nullopt);
}

TEST(Float16, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = F16ToF32(static_cast<uint16_t>(h));
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(F16ToF32(F32ToF16(f))));
    } else {
      ASSERT_EQ(F32ToF16(f), h);
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  // Between every two neighbouring finite halves: the middle goes to the even one.
  for (uint32_t h = 0; h < 0x7bff; ++h) {
    const float a = F16ToF32(static_cast<uint16_t>(h)), b = F16ToF32(static_cast<uint16_t>(h + 1));
    const float middle = a + (b - a) / 2;
    ASSERT_EQ(F32ToF16(middle), h % 2 == 0 ? h : h + 1);
    ASSERT_EQ(F32ToF16(std::nextafter(middle, 1e9f)), h + 1);
    ASSERT_EQ(F32ToF16(-std::nextafter(middle, -1.0f)), 0x8000u | h);
  }
  EXPECT_EQ(F32ToF16(65519.0f), 0x7bffu);
  EXPECT_EQ(F32ToF16(65520.0f), 0x7c00u);
  EXPECT_EQ(F32ToF16(1e30f), 0x7c00u);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(F32ToBF16(1.0f), 0x3f80u);
  EXPECT_EQ(F32ToBF16(std::bit_cast<float>(0x3f808000u)), 0x3f80u);
  EXPECT_EQ(F32ToBF16(std::bit_cast<float>(0x3f818000u)), 0x3f82u);
  EXPECT_TRUE(std::isnan(BF16ToF32(F32ToBF16(std::nanf("")))));
  EXPECT_EQ(F32ToBF16(3.4e38f), 0x7f80u);
}

TEST(Hash, NamesContent) {
  EXPECT_EQ(ToHex(HashText("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(ToHex({0x0123456789abcdef, 0xf9e8d7c6b5a40312}), "f9e8d7c6b5a403120123456789abcdef");
  EXPECT_NE(HashText("a"), HashText("b"));
}

TEST(Scanner, QuotesParseBack) {
  const std::string raw("a\"\\\n\t\x01\xff\x1b[31m\xc3\xa9", 15);
  const std::string quoted = Quote(raw);
  for (char c : quoted) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  Scanner in(quoted);
  const Result<std::string> back = in.Quoted();
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, raw);
}

TEST(Scanner, DoublesParseBackToTheSameBits) {
  for (double v : {0.0, -0.0, 1.0, -3.0, 0.1, 1e300, 5e-324, 0x1.fffffep+127,
                   std::numeric_limits<double>::infinity()}) {
    const std::string text = FormatDouble(v);
    Scanner in(text);
    const Result<double> back = in.Double();
    ASSERT_TRUE(back.ok()) << text;
    EXPECT_EQ(std::bit_cast<uint64_t>(*back), std::bit_cast<uint64_t>(v)) << text;
  }
}

TEST(Scanner, ErrorsNameLineExpectedAndFound) {
  Scanner in("a\n  ;");
  ASSERT_TRUE(in.Word().ok());
  EXPECT_EQ(in.Int().status().message(), "line 2: expected an integer, found \";\"");
}

TEST(Log, GoesToTheSinkAndNowhereElse) {
  std::string seen;
  SetLogSink([&](LogLevel, std::string_view m) { seen += m; });
  Log(LogLevel::kWarning, "one");
  SetLogSink({});
  Log(LogLevel::kWarning, "two");
  EXPECT_EQ(seen, "one");
}

}  // namespace
}  // namespace aicf
