/// Executors that stop between steps: the CPU's own kernels, the reference kernels, the walk.
#include "runtime/step_by_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/test_loops.h"
#include "runtime/test_program.h"
#include "schema/testing.h"

namespace aicf {
namespace {

using testing::ChainContents;
using testing::ChainExpected;
using testing::ChainOptions;
using testing::MakeProgram;
using testing::RandomInput;

const schema::Program& PlanOf(const std::shared_ptr<const Program>& program) {
  return program->artifact().program();
}

template <class T>
std::vector<T> ReadAs(StepByStep& steps, const schema::Program& plan, uint32_t buffer) {
  std::vector<T> values(plan.buffers[buffer].bytes / sizeof(T));
  EXPECT_TRUE(steps.Read(buffer, reinterpret_cast<std::byte*>(values.data())).ok());
  return values;
}

void WriteAll(StepByStep& steps, uint32_t buffer, const void* data) {
  EXPECT_TRUE(steps.Write(buffer, static_cast<const std::byte*>(data)).ok());
}

std::unique_ptr<StepByStep> Make(const std::shared_ptr<const Program>& program, bool reference,
                                 std::span<const UnpackedInput> unpacked = {}) {
  auto steps = reference ? MakeReferenceSteps(program, 0, 1, unpacked)
                         : MakeStepByStep(program, 0, {.device = "cpu"});
  EXPECT_TRUE(steps.ok()) << steps.status().ToString();
  return steps.ok() ? *std::move(steps) : nullptr;
}

TEST(StepByStep, EachStepLeavesItsResultAndNoOther) {
  ChainOptions chain;
  const auto program = MakeProgram(ChainContents(chain));
  const std::vector<float> x = RandomInput(chain.elements, 3);
  for (const bool reference : {false, true}) {
    const auto steps = Make(program, reference);
    ASSERT_NE(steps, nullptr);
    EXPECT_EQ(steps->device_name(), "cpu");
    WriteAll(*steps, 0, x.data());
    const std::vector<uint32_t> outputs = {3, 4, 5, 2};  // temporaries, then y
    for (uint32_t s = 0; s < 4; ++s) {
      for (float later : ReadAs<float>(*steps, PlanOf(program), outputs[s])) ASSERT_EQ(later, 0);
      ASSERT_TRUE(steps->RunStep(s).ok());
      ChainOptions shorter = chain;
      shorter.steps = static_cast<int>(s) + 1;
      const auto values = ReadAs<float>(*steps, PlanOf(program), outputs[s]);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], ChainExpected(shorter, static_cast<int64_t>(i), x[i])) << s;
      }
    }
    EXPECT_EQ(ReadAs<float>(*steps, PlanOf(program), 1)[5], testing::ChainWeight(5)) << "weights";
  }
}

TEST(StepByStep, AStepReadsWhatWasWrittenIntoItsOperand) {
  ChainOptions chain;
  const auto program = MakeProgram(ChainContents(chain));
  const auto steps = Make(program, false);
  ASSERT_NE(steps, nullptr);
  const std::vector<float> x(1000, 2), t(1000, 40);
  WriteAll(*steps, 0, x.data());
  WriteAll(*steps, 3, t.data());
  ASSERT_TRUE(steps->RunStep(1).ok());  // t1 = t0 + x, without the step that makes t0
  for (float v : ReadAs<float>(*steps, PlanOf(program), 4)) ASSERT_EQ(v, 42);
}

TEST(StepByStep, ACudaPlanRunsOnTheReferenceKernels) {
  ChainOptions chain;
  chain.target = "cuda:sm_90a";
  const auto program = MakeProgram(ChainContents(chain));
  const auto steps = Make(program, true);
  ASSERT_NE(steps, nullptr);
  const std::vector<float> x = RandomInput(chain.elements, 4);
  WriteAll(*steps, 0, x.data());
  for (uint32_t s = 0; s < 4; ++s) ASSERT_TRUE(steps->RunStep(s).ok());
  EXPECT_EQ(ReadAs<float>(*steps, PlanOf(program), 2)[7], ChainExpected(chain, 7, x[7]));
}

