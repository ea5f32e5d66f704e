/// Guarded steps: a branch that is not taken is not executed, inside one graph launch.
#include "compiler/ir/text.h"
#include "compiler/passes/lower/lower.h"
#include "runtime/cuda/counters.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

// y = c ? (d ? sqrt(x) : -x) : sin(x), each branch in steps of its own.
constexpr std::string_view kProgram = R"(
lowered "branches"
%0 = input "c" bool scalar
%1 = input "d" bool scalar
%2 = input "x" f32 256
%3 = temp "sqrt" f32 256
%4 = temp "neg" f32 256
%5 = temp "inner" f32 256
%6 = temp "sin" f32 256
%7 = output "y" f32 256
inputs %0, %1, %2
outputs %7
step ["sqrt"] if %0 if %1 (%2) -> (%3) : elementwise math=fp32 core=1 in(f32 256 [1]+0)
  out(f32 256 [1]+0) pro id epi (%0 = in 0 : f32; %1 = sqrt %0 : f32) -> %1
step ["neg"] if %0 if not %1 (%2) -> (%4) : elementwise math=fp32 core=1 in(f32 256 [1]+0)
  out(f32 256 [1]+0) pro id epi (%0 = in 0 : f32; %1 = neg %0 : f32) -> %1
step ["inner"] if %0 (%1, %3, %4) -> (%5) : elementwise math=fp32 core=3
  in(bool 256 [0]+0, f32 256 [1]+0, f32 256 [1]+0) out(f32 256 [1]+0) pro id
  epi (%0 = in 0 : bool; %1 = in 1 : f32; %2 = in 2 : f32; %3 = select %0 %1 %2 : f32) -> %3
step ["sin"] if not %0 (%2) -> (%6) : elementwise math=fp32 core=1 in(f32 256 [1]+0)
  out(f32 256 [1]+0) pro id epi (%0 = in 0 : f32; %1 = sin %0 : f32) -> %1
step ["outer"] (%0, %5, %6) -> (%7) : elementwise math=fp32 core=3
  in(bool 256 [0]+0, f32 256 [1]+0, f32 256 [1]+0) out(f32 256 [1]+0) pro id
  epi (%0 = in 0 : bool; %1 = in 1 : f32; %2 = in 2 : f32; %3 = select %0 %1 %2 : f32) -> %3
)";

class GpuGuards : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const auto lowered = ir::ParseLowered(kProgram);
    ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
    const auto program = CompileLowered(*lowered);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
    for (int i = 0; i < 256; ++i) x_.push_back(static_cast<float>(i) / 64);
  }

  std::vector<float> Replay(Session& session, bool c, bool d) {
    std::vector<float> y(256);
    EXPECT_TRUE(session.SetInput("c", ScalarOf(c)).ok());
    EXPECT_TRUE(session.SetInput("d", ScalarOf(d)).ok());
    EXPECT_TRUE(session.SetInput("x", TensorOf(x_)).ok());
    EXPECT_TRUE(session.Run().ok());
    EXPECT_TRUE(session.GetOutput("y", TensorInto(y)).ok());
    return y;
  }

  std::shared_ptr<const Program> program_;
  std::vector<float> x_;
};

TEST_F(GpuGuards, EveryCombinationAgreesWithTheReferenceInOneLaunchEach) {
  SessionOptions on_cpu;
  on_cpu.device = "cpu";
  const auto reference = Session::Create(program_, on_cpu);
  const auto session = Session::Create(program_, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  ASSERT_TRUE(reference.ok());
  const uint64_t launches = driver().counters().graph_launches();
  const uint64_t kernels = driver().counters().kernel_launches();
  int runs = 0;
  for (int round = 0; round < 8; ++round) {
    for (bool c : {false, true}) {
      for (bool d : {true, false}) {
        ++runs;
        const std::vector<float> got = Replay(**session, c, d), want = Replay(**reference, c, d);
        for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << c << d << i;
      }
    }
  }
  EXPECT_EQ(driver().counters().graph_launches() - launches, static_cast<uint64_t>(runs));
  EXPECT_EQ(driver().counters().kernel_launches() - kernels, 0u);
}

TEST_F(GpuGuards, WithoutAGraphEveryStepRuns) {
  SessionOptions options;
  options.cuda_graph = false;
  const auto session = Session::Create(program_, options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_NEAR(Replay(**session, true, false)[64], -1.0f, 1e-6);
  EXPECT_NEAR(Replay(**session, true, true)[64], 1.0f, 1e-6);
  EXPECT_NEAR(Replay(**session, false, true)[0], 0.0f, 1e-6);
}

}  // namespace
}  // namespace aicf::gpu
