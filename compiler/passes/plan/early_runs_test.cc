// Which runs of steps start long before the steps in front of them have run.
#include "compiler/passes/plan/early_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace aicf {
namespace {

constexpr SideRules kEarlyRules = {132, 4, 3, /*long_us=*/5};

StepLoad Load(double us, std::vector<uint32_t> needs, int64_t blocks = 40) {
  return {us, blocks, std::move(needs), blocks, false};
}

// A chain (0 to 3) whose third step fills the device, then two steps that need nothing (4, 5), and
// what reads both (6).
std::vector<StepLoad> ChainAndRun() {
  return {Load(5, {}), Load(5, {0}), Load(20, {1}, 132),  Load(5, {2}),
          Load(2, {}), Load(4, {4}), Load(5, {3, 5}, 132)};
}

TEST(EarlyRuns, BeginsBesideTheFirstStepsWithRoom) {
  const auto found = FindEarlyRuns(ChainAndRun(), {}, kEarlyRules);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].start, 4u);
  EXPECT_EQ(found[0].end, 6u);
  EXPECT_EQ(found[0].host, 0u);
  EXPECT_EQ(found[0].stream, 1u);
  EXPECT_EQ(found[0].saves_us, 6);
}

TEST(EarlyRuns, BeginsAfterWhatItNeeds) {
  std::vector<StepLoad> steps = ChainAndRun();
  steps[5].needs = {0, 4};
  const auto found = FindEarlyRuns(steps, {}, kEarlyRules);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].host, 1u);
  EXPECT_EQ(found[0].saves_us, 5) << "step 2 has no room";
}

TEST(EarlyRuns, WhereItDoesNotPay) {
  const auto none = [](const std::vector<StepLoad>& steps, SideRules rules = kEarlyRules) {
    return FindEarlyRuns(steps, {}, rules).empty();
  };
  std::vector<StepLoad> steps = ChainAndRun();
  steps[4].needs = {3};
  EXPECT_TRUE(none(steps)) << "it needs the step in front of it";
  steps = ChainAndRun();
  steps[4].us = steps[5].us = 1.5;
  EXPECT_TRUE(none(steps)) << "it saves what it costs";
  steps = ChainAndRun();
  steps[4].stays = true;
  steps[5].us = 3;
  EXPECT_TRUE(none(steps)) << "its first step stays, the rest is short";
  steps = ChainAndRun();
  for (const int s : {0, 1, 3}) steps[s].us = 4;
  steps[5].us = 9;
  EXPECT_TRUE(none(steps)) << "nothing but starts beside it";
  steps = ChainAndRun();
  for (const int s : {0, 1, 3}) steps[s].multiprocessors = 100;
  EXPECT_TRUE(none(steps)) << "no room beside them";
  steps = ChainAndRun();
  for (const int s : {0, 1, 3}) steps[s].blocks = 133;
  EXPECT_TRUE(none(steps)) << "every multiprocessor has work already";
  steps = ChainAndRun();
  steps[5].blocks = steps[5].multiprocessors = 0;
  steps[4].us = 3;
  EXPECT_TRUE(none(steps)) << "a launch of unknown size ends the run";
  EXPECT_TRUE(none(ChainAndRun(), {132, 1, 3, 5})) << "no stream is left";
}

TEST(EarlyRuns, JoinsAGroupOnAStreamOfItsOwn) {
  // Steps 1 and 2 run beside 3 and 4.
  const std::vector<StepLoad> steps = {Load(1, {}, 132), Load(5, {0}),        Load(3, {1}),
                                       Load(4, {0}),     Load(3, {3}),        Load(20, {2, 4}, 132),
                                       Load(6, {}),      Load(5, {5, 6}, 132)};
  const auto groups = FindSideRuns(steps, {132, 4, 3});
  ASSERT_EQ(groups.size(), 1u);
  const auto found = FindEarlyRuns(steps, groups, kEarlyRules);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].host, 1u);
  EXPECT_EQ(found[0].stream, 2u);
  EXPECT_EQ(found[0].saves_us, 6);
  EXPECT_TRUE(FindEarlyRuns(steps, groups, {132, 2, 3, 5}).empty()) << "no stream is left";
  EXPECT_TRUE(FindEarlyRuns(steps, groups, {119, 4, 3, 5}).empty()) << "no room for three";
}

