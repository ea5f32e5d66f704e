#include "compiler/tune/tuner.h"

#include <gtest/gtest.h>

#include "compiler/tune/testing.h"

namespace aicf::tune {
namespace {

using testing::FakeMachine;
using testing::Kernel;
using testing::Product;

const DeviceId kMachine{"cuda:sm_90a", "Fake machine"};

/// Products of several sizes with three own kernels and the library's.
class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    for (int64_t size : {64, 1024, 256, 512}) Ask(Product(size, size, size));
    rules_.now = [this] { return machine_.clock; };
    rules_.save = [this](const TimingCache& cache) {
      saved_ = cache;
      return OkStatus();
    };
  }

  void Ask(abi::Problem problem) {
    problems_.push_back(std::make_unique<abi::Problem>(std::move(problem)));
    CostQuestion q{StrCat("step ", questions_.size()), problems_.back().get(), {}, true};
    for (const char* key : {"cublaslt.matmul", "cuda.gemm.tiled_128x128", "cuda.gemm.tiled_64x64",
                            "cuda.gemm.tiled_32x32"}) {
      q.options.push_back(testing::Option(*problems_.back(), key));
    }
    questions_.push_back(std::move(q));
  }
  std::string Hash(size_t q) const { return HashOf(*questions_[q].problem); }
  std::string Name(size_t q, std::string_view row) const {
    return testing::NameOf(*questions_[q].problem, row);
  }
  Tuner Make(TimingCache known = {}) { return Tuner(std::move(known), machine_, rules_, {}); }

  FakeMachine machine_;
  TuneRules rules_;
  TimingCache saved_;
  std::vector<std::unique_ptr<abi::Problem>> problems_;
  std::vector<CostQuestion> questions_;
  const abi::DeviceSpec device_ = *abi::FindDevice("cuda");
};

TEST_F(TunerTest, MeasuresEverythingWithoutABudget) {
  machine_.us[{Hash(0), Name(0, "cuda.gemm.tiled_64x64")}] = 7;
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  EXPECT_EQ(tuner.problems_measured(), 4);
  EXPECT_EQ(tuner.problems_left(), 0);
  EXPECT_EQ(saved_.ToText(), tuner.measured().ToText());
  const auto costs = tuner.CostsOf(questions_[0], device_);
  ASSERT_EQ(costs.size(), 4u);
  EXPECT_NEAR(costs[2].measured_us, 7.1, 0.3);
  EXPECT_GT(costs[2].predicted_us, 0);
  EXPECT_GT(costs[1].measured_us, 90);
  const Timing* library = saved_.Find(kMachine, Hash(0), "cublaslt.matmul");
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->algorithm.bytes, machine_.algorithm.bytes);
  EXPECT_EQ(library->version, "cublaslt-130100");
  EXPECT_EQ(saved_.Find(kMachine, Hash(0), Name(0, "cuda.gemm.tiled_64x64"))->version, "fake-1");
  EXPECT_EQ(tuner.AlgorithmOf(*questions_[0].problem, *Kernel("cublaslt.matmul"), device_)->bytes,
            machine_.algorithm.bytes);
}

TEST_F(TunerTest, TheHeaviestProblemComesFirst) {
  // Twelve of the smallest outweigh nothing; a budget for one problem goes to the largest.
  machine_.overhead_s = 0.01;
  rules_.seconds = 0.5;
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  ASSERT_FALSE(machine_.made.empty());
  EXPECT_EQ(machine_.made[0], Hash(1));
  EXPECT_GT(tuner.problems_left() + 4 - tuner.problems_measured(), 0);
}

TEST_F(TunerTest, TheBudgetIsKept) {
  machine_.overhead_s = 0.01;
  for (double seconds : {0.05, 0.3, 1.0, 2.5}) {
    machine_.clock = 0;
    rules_.seconds = seconds;
    Tuner tuner = Make();
    ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
    EXPECT_LT(machine_.clock, seconds + 0.02) << seconds;
  }
}

TEST_F(TunerTest, EntryPointsShareTheBudget) {
  machine_.overhead_s = 0.01;
  rules_.seconds = 1;
  rules_.programs = 2;
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  const double first = machine_.clock;
  EXPECT_LT(first, 0.52);
  std::vector<CostQuestion> others;
  questions_.swap(others);
  for (int64_t size : {65, 1025, 257, 513}) Ask(Product(size, size, size));
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  EXPECT_LT(machine_.clock, 1.02);
  EXPECT_GT(machine_.clock - first, 0.4);
}

