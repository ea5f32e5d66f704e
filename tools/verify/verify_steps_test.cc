// Step-by-step verification with executors that go wrong on purpose.
#include "tools/verify/verify_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/functions.h"
#include "runtime/cuda/cuda_steps.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/test_loops.h"
#include "runtime/test_program.h"
#include "schema/testing.h"

namespace aicf::tools {
namespace {

using aicf::testing::ChainContents;
using aicf::testing::ChainOptions;
using aicf::testing::MakeProgram;

/// Another executor, whose memory is changed after some steps.
class Doctored final : public StepByStep {
 public:
  using Change = std::function<void(StepByStep& steps, uint32_t step, int run)>;
  Doctored(std::unique_ptr<StepByStep> steps, Change change)
      : steps_(std::move(steps)), change_(std::move(change)) {}
  Status Read(uint32_t buffer, std::byte* to) override { return steps_->Read(buffer, to); }
  Status Write(uint32_t buffer, const std::byte* from) override {
    return steps_->Write(buffer, from);
  }
  Status RunStep(uint32_t step) override {
    AICF_RETURN_IF_ERROR(steps_->RunStep(step));
    if (change_) change_(*steps_, step, runs_[step]++);
    return OkStatus();
  }
  std::string device_name() const override { return "doctored"; }

