/// Loops: repeated on the device, inside one graph launch.
#include "tests/gpu/loop_program.h"

#include "compiler/ir/text.h"
#include "runtime/cuda/counters.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

class GpuLoops : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const auto lowered = ir::ParseLowered(kLoopProgram);
    ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
    const auto program = CompileLowered(*lowered);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
    for (int i = 0; i < 256; ++i) x_.push_back(static_cast<float>(i) / 64);
  }

  void Check(Session& session, int limit, bool flag) {
    const auto bound = static_cast<float>(limit);
    std::vector<float> y(256);
    ASSERT_TRUE(session.SetInput("limit", TensorOf(std::span(&bound, 1))).ok());
    ASSERT_TRUE(session.SetInput("flag", TensorOf(std::span(&flag, 1))).ok());
    ASSERT_TRUE(session.SetInput("x", TensorOf(x_)).ok());
    const Status ran = session.Run();
    ASSERT_TRUE(ran.ok()) << ran.ToString();
    ASSERT_TRUE(session.Wait().ok());
    ASSERT_TRUE(session.GetOutput("y", TensorInto(y)).ok());
    for (size_t i = 0; i < y.size(); ++i) {
      const float want = LoopProgramExpected(x_[i], limit, flag);
      ASSERT_NEAR(y[i], want, 1e-5f * (1 + want)) << limit << " " << flag << " " << i;
    }
  }

  std::shared_ptr<const Program> program_;
  std::vector<float> x_;
};

TEST_F(GpuLoops, RunAsOftenAsTheirDataSayInOneLaunchEach) {
  const auto session = Session::Create(program_, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const uint64_t launches = driver().counters().graph_launches();
  const uint64_t kernels = driver().counters().kernel_launches();
  const uint64_t allocations = driver().counters().allocations();
  int runs = 0;
  for (int round = 0; round < 4; ++round) {
    for (const int limit : {0, 3, 1, 20, 2, -1, 7}) {
      for (const bool flag : {false, true}) {
        Check(**session, limit, flag);
        if (HasFatalFailure()) return;
        ++runs;
      }
    }
  }
  EXPECT_EQ(driver().counters().graph_launches() - launches, static_cast<uint64_t>(runs));
  EXPECT_EQ(driver().counters().kernel_launches() - kernels, 0u);
  EXPECT_EQ(driver().counters().allocations() - allocations, 0u);
}

TEST_F(GpuLoops, WithoutAGraphTheHostReadsTheirConditions) {
  SessionOptions options;
  options.cuda_graph = false;
  const auto session = Session::Create(program_, options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  for (const int limit : {0, 1, 6}) Check(**session, limit, true);
}

TEST_F(GpuLoops, TheirStepsAreProfiledOverOneTrip) {
  const auto session = Session::Create(program_, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const auto profile = (*session)->Profile(3);
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  EXPECT_EQ(profile->size(), program_->artifact().program().steps.size());
  Check(**session, 4, true);
}

}  // namespace
}  // namespace aicf::gpu
