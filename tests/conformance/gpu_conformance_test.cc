// Every family's variants on the GPU against the reference kernels.
#include <gtest/gtest.h>

#include "tests/conformance/gpu_jobs.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::MathMode;

class GpuConformance : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<JobRunner>> made = JobRunner::Make();
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    runner_ = *std::move(made);
  }

  void Add(Case c, size_t variants) {
    const auto item = std::make_shared<const Case>(std::move(c));
    for (KernelOption& o : runner_->Variants(*item, variants, cases_)) {
      Job job;
      job.item = item;
      job.option = std::move(o);
      jobs_.push_back(std::move(job));
    }
    ++cases_;
  }

  void RunAll(size_t at_least) {
    EXPECT_GE(cases_, at_least);
    runner_->Run(jobs_, {});
    for (const Job& job : jobs_)
      EXPECT_EQ(job.failure, "") << job.option.Name() << "\n" << job.item->name;
    RecordProperty("cases", static_cast<int>(cases_));
    RecordProperty("runs", static_cast<int>(jobs_.size()));
  }

  void AddRandom(Family family, uint64_t seeds, size_t variants, const CaseOptions& options = {}) {
    for (uint64_t seed = 1000; seed < 1000 + seeds; ++seed) {
      Add(RandomCase(family, seed, options), variants);
    }
  }

  std::unique_ptr<JobRunner> runner_;
  std::vector<Job> jobs_;
  size_t cases_ = 0;
};

TEST_F(GpuConformance, SinOfScaledAndShifted) {
  for (uint64_t seed = 0; seed < 110; ++seed) Add(SinCase(seed), 1);
  RunAll(100);
}

TEST_F(GpuConformance, Elementwise) {
  AddRandom(Family::kElementwise, 110, 1);
  RunAll(100);
}

TEST_F(GpuConformance, Copy) {
  AddRandom(Family::kCopy, 100, 1);
  RunAll(100);
}

TEST_F(GpuConformance, Reduce) {
  AddRandom(Family::kReduce, 100, 1);
  AddRandom(Family::kReduce, 20, 1, {.whole_numbers = false, .max_elements = 60000});
  RunAll(100);
}

TEST_F(GpuConformance, MatmulOfWholeNumbersIsExact) {
  AddRandom(Family::kGemm, 80, 1, {.max_elements = 8000});
  AddRandom(Family::kGemm, 30, 2, {.max_elements = 8000, .rows = 1});
  RunAll(100);
}

TEST_F(GpuConformance, MatmulOnTensorCores) {
  AddRandom(Family::kGemm, 60, 1,
            {.max_elements = 8000, .math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16}});
  RunAll(60);
}

TEST_F(GpuConformance, MatmulOfReals) {
  AddRandom(Family::kGemm, 20, 1, {.whole_numbers = false, .max_elements = 8000});
  AddRandom(Family::kGemm, 20, 1,
            {.whole_numbers = false, .math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16}});
  RunAll(40);
}

TEST_F(GpuConformance, ConvOfWholeNumbersIsExact) {
  AddRandom(Family::kConv, 100, 1);
  RunAll(100);
}

TEST_F(GpuConformance, ConvOnTensorCores) {
  AddRandom(Family::kConv, 50, 1, {.math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16}});
  AddRandom(Family::kConv, 20, 1,
            {.whole_numbers = false, .math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16}});
  RunAll(70);
}

TEST_F(GpuConformance, Pool) {
  AddRandom(Family::kPool, 100, 1);
  RunAll(100);
}

TEST_F(GpuConformance, Normalize) {
  AddRandom(Family::kNormalize, 70, 1);
  AddRandom(Family::kNormalize, 30, 1, {.whole_numbers = false, .max_elements = 60000});
  RunAll(100);
}

TEST_F(GpuConformance, Gather) {
  AddRandom(Family::kGather, 100, 1);
  RunAll(100);
}

TEST_F(GpuConformance, Resize) {
  AddRandom(Family::kResize, 100, 1);
  RunAll(100);
}

TEST_F(GpuConformance, TopK) {
  AddRandom(Family::kTopK, 60, 1);
  RunAll(60);
}

}  // namespace
}  // namespace aicf::conformance
