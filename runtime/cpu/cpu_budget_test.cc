// Work that an artifact asks for is bounded: before a run by its steps, in a run by the trips of
// its loops, and while loading by the size of the program.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/cpu/cpu_session.h"
#include "runtime/step_by_step.h"
#include "runtime/test_loops.h"
#include "runtime/test_program.h"
#include "schema/codec.h"
#include "schema/roots.h"
#include "schema/verify.h"

namespace aicf {
namespace {

using schema::testing::ContentsOf;
using schema::testing::Elementwise;
using schema::testing::ProgramBuilder;
using testing::MakeProgram;

SessionOptions Allowing(double operations) {
  SessionOptions options;
  options.max_operations = operations;
  options.threads = 1;
  return options;
}

// y = the product of two operands of one element each, repeated `depth` times.
std::shared_ptr<const Program> ProductOf(int64_t depth) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1}), w = b.Constant("w", {1}), y = b.Output("y", {1, 1});
  abi::Problem p = schema::testing::Core(abi::Family::kGemm, abi::GemmAttrs{}, 2);
  p.inputs = {{DType::kF32, {1, depth}, {0, 0}, 0}, {DType::kF32, {depth, 1}, {0, 0}, 0}};
  b.AddStep(p, {x, w}, {y});
  return MakeProgram(ContentsOf(b.Finish()));
}

TEST(CpuBudget, StepsBeyondTheLimitAreRefusedBeforeTheyRun) {
  const auto program = ProductOf(1000000);
  const auto refused = CreateCpuSession(program, Allowing(1e6));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kResource);
  EXPECT_EQ(refused.status().message(),
            "entry point 'main' takes 1e+06 operations for a run, the limit is 1e+06; "
            "SessionOptions::max_operations (aicf-run --max-operations=N) raises it");
  EXPECT_TRUE(CreateCpuSession(program, Allowing(2e6)).ok());
  EXPECT_TRUE(CreateCpuSession(program, {}).ok());
}

TEST(CpuBudget, LimitsThatAreNoneAreRefused) {
  const auto program = ProductOf(1);
  const auto device_program = MakeProgram(testing::LoopContents(/*on_device=*/true));
  for (const double wrong : {-1.0, -1e-300, -HUGE_VAL, std::nan("")}) {
    const Status session = CreateCpuSession(program, Allowing(wrong)).status();
    EXPECT_EQ(session.code(), Code::kInvalidArgument) << session.message();
    EXPECT_EQ(Session::Create(device_program, Allowing(wrong)).status().message(),
              session.message());
    EXPECT_EQ(MakeStepByStep(program, 0, Allowing(wrong)).status().message(), session.message());
    const auto steps = MakeStepByStep(program, 0, Allowing(0));
    ASSERT_TRUE(steps.ok()) << steps.status().message();
    const auto pass = [](const StepVisit&) { return OkStatus(); };
    EXPECT_EQ(WalkSteps(**steps, program->artifact().program(), 0, pass, wrong).message(),
              session.message());
  }
  EXPECT_EQ(CreateCpuSession(program, Allowing(-1)).status().message(),
            "max_operations: expected 0 (the default) or more, got -1");
  for (const double right : {0.0, -0.0, 1e14, HUGE_VAL}) {
    EXPECT_TRUE(CreateCpuSession(program, Allowing(right)).ok()) << right;
  }
}

TEST(CpuBudget, TheFormatHasALimitOfItsOwn) {
  ProgramBuilder b;
  const int64_t many = schema::kMaxViewElements;
  // A million results of 2^40 products each, twenty times.
  const uint32_t x = b.Input("x", {1});
  abi::Problem p = schema::testing::Core(abi::Family::kGemm, abi::GemmAttrs{}, 2);
  p.inputs = {{DType::kF32, {1, many}, {0, 0}, 0}, {DType::kF32, {many, 1}, {0, 0}, 0}};
  for (int i = 0; i < 2; ++i) {
    abi::Problem step = p;
    step.inputs[0].shape = {1024, many / 1024};
    step.inputs[1].shape = {many / 1024, 1024};
    b.AddStep(step, {x, x}, {b.Output(StrCat("y", i), {1024, 1024})});
  }
  EXPECT_TRUE(schema::VerifyProgram(b.Finish()).ok());
  abi::Problem step = p;
  step.inputs[0].shape = {1 << 20, 1 << 20};
  step.inputs[1].shape = {1 << 20, 1 << 20};
  for (int i = 2; i < 12; ++i)
    b.AddStep(step, {x, x}, {b.Output(StrCat("y", i), {1 << 20, 1 << 20})});
  const Status status = schema::VerifyProgram(b.Finish());
  EXPECT_EQ(status.code(), Code::kResource);
  EXPECT_NE(status.message().find("limit 1e+19"), std::string::npos) << status.message();
}