 private:
  std::unique_ptr<StepByStep> steps_;
  Change change_;
  std::map<uint32_t, int> runs_;
};

/// Adds `by` to one float of a buffer.
void Nudge(const schema::Program& plan, StepByStep& steps, uint32_t buffer, size_t element,
           float by) {
  std::vector<float> values(plan.buffers[buffer].bytes / 4);
  auto* bytes = reinterpret_cast<std::byte*>(values.data());
  ASSERT_TRUE(steps.Read(buffer, bytes).ok());
  values[element] += by;
  ASSERT_TRUE(steps.Write(buffer, bytes).ok());
}

std::vector<std::byte> BytesOf(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

StepsReport Verify(const schema::Contents& contents, const std::vector<std::vector<std::byte>>& in,
                   const Doctored::Change& change, const VerifyOptions& options = {}) {
  const auto program = MakeProgram(contents);
  if (program == nullptr) return {};
  auto device = MakeStepByStep(program, 0, {.device = "cpu"});
  auto reference = MakeReferenceSteps(program, 0, 1, {});
  auto drift = MakeReferenceSteps(program, 0, 1, {});
  EXPECT_TRUE(device.ok() && reference.ok() && drift.ok());
  Doctored doctored(*std::move(device), change);
  const auto report = CompareSteps(program->artifact().program(), 0,
                                   {doctored, **reference, **drift, {}}, in, options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  return report.ok() ? *report : StepsReport{};
}

class VerifyChain : public ::testing::Test {
 protected:
  VerifyChain() : contents_(ChainContents(chain_)) {
    input_ = {BytesOf(aicf::testing::RandomInput(chain_.elements, 7))};
  }
  StepsReport With(const Doctored::Change& change, const VerifyOptions& options = {}) {
    return Verify(contents_, input_, change, options);
  }
  Doctored::Change NudgeAfter(uint32_t step, uint32_t buffer, size_t element, float by) {
    return [=, this](StepByStep& steps, uint32_t s, int) {
      if (s == step) Nudge(contents_.program, steps, buffer, element, by);
    };
  }

  ChainOptions chain_{.steps = 5};
  schema::Contents contents_;  // buffers: 0 x, 1 w, 2 y, 3.. the results of steps 0 to 3
  std::vector<std::vector<std::byte>> input_;
};

TEST_F(VerifyChain, RightKernelsPass) {
  const StepsReport report = With({});
  EXPECT_TRUE(report.pass);
  EXPECT_FALSE(report.first_failed.has_value());
  EXPECT_EQ(report.device, "doctored");
  ASSERT_EQ(report.steps.size(), 5u);
  for (const StepCheck& s : report.steps) {
    EXPECT_TRUE(s.pass);
    EXPECT_EQ(s.runs, 1);
    EXPECT_EQ(s.comparison.elements, 1000);
    EXPECT_EQ(s.comparison.max_abs_error, 0) << "sums and products of floats have one result";
  }
  ASSERT_EQ(report.outputs.size(), 1u);
  EXPECT_EQ(report.outputs[0].name, "y");
  EXPECT_EQ(report.outputs[0].comparison.max_abs_error, 0);
}

TEST_F(VerifyChain, AWrongStepIsFoundAloneWithItsWorstElement) {
  const StepsReport report = With(NudgeAfter(2, 5, 417, 0.5f));
  EXPECT_FALSE(report.pass);
  ASSERT_EQ(report.first_failed, 2u);
  for (const StepCheck& s : report.steps) EXPECT_EQ(s.pass, s.step != 2) << s.step;
  const StepCheck& s = report.steps[2];
  EXPECT_EQ(s.comparison.worst, 417);
  EXPECT_EQ(s.comparison.mismatches, 1);
  EXPECT_NEAR(s.comparison.got - s.comparison.expected, 0.5, 1e-6);
  EXPECT_TRUE(s.changed.empty());
  // What it did wrong travels on in the drift, and reaches the output.
  EXPECT_EQ(report.steps[1].drift_l2, 0);
  EXPECT_GT(report.steps[4].drift_l2, 0);
  EXPECT_EQ(report.outputs[0].comparison.worst, 417);
}

TEST_F(VerifyChain, ASmallErrorIsJudgedByTheToleranceThatIsGiven) {
  const auto change = NudgeAfter(2, 5, 417, 0.01f);
  EXPECT_FALSE(With(change).pass);
  EXPECT_TRUE(With(change, {.tolerance = {0.02, {}, {}}}).pass);
  EXPECT_FALSE(With(change, {.tolerance = {0.005, {}, {}}}).pass);
}

TEST_F(VerifyChain, NoNumberIsAFailure) {
  EXPECT_EQ(With(NudgeAfter(0, 3, 9, std::nanf(""))).first_failed, 0u);
  EXPECT_EQ(With(NudgeAfter(0, 3, 9, std::numeric_limits<float>::infinity())).first_failed, 0u);
}

TEST_F(VerifyChain, AWriteOutsideAStepsOutputsIsFoundByItsReader) {
  // Step 1 changes x, which step 2 reads; and what step 0 left, which nobody reads any more.
  StepsReport report = With(NudgeAfter(1, 0, 5, 1));
  EXPECT_EQ(report.first_failed, 2u);
  EXPECT_EQ(report.steps[2].changed, "x");
  EXPECT_TRUE(report.steps[3].changed.empty()) << "reported once";
  report = With(NudgeAfter(1, 3, 5, 1));
  EXPECT_TRUE(report.pass);
}

TEST_F(VerifyChain, ProgressCountsTheSteps) {
  std::vector<int> seen;
  VerifyOptions options;
  options.progress = [&](int done, int total) {
    seen.push_back(done);
    EXPECT_EQ(total, 5);
  };
  With({}, options);
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4, 5}));
}

class VerifyLoops : public ::testing::Test {
 protected:
  StepsReport With(float limit, bool flag, const Doctored::Change& change) {
    return Verify(contents_, {BytesOf({limit}), {static_cast<std::byte>(flag)}}, change);
  }
  schema::Contents contents_ = aicf::testing::LoopContents(/*on_device=*/false);
};

TEST_F(VerifyLoops, EveryTripIsComparedAndSkippedStepsAreNot) {
  StepsReport report = With(4, true, {});
  EXPECT_TRUE(report.pass);
  EXPECT_EQ(report.steps[6].runs, 6) << "0 + 1 + 2 + 3 trips";
  EXPECT_EQ(report.steps[10].runs, 4);
  report = With(4, false, {});
  EXPECT_TRUE(report.pass);
  EXPECT_EQ(report.steps[7].runs, 0);
  EXPECT_TRUE(With(0, true, {}).pass);
}

TEST_F(VerifyLoops, AFaultInOneTripIsFoundThere) {
  const uint32_t total = contents_.program.steps[6].outputs[0];
  const StepsReport report = With(4, true, [&](StepByStep& steps, uint32_t step, int run) {
    if (step == 6 && run == 3) Nudge(contents_.program, steps, total, 0, 2);
  });
  EXPECT_EQ(report.first_failed, 6u);
  EXPECT_EQ(report.steps[6].trip, 3);
  EXPECT_EQ(report.steps[6].comparison.got - report.steps[6].comparison.expected, 2);
  for (const StepCheck& s : report.steps) EXPECT_EQ(s.pass, s.step != 6) << s.step;
}

TEST(VerifySteps, OnlyTheElementsThatAStepWritesAreItsOwn) {
  schema::Contents contents = schema::testing::ContentsOf(schema::testing::ConcatProgram());
  const schema::Program& plan = contents.program;
  // Two steps fill one buffer.
  size_t second = 1;
  while (plan.steps[second].outputs[0] != plan.steps[0].outputs[0]) ++second;
  const auto& view = plan.steps[second].problem.outputs[0];
  std::vector<std::vector<std::byte>> inputs;
  for (uint32_t b : plan.entry_points[0].inputs) {
    inputs.push_back(BytesOf(std::vector<float>(plan.buffers[b].bytes / 4, 0.5f)));
  }
  EXPECT_TRUE(Verify(contents, inputs, {}).pass);
  const StepsReport report = Verify(contents, inputs, [&](StepByStep& steps, uint32_t step, int) {
    if (step != second) return;
    Nudge(plan, steps, plan.steps[second].outputs[0], static_cast<size_t>(view.offset), 1);
  });
  EXPECT_EQ(report.first_failed, second);
  EXPECT_EQ(report.steps[second].comparison.worst, 0) << "counted in the step's own view";
}

// The device's side as a GPU has it, on the fake driver: one launch of a kernel computes wrongly.
TEST(VerifySteps, AWrongLaunchIsFoundOnADevice) {
  cuda::testing::FakeMachine machine;
  cuda::testing::Machine() = &machine;
  cuda::Driver driver(cuda::testing::FakeApi());
  ChainOptions chain;
  chain.target = "cuda:sm_90a";
  chain.steps = 5;
  const auto program = MakeProgram(ChainContents(chain));
  ASSERT_NE(program, nullptr);
  int launches = 0, wrong = -1;
  for (const schema::Step& step : program->artifact().program().steps) {
    cuda::testing::FakeFunction& function = machine.functions[step.symbol];
    function.parameters = 4;
    function.run = [&, problem = step.problem](void** parameters) {
      void* buffers[3];
      for (size_t i = 0; i < 3; ++i) buffers[i] = *static_cast<void**>(parameters[i]);
      cpu::RunSerial(abi::ReferenceKey(problem.family), problem, buffers);
      if (launches++ == wrong) static_cast<float*>(buffers[2])[11] = 1e6f;
    };
  }
  const std::vector<std::vector<std::byte>> input = {
      BytesOf(aicf::testing::RandomInput(chain.elements, 7))};
  for (const int fault : {-1, 3}) {
    launches = 0;
    wrong = fault;
    auto device = cuda::CreateCudaSteps(program, 0, 0, &driver);
    auto reference = MakeReferenceSteps(program, 0, 1, {});
    auto drift = MakeReferenceSteps(program, 0, 1, {});
    ASSERT_TRUE(device.ok() && reference.ok() && drift.ok()) << device.status().ToString();
    const auto report = CompareSteps(program->artifact().program(), 0,
                                     {**device, **reference, **drift, {}}, input, {});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->device, "Fake GPU");
    EXPECT_EQ(report->pass, fault < 0);
    EXPECT_EQ(launches, 5) << "every step once";
    if (fault < 0) continue;
    EXPECT_EQ(report->first_failed, 3u);
    for (const StepCheck& s : report->steps) EXPECT_EQ(s.pass, s.step != 3) << s.step;
    EXPECT_EQ(report->steps[3].comparison.worst, 11);
  }
  EXPECT_EQ(machine.problem, "");
}

TEST(VerifySteps, ACudaPlanOnTheCpuHasNothingToCompare) {
  ChainOptions chain;
  chain.target = "cuda:sm_90a";
  const auto bytes = schema::Serialize(ChainContents(chain));
  ASSERT_TRUE(bytes.ok());
  const auto stored = schema::Artifact::Parse(*bytes, true);
  const Status status =
      VerifySteps(*Program::FromBytes(*bytes), *stored, 0, {.device = "cpu"}, {}, {}).status();
  EXPECT_EQ(status.code(), Code::kDevice);
  for (const char* part : {"--device=cuda:0", "--verify=golden", "--target=cpu"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace aicf::tools
