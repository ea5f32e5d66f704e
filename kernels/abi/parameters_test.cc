#include "kernels/abi/parameters.h"

#include <gtest/gtest.h>

namespace aicf::abi {
namespace {

TEST(Parameters, TextParsesBack) {
  const Parameters p = {{"tile_m", 128}, {"stages", -3}, {"x2", 1ll << 40}};
  EXPECT_EQ(ToString(p), "tile_m=128,stages=-3,x2=1099511627776");
  EXPECT_EQ(*ParseParameters(ToString(p)), p);
  EXPECT_TRUE(ParseParameters("")->empty());
  EXPECT_EQ(p["stages"], -3);
  EXPECT_EQ(p["absent"], 0);
  EXPECT_TRUE(p.Has("x2"));
  EXPECT_FALSE(p.Has("x"));
}

TEST(Parameters, EachOfManyNamesIsFound) {
  std::vector<Parameter> list;
  for (int64_t i = 0; i < 300; ++i) list.push_back({StrCat("p", i), i});
  const Parameters many(list);
  for (int64_t i = 0; i < 300; ++i) EXPECT_EQ(many[StrCat("p", i)], i);
  EXPECT_FALSE(many.Has("p300"));
  EXPECT_FALSE(many.Has(""));
  EXPECT_EQ((Parameters{{"twice", 1}, {"twice", 2}}["twice"]), 1);
}

TEST(Parameters, OtherTextIsRefused) {
  for (const char* text : {"tile", "=1", "Tile=1", "a=", "a=1.5", "a=1,", "a=1,a=2", "a =1", "1a=1",
                           "a=99999999999999999999", ",a=1"}) {
    EXPECT_EQ(ParseParameters(text).status().code(), Code::kInvalidArgument) << text;
  }
  EXPECT_NE(ParseParameters("tile").status().message().find("NAME=NUMBER"), std::string::npos);
  std::string many;
  for (size_t i = 0; i <= kMaxParameters; ++i) many += StrCat(i == 0 ? "" : ",", "p", i, "=0");
  EXPECT_FALSE(ParseParameters(many).ok());
  EXPECT_FALSE(ParseParameters(std::string(kMaxParameterName + 1, 'a') + "=1").ok());
}

TEST(Parameters, ASetHasExactlyTheNamesOfItsRanges) {
  constexpr ParameterRange kRanges[] = {{"threads", 32, 1024}, {"blocks", 1, 9}};
  EXPECT_EQ(CheckParameters({{"threads", 32}, {"blocks", 9}}, kRanges), "");
  EXPECT_EQ(CheckParameters({{"threads", 32}}, kRanges), "takes 2 parameters, here are 1");
  EXPECT_EQ(CheckParameters({{"blocks", 9}, {"threads", 32}}, kRanges),
            "takes parameter threads at place 1, here is blocks");
  EXPECT_EQ(CheckParameters({{"threads", 31}, {"blocks", 9}}, kRanges),
            "takes threads from 32 to 1024, here is 31");
  EXPECT_EQ(CheckParameters({{"threads", 32}, {"blocks", 10}}, kRanges),
            "takes blocks from 1 to 9, here is 10");
}

TEST(Parameters, SetsFromBeforeAKernelGainedOneAreCompleted) {
  constexpr ParameterRange kRanges[] = {
      {"threads", 32, 1024}, {"blocks", 1, 9, 1}, {"split", 0, 4, 2}};
  EXPECT_EQ(CheckParameters({{"threads", 32}}, kRanges), "");
  EXPECT_EQ(CheckParameters({{"threads", 32}, {"blocks", 2}}, kRanges), "");
  EXPECT_EQ(CheckParameters({}, kRanges), "takes 3 parameters, here are 0");
  EXPECT_EQ(CheckParameters({{"threads", 32}, {"split", 2}}, kRanges),
            "takes parameter blocks at place 2, here is split");
  EXPECT_EQ(Completed({{"threads", 32}}, kRanges),
            (Parameters{{"threads", 32}, {"blocks", 1}, {"split", 2}}));
  EXPECT_EQ(Completed({{"threads", 32}, {"blocks", 7}}, kRanges),
            (Parameters{{"threads", 32}, {"blocks", 7}, {"split", 2}}));
  const Parameters all = {{"threads", 32}, {"blocks", 7}, {"split", 4}}, first = {{"threads", 32}};
  EXPECT_EQ(&static_cast<const Parameters&>(WholeParameters(all, kRanges)), &all);
  EXPECT_EQ(WholeParameters(first, kRanges)["split"], 2);
  EXPECT_EQ(static_cast<const Parameters&>(WholeParameters(first, kRanges)),
            Completed(first, kRanges));
  EXPECT_EQ(Shortened({{"threads", 32}, {"blocks", 1}, {"split", 2}}, kRanges),
            (Parameters{{"threads", 32}}));
  EXPECT_EQ(Shortened({{"threads", 32}, {"blocks", 7}, {"split", 2}}, kRanges),
            (Parameters{{"threads", 32}, {"blocks", 7}}));
  EXPECT_EQ(Shortened({{"threads", 32}, {"blocks", 1}, {"split", 3}}, kRanges),
            (Parameters{{"threads", 32}, {"blocks", 1}, {"split", 3}}));
  EXPECT_EQ(Shortened({{"threads", 32}}, kRanges), (Parameters{{"threads", 32}}));
}

TEST(Parameters, ConstantsAreNamedAfterThem) {
  EXPECT_EQ(ConstantName("tile_m"), "kTileM");
  EXPECT_EQ(ConstantName("threads"), "kThreads");
  EXPECT_EQ(ConstantName("rows_per_block"), "kRowsPerBlock");
}

}  // namespace
}  // namespace aicf::abi
