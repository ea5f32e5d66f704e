/// Stepping on a GPU, on the fake driver: launches one by one, and every buffer open in between.
#include "runtime/cuda/cuda_steps.h"

#include <gtest/gtest.h>

#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/test_program.h"

namespace aicf::cuda {
namespace {

using aicf::testing::ChainContents;
using aicf::testing::ChainExpected;
using aicf::testing::ChainOptions;

class CudaStepsTest : public ::testing::Test {
 protected:
  CudaStepsTest() : driver_(testing::FakeApi()) {
    testing::Machine() = &machine_;
    chain_.target = "cuda:sm_90a";
    program_ = aicf::testing::MakeProgram(ChainContents(chain_));
    testing::AddReferenceFunctions(machine_, program_->artifact().program(), &kernels_);
  }
  ~CudaStepsTest() override {
    program_ = nullptr;
    EXPECT_EQ(machine_.problem, "");
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.contexts, 0);
    EXPECT_EQ(machine_.memory_used, 0u);
    EXPECT_EQ(machine_.context_depth, 0);
    testing::Machine() = nullptr;
  }
  std::vector<float> Floats(StepByStep& steps, uint32_t buffer) {
    std::vector<float> values(static_cast<size_t>(chain_.elements), -1);
    EXPECT_TRUE(steps.Read(buffer, reinterpret_cast<std::byte*>(values.data())).ok());
    return values;
  }

  testing::FakeMachine machine_;
  Driver driver_;
  ChainOptions chain_;
  std::shared_ptr<const Program> program_;
  int kernels_ = 0;
};

TEST_F(CudaStepsTest, StepsRunOneByOneAndCaptureNothing) {
  const auto steps = CreateCudaSteps(program_, 0, 0, &driver_);
  ASSERT_TRUE(steps.ok()) << steps.status().ToString();
  EXPECT_EQ((*steps)->device_name(), "Fake GPU");
  EXPECT_EQ(kernels_, 0) << "nothing runs before it is asked for";
  const std::vector<float> x = aicf::testing::RandomInput(chain_.elements, 5);
  ASSERT_TRUE((*steps)->Write(0, reinterpret_cast<const std::byte*>(x.data())).ok());
  EXPECT_EQ(Floats(**steps, 0), x);
  EXPECT_EQ(Floats(**steps, 3), std::vector<float>(1000, 0)) << "the arena is zeroed";
  EXPECT_EQ(Floats(**steps, 1)[3], aicf::testing::ChainWeight(3)) << "weights are readable";
  for (uint32_t s = 0; s < 4; ++s) {
    ASSERT_TRUE((*steps)->RunStep(s).ok());
    EXPECT_EQ(kernels_, static_cast<int>(s) + 1);
  }
  const std::vector<float> y = Floats(**steps, 2);
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y[i], ChainExpected(chain_, static_cast<int64_t>(i), x[i]));
  }
  EXPECT_EQ(driver_.counters().graph_launches(), 0u);
}

TEST_F(CudaStepsTest, TwoExecutorsShareWeightsAndNothingElse) {
  const auto a = CreateCudaSteps(program_, 0, 0, &driver_);
  const uint64_t one = machine_.memory_used;
  const auto b = CreateCudaSteps(program_, 0, 0, &driver_);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(machine_.memory_used - one, program_->arena_bytes());
  const std::vector<float> x(1000, 1);
  ASSERT_TRUE((*a)->Write(0, reinterpret_cast<const std::byte*>(x.data())).ok());
  EXPECT_EQ(Floats(**b, 0)[0], 0);
}

TEST_F(CudaStepsTest, AFailingLaunchNamesTheStep) {
  const auto steps = CreateCudaSteps(program_, 0, 0, &driver_);
  ASSERT_TRUE(steps.ok());
  machine_.fail_code = kCudaIllegalAddress;
  machine_.fail_call = 0;
  const Status status = (*steps)->RunStep(2);
  machine_.fail_call = -1;
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_NE(status.message().find("step 2 (cuda.elementwise"), std::string::npos)
      << status.ToString();
}

// Every call that can fail while an executor is made fails once: an error each time, nothing left.
TEST_F(CudaStepsTest, AFailingCallLeavesNothing) {
  int failures = 0;
  for (int call = 0; call < 100; ++call) {
    machine_.failed = false;
    machine_.fail_call = call;
    const auto steps = CreateCudaSteps(program_, 0, 0, &driver_);
    machine_.fail_call = -1;
    if (!machine_.failed) break;
    EXPECT_FALSE(steps.ok()) << call;
    ++failures;
    EXPECT_TRUE(machine_.alive.empty()) << call;
  }
  EXPECT_GT(failures, 10);
}

}  // namespace
}  // namespace aicf::cuda
