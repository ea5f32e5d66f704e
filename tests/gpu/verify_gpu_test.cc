/// Step-by-step verification on a GPU: correct device code passes, and wrong device code with
/// correct hashes is found at its step.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/codegen/nvrtc.h"
#include "compiler/ir/text.h"
#include "runtime/step_by_step.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/loop_program.h"
#include "tests/gpu/wrong_image.h"
#include "tools/verify/verify_steps.h"

namespace aicf::gpu {
namespace {

using tools::StepsReport;

constexpr int64_t kVerifiedRows = 37, kVerifiedCols = 96;
constexpr uint32_t kSumStep = 4;  // of MixedProgram: add, sin, gemm, softmax, sum, mul

std::vector<std::byte> BytesOf(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// MixedProgram whose sums over rows are maxima on the device.
Result<schema::Contents> PlantedProgram() {
  AICF_ASSIGN_OR_RETURN(schema::Contents contents,
                        CompileToContents(MixedProgram(kVerifiedRows, kVerifiedCols)));
  abi::Problem wrong = contents.program.steps[kSumStep].problem;
  auto attrs = wrong.as<abi::ReduceAttrs>();
  attrs.kind = abi::ReduceKind::kMax;
  wrong.attrs = attrs;
  AICF_RETURN_IF_ERROR(PlantWrongImage(contents, kSumStep, wrong));
  return contents;
}

Result<StepsReport> Verify(const schema::Contents& contents,
                           const std::vector<std::vector<std::byte>>& inputs) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(contents));
  AICF_ASSIGN_OR_RETURN(const auto stored, schema::Artifact::Parse(bytes, true));
  AICF_ASSIGN_OR_RETURN(const auto program, Program::FromBytes(bytes));
  return tools::VerifySteps(program, stored, 0, {}, inputs, {});
}

// Without a GPU: what the GPU test below runs is there, and no check of a file finds it.
TEST(WrongImage, NoCheckOfAFileFindsIt) {
  if (!Nvrtc::Open().ok()) GTEST_SKIP() << Nvrtc::Open().status().message();
  const auto planted = PlantedProgram();
  ASSERT_TRUE(planted.ok()) << planted.status().ToString();
  const schema::Step& step = planted->program.steps[kSumStep];
  ASSERT_EQ(step.problem.family, abi::Family::kReduce);
  for (const schema::Step& other : planted->program.steps) {
    EXPECT_TRUE(&other == &step || other.image != step.image) << "the image is the step's alone";
  }
  const auto right = CompileToContents(MixedProgram(kVerifiedRows, kVerifiedCols));
  ASSERT_TRUE(right.ok());
  EXPECT_NE(planted->program.images[static_cast<size_t>(step.image)].hash,
            right->program.images[static_cast<size_t>(step.image)].hash);
  const auto bytes = schema::Serialize(*planted);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  EXPECT_TRUE(Program::FromBytes(*bytes).ok());
}

class GpuVerify : public GpuTest {};

TEST_F(GpuVerify, RightDeviceCodePasses) {
  const auto contents = CompileToContents(MixedProgram(kVerifiedRows, kVerifiedCols));
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  const auto report = Verify(*contents, {BytesOf(RandomValues(kVerifiedRows * kVerifiedCols, 8))});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_TRUE(report->pass);
  EXPECT_NE(report->device, "cpu");
  ASSERT_EQ(report->steps.size(), 6u);
  for (const tools::StepCheck& s : report->steps) {
    EXPECT_EQ(s.runs, 1);
    EXPECT_TRUE(s.pass) << s.step << ": relative L2 " << s.comparison.relative_l2;
  }
  EXPECT_LT(report->outputs[0].comparison.max_scaled_error, 1e-4);
}

TEST_F(GpuVerify, WrongDeviceCodeIsFoundAtItsStep) {
  const auto contents = PlantedProgram();
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  const auto report = Verify(*contents, {BytesOf(RandomValues(kVerifiedRows * kVerifiedCols, 8))});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_FALSE(report->pass);
  EXPECT_EQ(report->first_failed, kSumStep);
  for (const tools::StepCheck& s : report->steps) EXPECT_EQ(s.pass, s.step != kSumStep) << s.step;
  EXPECT_GT(report->steps[kSumStep].comparison.mismatches, kVerifiedRows / 2);
  EXPECT_GT(report->outputs[0].comparison.relative_l2, 1e-2) << "and it matters";
}

TEST_F(GpuVerify, LoopsAndGuardsFollowTheDevicesValues) {
  const auto lowered = ir::ParseLowered(kLoopProgram);
  ASSERT_TRUE(lowered.ok());
  const auto contents = CompileToContents(*lowered);
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  for (const bool flag : {true, false}) {
    const auto report = Verify(
        *contents,
        {BytesOf({4}), {static_cast<std::byte>(flag)}, BytesOf(std::vector<float>(256, 2.5f))});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_TRUE(report->pass);
    int64_t most = 0, least = 1;
    for (const tools::StepCheck& s : report->steps) {
      most = std::max(most, s.runs);
      least = std::min(least, s.runs);
    }
    EXPECT_EQ(most, 6) << "0 + 1 + 2 + 3 trips of the inner loop";
    EXPECT_EQ(least, flag ? 1 : 0) << "the guarded step runs where the flag is set";
  }
}

// The drift is that of a replay: stepping computes what the graph computes.
TEST_F(GpuVerify, SteppingGivesTheReplaysBits) {
  const auto program = CompileLowered(MixedProgram(kVerifiedRows, kVerifiedCols));
  ASSERT_TRUE(program.ok());
  const std::vector<float> x = RandomValues(kVerifiedRows * kVerifiedCols, 9);
  const auto session = Session::Create(*program, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const std::vector<float> replayed = RunOnce(**session, **program, x);
  const auto steps = MakeStepByStep(*program, 0, {});
  ASSERT_TRUE(steps.ok()) << steps.status().ToString();
  const schema::Program& plan = (*program)->artifact().program();
  const schema::EntryPoint& entry = plan.entry_points[0];
  ASSERT_TRUE((*steps)->Write(entry.inputs[0], BytesOf(x).data()).ok());
  const Status walked =
      WalkSteps(**steps, plan, 0, [&](const StepVisit& v) { return (*steps)->RunStep(v.step); });
  ASSERT_TRUE(walked.ok()) << walked.ToString();
  std::vector<float> stepped(replayed.size());
  ASSERT_TRUE((*steps)->Read(entry.outputs[0], reinterpret_cast<std::byte*>(stepped.data())).ok());
  EXPECT_EQ(stepped, replayed);
}

}  // namespace
}  // namespace aicf::gpu