/// The steps that the walk visits, as "step/trip", "-" before one whose guards do not hold.
std::string Walked(float limit, bool flag) {
  const auto program = MakeProgram(testing::LoopContents(/*on_device=*/false));
  const auto steps = Make(program, false);
  if (steps == nullptr) return "";
  WriteAll(*steps, 0, &limit);
  WriteAll(*steps, 1, &flag);
  std::string visited;
  const Status status = WalkSteps(*steps, PlanOf(program), 0, [&](const StepVisit& v) {
    visited += StrCat(visited.empty() ? "" : " ", v.runs ? "" : "-", v.step);
    if (v.trip > 0) visited += StrCat("/", v.trip);
    return v.runs ? steps->RunStep(v.step) : OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  return visited;
}

TEST(StepByStep, TheWalkFollowsLoopsAndGuards) {
  EXPECT_EQ(Walked(0, true), "0 1 2 3 12 13");
  EXPECT_EQ(Walked(1, true), "0 1 2 3 4 5 10 11 12 13");
  EXPECT_EQ(Walked(2, false), "0 1 2 3 4 5 10 11 4/1 5/1 6 -7 8 9 10/1 11/1 12 13");
  EXPECT_EQ(Walked(2, true), "0 1 2 3 4 5 10 11 4/1 5/1 6 7 8 9 10/1 11/1 12 13");
}

TEST(StepByStep, TheWalkEndsWithTheVisitorsError) {
  const auto program = MakeProgram(ChainContents({}));
  const auto steps = Make(program, false);
  ASSERT_NE(steps, nullptr);
  int visits = 0;
  const Status status = WalkSteps(*steps, PlanOf(program), 0, [&](const StepVisit&) {
    return ++visits == 2 ? Error(Code::kDevice, "stop") : OkStatus();
  });
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_EQ(visits, 2);
}

TEST(StepByStep, TheReferenceUnpacksPackedOperands) {
  schema::Contents contents = schema::testing::ContentsOf(schema::testing::PackedProgram());
  const schema::Step& step = contents.program.steps[0];
  std::vector<float> w(40 * 24);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 7) - 3;
  abi::FindKernel(step.kernel)
      ->pack(step.problem, {}, 1, w.data(),
             contents.weights.data() + contents.program.buffers[step.inputs[1]].offset);
  const auto program = MakeProgram(contents);
  ASSERT_NE(program, nullptr);
  const UnpackedInput unpacked{0, 1, reinterpret_cast<const std::byte*>(w.data())};
  std::vector<float> twice = w;
  for (float& v : twice) v *= 2;
  const UnpackedInput other{0, 1, reinterpret_cast<const std::byte*>(twice.data())};
  const auto own = Make(program, false), given = Make(program, true, {&unpacked, 1});
  const auto itself = Make(program, true), doubled = Make(program, true, {&other, 1});
  ASSERT_TRUE(own != nullptr && given != nullptr && itself != nullptr && doubled != nullptr);
  const std::vector<float> x = RandomInput(5 * 40, 9);
  for (StepByStep* steps : {own.get(), given.get(), itself.get(), doubled.get()}) {
    WriteAll(*steps, 0, x.data());
    ASSERT_TRUE(steps->RunStep(0).ok());
  }
  const auto a = ReadAs<float>(*own, PlanOf(program), 2);
  const auto b = ReadAs<float>(*given, PlanOf(program), 2);
  const auto d = ReadAs<float>(*doubled, PlanOf(program), 2);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-4 * (1 + std::fabs(b[i])));
    EXPECT_NEAR(2 * b[i], d[i], 1e-4 * (1 + std::fabs(d[i]))) << "what is given counts";
  }
  EXPECT_EQ(ReadAs<float>(*itself, PlanOf(program), 2), b);
}

TEST(StepByStep, WhatCannotBeIsRefused) {
  const auto program = MakeProgram(ChainContents({}));
  EXPECT_EQ(MakeStepByStep(nullptr, 0, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeStepByStep(program, 1, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeReferenceSteps(program, 1, 0, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeStepByStep(program, 0, {.device = "cuda:0"}).status().code(), Code::kDevice);
  EXPECT_EQ(MakeStepByStep(program, 0, {.device = "gpu"}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace aicf
