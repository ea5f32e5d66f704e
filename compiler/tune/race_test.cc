#include "compiler/tune/race.h"

#include <gtest/gtest.h>

#include <numeric>

#include "compiler/costs/statistics.h"
#include "compiler/tune/testing.h"

namespace aicf::tune {
namespace {

struct Track {
  std::vector<double> us;
  std::vector<Runner> runners;
  std::vector<int> samples;
  double clock = 0;  ///< microseconds
  testing::Noise noise;
  double drift = 0;  ///< everything is slower by this share after each sample

  explicit Track(std::vector<double> true_us, uint64_t seed = 1)
      : us(std::move(true_us)), runners(us.size()), samples(us.size(), 0), noise(seed) {}

  RaceResult Run(double budget_us = 1e18, const RaceRules& rules = {}) {
    const auto sample = [&](size_t r) -> Result<double> {
      ++samples[r];
      const double slow = 1 + drift * std::accumulate(samples.begin(), samples.end(), 0);
      const double taken = noise.Next(us[r] * slow);
      clock += taken;
      return taken;
    };
    Result<RaceResult> result = Race(runners, rules, sample, [&] { return clock >= budget_us; });
    EXPECT_TRUE(result.ok());
    return *std::move(result);
  }
  static size_t Winner(const RaceResult& r) {
    size_t best = 0;
    for (size_t i = 1; i < r.laps.size(); ++i) {
      if (r.laps[i].median_us < r.laps[best].median_us) best = i;
    }
    return best;
  }
};

TEST(Statistics, MedianAndSpreadIgnoreAStraggler) {
  EXPECT_EQ(MedianOf({5}), 5);
  EXPECT_EQ(MedianOf({4, 1}), 2.5);
  EXPECT_EQ(MedianOf({9, 1, 2, 1000, 3}), 3);
  EXPECT_EQ(SpreadOf({10, 11, 9, 10, 500}), 1);
  EXPECT_EQ(SpreadOf({7, 7, 7}), 0);
}

TEST(Race, TheFastestIsFoundAmongNoise) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Track track({30, 22, 20, 25, 80, 400}, seed);
    const RaceResult result = track.Run();
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(Track::Winner(result), 2u) << "seed " << seed;
  }
}

TEST(Race, TheHopelessLeaveEarly) {
  Track track({20, 21, 60, 2000});
  const RaceResult result = track.Run();
  EXPECT_EQ(track.samples[3], 3);
  EXPECT_TRUE(result.laps[3].left);
  EXPECT_LE(track.samples[2], 5);
  EXPECT_GE(track.samples[0], 15);
  EXPECT_FALSE(result.laps[0].left);
  EXPECT_EQ(result.laps[3].count, 3);
  EXPECT_GT(result.laps[3].median_us, 1900);
}

TEST(Race, CloseOnesGetMoreRoundsThanClearOnes) {
  Track close({20, 20.2}), clear({20, 21.9});
  close.Run();
  clear.Run();
  EXPECT_EQ(close.samples[0], RaceRules().most_rounds);
  EXPECT_EQ(clear.samples[0], RaceRules().rounds);
}

TEST(Race, DriftHitsAllAlike) {
  // The clock slows down all the time; one after the other, the last would look slowest.
  Track track({24, 23, 20});
  track.drift = 0.02;
  EXPECT_EQ(Track::Winner(track.Run()), 2u);
}

TEST(Race, WhatRunsBesideDrivesNobodyOut) {
  Track track({20, 21, 5});
  track.runners[2].beside = true;
  const RaceResult result = track.Run();
  EXPECT_FALSE(result.laps[0].left);
  EXPECT_FALSE(result.laps[1].left);
  EXPECT_GE(result.laps[1].count, 15);
  Track slow({20, 21, 5000});
  slow.runners[2].beside = true;
  EXPECT_GE(slow.Run().laps[2].count, 15);
}

TEST(Race, TheTimeEndsIt) {
  Track track({100, 110, 120});
  const RaceResult result = track.Run(2000);
  EXPECT_FALSE(result.complete);
  // Asked before every sample: over by one sample at most, a straggler included.
  EXPECT_LT(track.clock, 2000 + 120 * 1.04 * 5 + 1);
  for (const Lap& lap : result.laps) EXPECT_GE(lap.count, 3);
}

TEST(Race, TooFewSamplesAreNoMeasurement) {
  Track track({100, 110, 120});
  const RaceResult result = track.Run(500);
  EXPECT_FALSE(result.complete);
  for (const Lap& lap : result.laps) EXPECT_EQ(lap.count, 0);
}

TEST(Race, AnErrorEndsIt) {
  int left = 5;
  const auto sample = [&](size_t) -> Result<double> {
    if (left-- == 0) return Status(Code::kDevice, "gone");
    return 1.0;
  };
  const auto result = Race(std::vector<Runner>(2), {}, sample, [] { return false; });
  EXPECT_EQ(result.status().code(), Code::kDevice);
}

TEST(Race, OneAloneAndNone) {
  Track one({20});
  EXPECT_EQ(one.Run().laps[0].count, RaceRules().rounds);
  Track none(std::vector<double>{});
  EXPECT_TRUE(none.Run().laps.empty());
}

TEST(WorthMeasuring, IsGenerousAndKeepsASecondOpinion) {
  using Indices = std::vector<size_t>;
  EXPECT_EQ(WorthMeasuring({}), Indices{});
  EXPECT_EQ(WorthMeasuring({10}), Indices{0});
  EXPECT_EQ(WorthMeasuring({1000, 1}), (Indices{0, 1}));
  EXPECT_EQ(WorthMeasuring({1000, 1, 900}), (Indices{1, 2}));
  EXPECT_EQ(WorthMeasuring({10, 65, 65.1, 20}), (Indices{0, 1, 3}));
}

}  // namespace
}  // namespace aicf::tune
