/// Loops and guards as conditional nodes, on the fake driver.
#include "runtime/cuda/guards.h"

#include <gtest/gtest.h>

#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/test_loops.h"
#include "runtime/test_program.h"

namespace aicf::cuda {
namespace {

class GuardsTest : public ::testing::Test {
 protected:
  GuardsTest() : driver_(testing::FakeApi()) {
    testing::Machine() = &machine_;
    program_ = aicf::testing::MakeProgram(aicf::testing::LoopContents(/*on_device=*/true));
    machine_.functions[abi::kGuardSymbol] = testing::GuardFunction();
    if (program_ == nullptr) return;
    testing::AddReferenceFunctions(machine_, program_->artifact().program(), &kernels_);
  }
  ~GuardsTest() override {
    program_ = nullptr;
    EXPECT_EQ(machine_.problem, "");
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.memory_used, 0u);
    testing::Machine() = nullptr;
  }
  std::pair<float, float> Replay(Session& session, float limit, bool flag) {
    float y = -1, z = -1;
    EXPECT_TRUE(session.SetInput("limit", TensorOf(std::span(&limit, 1))).ok());
    EXPECT_TRUE(session.SetInput("flag", TensorOf(std::span(&flag, 1))).ok());
    EXPECT_TRUE(session.Run().ok());
    EXPECT_TRUE(session.Wait().ok());
    EXPECT_TRUE(session.GetOutput("y", TensorInto(std::span(&y, 1))).ok());
    EXPECT_TRUE(session.GetOutput("z", TensorInto(std::span(&z, 1))).ok());
    return {y, z};
  }

  testing::FakeMachine machine_;
  Driver driver_;
  std::shared_ptr<const Program> program_;
  int kernels_ = 0;
};

TEST_F(GuardsTest, LoopsInLoopsAndGuardsInsideThemAreOneGraphLaunch) {
  ASSERT_NE(program_, nullptr);
  auto session = CreateCudaSession(program_, 0, {}, &driver_);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  for (const float limit : {0.0f, 1.0f, 2.0f, 5.0f, -1.0f, 3.0f}) {
    for (const bool flag : {true, false}) {
      const uint64_t launches = driver_.counters().graph_launches();
      const uint64_t enqueued = driver_.counters().kernel_launches();
      kernels_ = 0;
      const float want = limit <= 0 ? 0 : limit * (limit - 1) / 2;
      EXPECT_EQ(Replay(**session, limit, flag), std::make_pair(want, flag ? want : 0.0f));
      EXPECT_EQ(driver_.counters().graph_launches() - launches, 1u);
      EXPECT_EQ(driver_.counters().kernel_launches() - enqueued, 0u);
      const float outer = std::max(limit, 0.0f);
      EXPECT_EQ(kernels_, 6 + 4 * outer + want * (flag ? 4 : 3));
    }
  }
}

TEST_F(GuardsTest, WithoutAGraphTheHostReadsTheConditions) {
  ASSERT_NE(program_, nullptr);
  SessionOptions options;
  options.cuda_graph = false;
  auto session = CreateCudaSession(program_, 0, options, &driver_);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  for (const float limit : {0.0f, 1.0f, 4.0f}) {
    const float want = limit * (limit - 1) / 2;
    EXPECT_EQ(Replay(**session, limit, true), std::make_pair(want, want));
  }
}

TEST_F(GuardsTest, AProfileTimesOneTrip) {
  ASSERT_NE(program_, nullptr);
  auto session = CreateCudaSession(program_, 0, {}, &driver_);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const auto profile = (*session)->Profile(2);
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  EXPECT_EQ(profile->size(), 14u);
}

// Every call that can fail while the graph is made fails once: an error each time, and nothing
// left.
TEST_F(GuardsTest, AFailingCallLeavesNothing) {
  ASSERT_NE(program_, nullptr);
  int failures = 0;
  for (int call = 0; call < 400; ++call) {
    machine_.failed = false;
    machine_.fail_call = call;
    auto session = CreateCudaSession(program_, 0, {}, &driver_);
    machine_.fail_call = -1;
    if (!machine_.failed) break;
    EXPECT_FALSE(session.ok()) << call;
    ++failures;
    EXPECT_TRUE(machine_.alive.empty()) << call;
  }
  EXPECT_GT(failures, 60);
}

}  // namespace
}  // namespace aicf::cuda