// The loop of runtime/test_loops.h as long as its input says.
TEST(CpuBudget, ALoopWithoutEndEnds) {
  const auto program = MakeProgram(testing::LoopContents(/*on_device=*/false));
  const auto created = CreateCpuSession(program, Allowing(3e7));
  ASSERT_TRUE(created.ok()) << created.status().message();
  Session& session = **created;
  const auto run = [&](float limit) {
    const bool flag = true;
    EXPECT_TRUE(session.SetInput("limit", {DType::kF32, {1}, &limit, 4}).ok());
    EXPECT_TRUE(session.SetInput("flag", {DType::kBool, {1}, &flag, 1}).ok());
    return session.Run();
  };
  EXPECT_TRUE(run(20).ok());
  const Status endless = run(1e9);
  EXPECT_EQ(endless.code(), Code::kResource);
  EXPECT_NE(endless.message().find("--max-operations"), std::string::npos) << endless.message();
  EXPECT_FALSE(session.Profile(1).ok());
  EXPECT_FALSE(session.TimeReplays(1).ok());
  // The session goes on.
  EXPECT_TRUE(run(20).ok());
  float total = 0;
  ASSERT_TRUE(session.GetOutput("y", {DType::kF32, {1}, &total, 4}).ok());
  EXPECT_EQ(total, 190);
}

// What executes step by step, for a comparison or a trace, has the same limits.
TEST(CpuBudget, StepsOneByOneEndToo) {
  EXPECT_EQ(MakeStepByStep(ProductOf(1000000), 0, Allowing(1e6)).status().code(), Code::kResource);
  const auto program = MakeProgram(testing::LoopContents(/*on_device=*/false));
  const schema::Program& plan = program->artifact().program();
  const auto steps = MakeStepByStep(program, 0, Allowing(1e6));
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  const auto walk = [&](float limit) {
    EXPECT_TRUE(
        (*steps)
            ->Write(plan.entry_points[0].inputs[0], reinterpret_cast<const std::byte*>(&limit))
            .ok());
    return WalkSteps(
        **steps, plan, 0,
        [&](const StepVisit& visit) {
          return visit.runs ? (*steps)->RunStep(visit.step) : OkStatus();
        },
        1e6);
  };
  EXPECT_TRUE(walk(5).ok());
  const Status endless = walk(1e9);
  EXPECT_EQ(endless.code(), Code::kResource);
  EXPECT_NE(endless.message().find("--max-operations"), std::string::npos) << endless.message();
}

// Values in place of one another, in a chain as long as the program: quadratic work would take
// minutes.
TEST(CpuBudget, AChainOfAliasesLoadsInLinearTime) {
  constexpr uint32_t kSteps = 200000;
  ProgramBuilder b;
  uint32_t last = b.Input("x", {1});
  const uint32_t first = b.Temp({1});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {last}, {first});
  last = first;
  for (uint32_t i = 1; i < kSteps; ++i) {
    const uint32_t next = b.Temp({1});
    b.MakeAlias(next, last);
    b.AddStep(Elementwise(abi::ExprOp::kNeg), {last}, {next});
    last = next;
  }
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {last}, {b.Output("y", {1})});
  const schema::Program plan = b.Finish();
  const std::vector<uint32_t> roots = schema::RootsOf(plan);
  EXPECT_EQ(roots[first], first);
  EXPECT_EQ(roots[last], first);
  EXPECT_EQ(schema::RootOf(plan, first + 1000), roots[first + 1000]);
  const auto session = CreateCpuSession(MakeProgram(ContentsOf(plan)), Allowing(0));
  ASSERT_TRUE(session.ok()) << session.status().message();
  const float x = 3;
  ASSERT_TRUE((*session)->SetInput("x", {DType::kF32, {1}, &x, 4}).ok());
  ASSERT_TRUE((*session)->Run().ok());
  float y = 0;
  ASSERT_TRUE((*session)->GetOutput("y", {DType::kF32, {1}, &y, 4}).ok());
  EXPECT_EQ(y, kSteps % 2 == 0 ? -3 : 3);
}

// A thousand entry points over a hundred thousand buffers: what every entry point has for itself is
// its own part of them.
TEST(CpuBudget, EntryPointsShareWhatTheyKnowOfBuffers) {
  constexpr uint32_t kEntries = 1000, kBuffersEach = 100;
  ProgramBuilder b;
  std::vector<schema::EntryPoint> entries;
  for (uint32_t e = 0; e < kEntries; ++e) {
    const uint32_t x = b.Input("x", {1});
    uint32_t last = x;
    for (uint32_t i = 2; i < kBuffersEach; ++i) {
      const uint32_t next = b.Temp({1});
      b.AddStep(Elementwise(abi::ExprOp::kNeg), {last}, {next});
      last = next;
    }
    const uint32_t y = b.Output("y", {1});
    b.AddStep(Elementwise(abi::ExprOp::kNeg), {last}, {y});
    entries.push_back({StrCat("e", e), {x}, {y}, e * (kBuffersEach - 1), kBuffersEach - 1});
  }
  schema::Program plan = b.Finish();
  plan.entry_points = entries;
  const auto session = CreateCpuSession(MakeProgram(ContentsOf(plan)), Allowing(0));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE((*session)->SelectEntry("e999").ok());
  EXPECT_TRUE((*session)->Run().ok());
}

// A buffer that is read after each of its writes.
TEST(CpuBudget, PartsThatAreReadOneByOneAreLinear) {
  constexpr uint32_t kParts = 5000;
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1}), whole = b.Temp({kParts}), y = b.Output("y", {kParts});
  for (uint32_t i = 0; i < kParts; ++i) {
    abi::Problem write = Elementwise(abi::ExprOp::kNeg), read = write;
    write.outputs = {{DType::kF32, {1}, {1}, i}};
    read.inputs = read.outputs = write.outputs;
    b.AddStep(write, {x}, {whole});
    b.AddStep(read, {whole}, {y});
  }
  EXPECT_EQ(schema::VerifyProgram(b.Finish()).message(), "");
}

}  // namespace
}  // namespace aicf