TEST_F(TunerTest, WhatIsKnownIsNotMeasuredAgain) {
  ASSERT_TRUE(Make().Prepare(questions_, device_).ok());
  const int samples = machine_.samples;
  Tuner second = Make(saved_);
  ASSERT_TRUE(second.Prepare(questions_, device_).ok());
  EXPECT_EQ(machine_.samples, samples);
  EXPECT_EQ(second.problems_measured(), 0);
  EXPECT_GT(second.CostsOf(questions_[0], device_)[1].measured_us, 0);
  // Other code is another measurement.
  machine_.version = "fake-2";
  ASSERT_TRUE(Make(saved_).Prepare(questions_, device_).ok());
  EXPECT_GT(machine_.samples, samples);
  EXPECT_EQ(saved_.Find(kMachine, Hash(0), Name(0, "cuda.gemm.tiled_64x64"))->version, "fake-2");
}

TEST_F(TunerTest, AProblemOfManyStepsIsMeasuredOnce) {
  Ask(Product(64, 64, 64));
  Ask(Product(64, 64, 64));
  ASSERT_TRUE(Make().Prepare(questions_, device_).ok());
  EXPECT_EQ(machine_.made.size(), 4u);
}

TEST_F(TunerTest, HopelessPredictionsAreNotMeasured) {
  // 8 rows: the large tile is predicted to be far slower; two are always measured.
  questions_.clear();
  Ask(Product(2048, 2048, 2048));
  questions_[0].options.push_back(testing::Option(*problems_.back(), "cuda.gemm.tiled_16x32"));
  ASSERT_TRUE(Make().Prepare(questions_, device_).ok());
  const auto is_own = [](const KernelOption& o) {
    return o.kernel->backend == abi::Backend::kCuda;
  };
  double best = 1e300;
  for (const KernelOption& o : questions_[0].options) {
    if (is_own(o)) best = std::min(best, o.candidate.cost_us);
  }
  for (const KernelOption& o : questions_[0].options) {
    const bool worth = !is_own(o) || o.candidate.cost_us <= 6 * best + 5;
    EXPECT_EQ(saved_.Find(kMachine, Hash(0), o.Name()) != nullptr, worth) << o.Name();
  }
}

TEST_F(TunerTest, InterruptedItKeepsWhatItHas) {
  rules_.interrupted = [this] { return machine_.samples >= 100; };
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  EXPECT_EQ(machine_.samples, 100);
  EXPECT_GE(tuner.problems_measured(), 1);
  EXPECT_GE(tuner.problems_left(), 1);
  EXPECT_FALSE(saved_.empty());
  EXPECT_EQ(saved_.ToText(), tuner.measured().ToText());
  ASSERT_NE(saved_.Find(kMachine, Hash(1), Name(1, "cuda.gemm.tiled_128x128")), nullptr);
  // The compilation goes on with predictions for the rest.
  EXPECT_LT(tuner.CostsOf(questions_[0], device_)[1].measured_us, 0);
  EXPECT_GT(tuner.CostsOf(questions_[0], device_)[1].predicted_us, 0);
}

TEST_F(TunerTest, ALostDeviceEndsItAndKeepsWhatItHas) {
  machine_.fail_at = 300;
  Tuner tuner = Make();
  EXPECT_EQ(tuner.Prepare(questions_, device_).code(), Code::kDevice);
  EXPECT_FALSE(saved_.empty());
}

TEST_F(TunerTest, AProblemThatDoesNotFitIsLeftOut) {
  machine_.too_large = Hash(1);
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  EXPECT_EQ(tuner.problems_measured(), 3);
  EXPECT_LT(tuner.CostsOf(questions_[1], device_)[1].measured_us, 0);
}

TEST_F(TunerTest, SavesWhileItWorks) {
  machine_.overhead_s = 0.2;
  int saves = 0;
  rules_.save = [&](const TimingCache&) { return ++saves, OkStatus(); };
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  EXPECT_GE(saves, 4);
  rules_.save = [](const TimingCache&) { return Status(Code::kIo, "disk full"); };
  EXPECT_EQ(Make().Prepare(questions_, device_).code(), Code::kIo);
}

TEST_F(TunerTest, ProgressSaysWhatIsLeft) {
  machine_.overhead_s = 0.01;
  std::vector<std::string> phases;
  std::vector<int> done;
  rules_.progress = [&](std::string_view phase, int d, int total) {
    phases.emplace_back(phase);
    done.push_back(d);
    EXPECT_EQ(total, 4);
  };
  ASSERT_TRUE(Make().Prepare(questions_, device_).ok());
  EXPECT_EQ(done, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(phases.back(), "tuning, 0 s left");
  EXPECT_NE(phases.front(), "tuning, 0 s left");
}

TEST_F(TunerTest, CompilingCountsAndSmallBudgetsCompileLittle) {
  machine_.prepare_s = 0.1;
  for (int64_t size = 100; size < 140; ++size) Ask(Product(size, 64, 64));
  rules_.seconds = 1;
  Tuner tuner = Make();
  ASSERT_TRUE(tuner.Prepare(questions_, device_).ok());
  // A batch is eight kernels, 0.8 s; not all 44 problems with their 100 and more.
  EXPECT_LT(machine_.clock, 4);
  EXPECT_GT(tuner.problems_measured(), 0);
}

}  // namespace
}  // namespace aicf::tune
