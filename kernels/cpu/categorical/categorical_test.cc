// What a draw is: every CPU variant against the definition, by frequencies and in the cases where
// kernels of other libraries were wrong.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "kernels/abi/draw.h"
#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

constexpr float kInfiniteLogit = std::numeric_limits<float>::infinity();
constexpr float kNoLogit = std::numeric_limits<float>::quiet_NaN();

TEST(DrawNumbers, AreThePublishedOnes) {
  using Counter = std::array<uint32_t, 4>;
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(abi::Philox4x32({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(abi::Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      abi::Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(abi::UniformDraw(0, 0), static_cast<float>(0x6627e8) * 0x1p-24f);
}

TEST(DrawNumbers, AreUniformAndFollowEveryBitOfKeyAndCounter) {
  double sum = 0;
  for (uint64_t i = 0; i < 100000; ++i) {
    const float u = abi::UniformDraw(7, i);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
  std::set<float> seen = {abi::UniformDraw(0, 0)};
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_TRUE(seen.insert(abi::UniformDraw(uint64_t{1} << bit, 0)).second) << bit;
    EXPECT_TRUE(seen.insert(abi::UniformDraw(0, uint64_t{1} << bit)).second) << bit;
  }
}

struct Settings {
  float temperature = 1;
  int32_t top_k = 0;
  float top_p = 1, min_p = 0;
  int64_t seed = 1, counter = 0;
};

/// One row of logits, drawn from with each of the settings.
TestStep DrawStep(const std::vector<float>& logits, const std::vector<Settings>& settings,
                  DType dtype = DType::kF32) {
  const auto rows = static_cast<int64_t>(settings.size());
  const auto categories = static_cast<int64_t>(logits.size());
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kCategorical;
  p.attrs = abi::CategoricalAttrs{};
  p.inputs = {{dtype, {rows, categories}, {0, 1}, 0}, abi::DenseView(DType::kF32, {rows}),
              abi::DenseView(DType::kI32, {rows}),    abi::DenseView(DType::kF32, {rows}),
              abi::DenseView(DType::kF32, {rows}),    abi::DenseView(DType::kI64, {rows}),
              abi::DenseView(DType::kI64, {rows})};
  p.core_inputs = 7;
  p.outputs = {abi::DenseView(DType::kI32, {rows}), abi::DenseView(DType::kBool, {rows})};
  Random random(1);
  step.Prepare(random);
  for (int64_t i = 0; i < categories; ++i) step.input(0).Set(i, logits[static_cast<size_t>(i)]);
  for (int64_t b = 0; b < rows; ++b) {
    const Settings& s = settings[static_cast<size_t>(b)];
    step.input(1).Set(b, s.temperature);
    step.input(2).Set(b, s.top_k);
    step.input(3).Set(b, s.top_p);
    step.input(4).Set(b, s.min_p);
    step.input(5).Set(b, static_cast<double>(s.seed));
    step.input(6).Set(b, static_cast<double>(s.counter));
  }
  return step;
}

struct Draws {
  std::vector<int64_t> ids;
  std::vector<bool> valid;
};

Draws Drawn(const abi::KernelInfo& variant, const TestStep& step) {
  const std::vector<TestBuffer> out = RunVariant(variant, step);
  Draws draws;
  for (int64_t b = 0; b < step.problem.outputs[0].shape[0]; ++b) {
    draws.ids.push_back(static_cast<int64_t>(out[0].At(b)));
    draws.valid.push_back(out[1].At(b) != 0);
  }
  return draws;
}

std::vector<abi::KernelInfo> Variants() {
  std::vector<abi::KernelInfo> all = CpuVariants(abi::Family::kCategorical);
  const abi::Problem p = DrawStep({0}, {{}}).problem;
  std::erase_if(all, [&](const auto& v) { return !v.supports(p, HostDevice()).empty(); });
  return all;
}

/// The draws of settings s with the counters 0 .. count - 1.
std::vector<Settings> Repeated(const Settings& s, int64_t count) {
  std::vector<Settings> all(static_cast<size_t>(count), s);
  for (int64_t i = 0; i < count; ++i) all[static_cast<size_t>(i)].counter = i;
  return all;
}

/// The probabilities that the definition gives.
std::vector<double> Probabilities(const std::vector<float>& logits, const Settings& s) {
  const size_t n = logits.size();
  const float max = *std::max_element(logits.begin(), logits.end());
  std::vector<double> mass(n);
  for (size_t i = 0; i < n; ++i) {
    mass[i] = std::exp((static_cast<double>(logits[i]) - max) / s.temperature);
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  if (s.top_k > 0) order.resize(std::min(n, static_cast<size_t>(s.top_k)));
  double all = 0, before = 0;
  for (size_t i : order) all += mass[i];
  std::vector<double> out(n);
  for (size_t i : order) {
    const bool first = i == order[0];
    if ((first || s.top_p >= 1 || before < s.top_p * all) && mass[i] >= s.min_p) out[i] = mass[i];
    before += mass[i];
  }
  const double left = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& p : out) p /= left;
  return out;
}

void ExpectFrequencies(const std::vector<float>& logits, const Settings& s,
                       int64_t count_of_draws = 100000) {
  const TestStep step = DrawStep(logits, Repeated(s, count_of_draws));
  const std::vector<double> p = Probabilities(logits, s);
  for (const abi::KernelInfo& variant : Variants()) {
    const Draws draws = Drawn(variant, step);
    std::vector<double> count(logits.size());
    for (size_t b = 0; b < draws.ids.size(); ++b) {
      ASSERT_TRUE(draws.valid[b]);
      ASSERT_GE(draws.ids[b], 0);
      ASSERT_LT(draws.ids[b], static_cast<int64_t>(logits.size()));
      ++count[static_cast<size_t>(draws.ids[b])];
    }
    double square = 0, classes = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      if (p[i] == 0) {
        EXPECT_EQ(count[i], 0) << variant.key << ": category " << i << " is not allowed";
        continue;
      }
      const double expected = p[i] * static_cast<double>(count_of_draws);
      // Rare categories say little by themselves.
      if (expected < 5) continue;
      square += (count[i] - expected) * (count[i] - expected) / expected;
      ++classes;
    }
    // Four standard deviations above what is expected.
    EXPECT_LT(square, classes + 4 * std::sqrt(2 * classes) + 4) << variant.key;
  }
}

std::vector<float> SomeLogits(int64_t count) {
  Random random(11);
  std::vector<float> logits(static_cast<size_t>(count));
  for (float& x : logits) x = static_cast<float>(Pick(random, -400, 300)) / 100;
  return logits;
}

TEST(Categorical, FrequenciesAreTheProbabilities) {
  const std::vector<float> logits = SomeLogits(37);
  ExpectFrequencies(logits, {});
  ExpectFrequencies(logits, {.temperature = 0.6f});
  ExpectFrequencies(logits, {.temperature = 3});
  ExpectFrequencies(logits, {.top_k = 5});
  ExpectFrequencies(logits, {.top_p = 0.8031f});
  ExpectFrequencies(logits, {.min_p = 0.1507f});
  ExpectFrequencies(logits, {.temperature = 0.8f, .top_k = 20, .top_p = 0.9137f, .min_p = 0.0513f});
  ExpectFrequencies(SomeLogits(600), {.top_k = 100, .top_p = 0.5077f}, 20000);
  ExpectFrequencies(SomeLogits(600), {.temperature = 2, .top_p = 0.9137f}, 20000);
}

TEST(Categorical, EqualLogitsAreTakenInTheirOrder) {
  const std::vector<float> equal(50, 1.5f);
  ExpectFrequencies(equal, {});
  ExpectFrequencies(equal, {.top_k = 3});
  ExpectFrequencies(equal, {.top_p = 0.0713f});
  ExpectFrequencies(equal, {.top_k = 20, .top_p = 0.3713f, .min_p = 1});
  // Both zeros are the same logit.
  ExpectFrequencies({-1, -0.0f, 0, -0.0f, 0}, {.top_k = 2});
}

/// Every variant gives the id for the settings, whatever the counter.
void ExpectAlways(const std::vector<float>& logits, const Settings& s, int64_t id,
                  bool valid = true) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const TestStep step = DrawStep(logits, Repeated(s, 40), dtype);
    for (const abi::KernelInfo& variant : Variants()) {
      const Draws draws = Drawn(variant, step);
      EXPECT_EQ(draws.ids, std::vector<int64_t>(40, id)) << variant.key;
      EXPECT_EQ(draws.valid, std::vector<bool>(40, valid)) << variant.key;
    }
  }
}

TEST(Categorical, TheFirstLargestIsTakenWhereNothingElseIsLeft) {
  const std::vector<float> logits = {-2, 1, 3, 0, 3, 2.5f};
  ExpectAlways(logits, {.temperature = 0}, 2);
  ExpectAlways(logits, {.temperature = -1}, 2);
  ExpectAlways(logits, {.temperature = kNoLogit}, 2);
  ExpectAlways(logits, {.top_k = 1}, 2);
  ExpectAlways(logits, {.top_p = 0}, 2);
  ExpectAlways(logits, {.top_p = -1}, 2);
  ExpectAlways(logits, {.min_p = 1.5f}, 2);
  ExpectAlways({-1, 0, -3}, {.min_p = 1}, 1);
  ExpectAlways({-1, 0, -3}, {.temperature = 1e-45f}, 1);
  ExpectAlways({7}, {}, 0);
  ExpectAlways({-kInfiniteLogit, -kInfiniteLogit, -5, -kInfiniteLogit}, {}, 2);
  ExpectAlways({-kInfiniteLogit, -kInfiniteLogit, -5, -kInfiniteLogit},
               {.temperature = kInfiniteLogit}, 2);
  ExpectAlways({-kInfiniteLogit, -5, -kInfiniteLogit}, {.top_k = 2, .top_p = 0.9f}, 1);
}

TEST(Categorical, RowsWithoutADistributionSaySo) {
  for (const Settings& s : {Settings{}, Settings{.temperature = 0}, Settings{.top_k = 2}}) {
    ExpectAlways({1, kNoLogit, 2}, s, 0, false);
    ExpectAlways({1, 5, -kNoLogit}, s, 0, false);
    ExpectAlways({kNoLogit, kInfiniteLogit}, s, 0, false);
    ExpectAlways({1, kInfiniteLogit, 2}, s, 0, false);
    ExpectAlways({-kInfiniteLogit, -kInfiniteLogit}, s, 0, false);
    ExpectAlways({-kInfiniteLogit}, s, 0, false);
  }
}

TEST(Categorical, WideBoundsLeaveAll) {
  const std::vector<float> logits = SomeLogits(30);
  const std::vector<Settings> plain = Repeated({}, 300);
  for (const Settings& wide :
       {Settings{.top_k = 30}, Settings{.top_k = 1000}, Settings{.top_k = -7}, Settings{.top_p = 2},
        Settings{.top_p = kNoLogit}, Settings{.min_p = -1}, Settings{.min_p = kNoLogit}}) {
    for (const abi::KernelInfo& variant : Variants()) {
      EXPECT_EQ(Drawn(variant, DrawStep(logits, Repeated(wide, 300))).ids,
                Drawn(variant, DrawStep(logits, plain)).ids)
          << variant.key;
    }
  }
}

TEST(Categorical, ARowsDrawFollowsFromItsSeedAndCounterAlone) {
  const std::vector<float> logits = SomeLogits(500);
  std::vector<Settings> settings = Repeated({.temperature = 2, .seed = 5}, 64),
                        backwards = settings;
  std::reverse(backwards.begin(), backwards.end());
  std::vector<Settings> others = settings;
  for (Settings& s : others) s.seed = 6;
  for (const abi::KernelInfo& variant : Variants()) {
    const std::vector<int64_t> ids = Drawn(variant, DrawStep(logits, settings)).ids;
    std::vector<int64_t> reversed = Drawn(variant, DrawStep(logits, backwards)).ids;
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(ids, reversed) << variant.key;
    EXPECT_NE(ids, Drawn(variant, DrawStep(logits, others)).ids) << variant.key;
  }
}

TEST(Categorical, VariantsDrawWhatTheReferenceDrawsFromLongRows) {
  Random random(3);
  int ran = 0;
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    std::vector<float> logits(static_cast<size_t>(Pick(random, 1, 20000)));
    for (float& x : logits) {
      x = static_cast<float>(Pick(random, -100, 100) + Pick(random, -100, 100)) / 16;
    }
    std::vector<Settings> settings;
    for (int b = 0; b < 20; ++b) {
      settings.push_back(
          {Chance(random, 80) ? 0.83f : 5.0f,
           static_cast<int32_t>(Chance(random, 50) ? 0 : Pick(random, 1, 3000)),
           Chance(random, 40) ? 1 : static_cast<float>(Pick(random, 1, 99)) * 0.0101f,
           Chance(random, 70) ? 0 : 0.0123f, Pick(random, 0, 1 << 20), b});
    }
    const DType dtype = i % 3 == 0 ? DType::kF16 : i % 3 == 1 ? DType::kBF16 : DType::kF32;
    ran += CompareVariants(DrawStep(logits, settings, dtype), 0, 0);
  }
  EXPECT_GE(ran, 24);
}

}  // namespace
}  // namespace aicf::cpu