TEST(EarlyRuns, AHostHasOneRun) {
  std::vector<StepLoad> steps = ChainAndRun();
  steps.back().needs = {3, 5, 7};
  steps.insert(steps.begin() + 6, {Load(2, {}), Load(4, {6})});
  const auto found = FindEarlyRuns(steps, {}, kEarlyRules);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].host, 0u);
  EXPECT_EQ(found[1].host, 3u);
  EXPECT_EQ(found[1].start, 6u);
}

// The verifier compares all accesses from the host to the step that waits.
TEST(EarlyRuns, IsNotFarFromItsHost) {
  const auto steps_with = [](uint32_t before, uint32_t behind) {
    // The host, some steps that leave no room, the run, some more, and what reads the run.
    std::vector<StepLoad> steps = {Load(8, {})};
    const auto add = [&](uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        const auto last = static_cast<uint32_t>(steps.size() - 1);
        steps.push_back(Load(1, {last}, 132));
      }
    };
    add(before);
    const auto run = static_cast<uint32_t>(steps.size());
    steps.push_back(Load(6, {}));
    steps.push_back(Load(1, {run - 1}, 132));
    add(behind);
    steps.push_back(Load(1, {run, static_cast<uint32_t>(steps.size() - 1)}, 132));
    for (StepLoad& step : steps) step.accesses = 4;
    return steps;
  };
  EXPECT_EQ(FindEarlyRuns(steps_with(30, 30), {}, kEarlyRules).size(), 1u);
  EXPECT_TRUE(FindEarlyRuns(steps_with(34, 30), {}, kEarlyRules).empty());
  EXPECT_TRUE(FindEarlyRuns(steps_with(30, 34), {}, kEarlyRules).empty());
}

// Layers with an early run each: 48 steps with 5 accesses, and a step that waits for all.
std::vector<StepLoad> ManyLayers(uint32_t layers) {
  std::vector<StepLoad> steps;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const auto first = static_cast<uint32_t>(steps.size());
    const std::vector<uint32_t> before =
        layer == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{first - 1};
    steps.push_back(Load(8, before));
    for (uint32_t i = 1; i < 47; ++i) steps.push_back(Load(1, {first + i - 1}, 132));
    steps.push_back(Load(6, before));
    steps.push_back(Load(1, {first + 46, first + 47}, 132));
  }
  for (StepLoad& step : steps) step.accesses = 5;
  return steps;
}

TEST(EarlyRuns, AreAsManyAsCanBeVerified) {
  EXPECT_EQ(FindEarlyRuns(ManyLayers(40), {}, kEarlyRules).size(), 40u);
  const size_t most = FindEarlyRuns(ManyLayers(10000), {}, kEarlyRules).size();
  EXPECT_GE(most, kMostEarlyStretches);
  EXPECT_LE(most, 2 * kMostEarlyStretches);
}

// Whatever is found keeps its promises.
TEST(EarlyRuns, RandomProgramsNeedNothingOfTheirHosts) {
  std::mt19937 random(11);
  size_t found_runs = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<StepLoad> steps;
    for (uint32_t s = 0; s < 40; ++s) {
      StepLoad load = Load(0.5 + random() % 60 / 8.0, {}, 1 + random() % 100);
      for (uint32_t n = 0; n < s; ++n) {
        if (random() % (s + 1) < 2) load.needs.push_back(n);
      }
      steps.push_back(load);
    }
    const auto groups = FindSideRuns(steps, {132, 4, 3});
    std::vector<uint32_t> streams(steps.size());
    for (const SideRuns& g : groups) {
      for (uint32_t r = 0; r < g.starts.size(); ++r) {
        std::fill(streams.begin() + g.starts[r], streams.begin() + g.EndOf(r), r);
      }
    }
    for (const EarlyRun& run : FindEarlyRuns(steps, groups, kEarlyRules)) {
      ++found_runs;
      ASSERT_LT(run.host, run.start);
      ASSERT_GT(run.saves_us, 3);
      ASSERT_GE(run.stream, 1u);
      ASSERT_LT(run.stream, 4u);
      for (uint32_t s = run.host; s < run.start; ++s) ASSERT_NE(streams[s], run.stream);
      for (uint32_t s = run.start; s < run.end; ++s) {
        streams[s] = run.stream;
        for (const SideRuns& g : groups) ASSERT_TRUE(s < g.starts[0] || s >= g.end);
        for (uint32_t n : steps[s].needs) ASSERT_TRUE(n < run.host || n >= run.start) << n;
      }
    }
  }
  EXPECT_GT(found_runs, 100u);
}

}  // namespace
}  // namespace aicf
