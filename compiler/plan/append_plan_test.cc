// What a step that changes two caches may overwrite: both states, each by its own result, and of
// temporaries the first alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/text.h"
#include "compiler/plan/plan.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

constexpr const char* kAppendStep =
    "append math=fp32 pairs=0 core=5\n"
    "  in(f32 1x2x1x4 [8, 4, 4, 1]+0, f32 1x2x1x4 [8, 4, 4, 1]+0, i32 1x2x2 [4, 2, 1]+0,\n"
    "     f32 2x3x1x4 [12, 4, 4, 1]+0, f32 2x3x1x4 [12, 4, 4, 1]+0)\n"
    "  out(f32 2x3x1x4 [12, 4, 4, 1]+0, f32 2x3x1x4 [12, 4, 4, 1]+0) pro id epi id\n";

std::string MapStep(const char* name, const char* buffers, const char* op) {
  return StrCat("step [\"", name, "\"] ", buffers,
                " : elementwise math=fp32 core=1 in(f32 2x3x1x4 [12, 4, 4, 1]+0)\n",
                "  out(f32 2x3x1x4 [12, 4, 4, 1]+0) pro id epi (%0 = in 0 : f32; %1 = ", op,
                " %0 : f32) -> %1\n");
}

struct Planned {
  schema::Program program;
  DecisionLog log;
};

// The plan after all passes, verified.
Planned PlanOf(const std::string& text) {
  Planned out;
  Result<ir::Lowered> lowered = ir::ParseLowered(text);
  EXPECT_TRUE(lowered.ok()) << lowered.status().ToString();
  PassContext context;
  context.decisions = &out.log;
  context.device = *abi::FindDevice("cpu");
  if (!lowered.ok()) return out;
  const Status passes = PassRunner({}).Run(*lowered, context);
  EXPECT_TRUE(passes.ok()) << passes.ToString();
  PlanOptions options;
  options.images = false;
  const auto plan = MakePlan(*lowered, options, context);
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  if (!plan.ok()) return out;
  const auto bytes = schema::Serialize(*plan);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  out.program = plan->program;
  return out;
}

TEST(AppendPlan, BothStatesAreChangedInPlace) {
  const Planned plan = PlanOf(StrCat(R"(lowered "g"
%0 = input "k" f32 1x2x1x4
%1 = input "places" i32 1x2x2
%2 = input "keys" f32 2x3x1x4
%3 = input "values" f32 2x3x1x4
%4 = output "keys.next" f32 2x3x1x4
%5 = output "values.next" f32 2x3x1x4
%6 = output "y" f32 2x3x1x4
inputs %0, %1, %2, %3
outputs %4, %5, %6
state %2 %4
state %3 %5
step ["append"] (%0, %0, %1, %2, %3) -> (%4, %5) : )",
                                     kAppendStep, MapStep("neg", "(%5) -> (%6)", "neg")));
  ASSERT_EQ(plan.program.steps.size(), 2u);
  const auto in_place = std::ranges::count_if(plan.log.decisions(), [](const Decision& d) {
    return d.kind == DecisionKind::kState && d.choice == "made in the state's place";
  });
  EXPECT_EQ(in_place, 2);
}

TEST(AppendPlan, OfTemporariesTheKeysAloneAreOverwritten) {
  const Planned plan = PlanOf(
      StrCat(R"(lowered "g"
%0 = input "k" f32 1x2x1x4
%1 = input "places" i32 1x2x2
%2 = input "a" f32 2x3x1x4
%3 = temp "keys" f32 2x3x1x4
%4 = temp "values" f32 2x3x1x4
%5 = temp "next keys" f32 2x3x1x4
%6 = temp "next values" f32 2x3x1x4
%7 = output "x" f32 2x3x1x4
%8 = output "y" f32 2x3x1x4
inputs %0, %1, %2
outputs %7, %8
)",
             MapStep("neg", "(%2) -> (%3)", "neg"), MapStep("abs", "(%2) -> (%4)", "abs"),
             "step [\"append\"] (%0, %0, %1, %3, %4) -> (%5, %6) : ", kAppendStep,
             MapStep("exp", "(%5) -> (%7)", "exp"), MapStep("tanh", "(%6) -> (%8)", "tanh")));
  const auto step = std::ranges::find_if(plan.program.steps, [](const schema::Step& s) {
    return s.problem.family == abi::Family::kAppend;
  });
  ASSERT_NE(step, plan.program.steps.end());
  const schema::Buffer& keys = plan.program.buffers[step->outputs[0]];
  ASSERT_EQ(keys.storage, schema::Storage::kAlias);
  EXPECT_EQ(keys.alias_of, step->inputs[3]);
  EXPECT_EQ(plan.program.buffers[step->outputs[1]].storage, schema::Storage::kArena);
  const auto refused = std::ranges::count_if(plan.log.decisions(), [](const Decision& d) {
    return std::ranges::any_of(d.alternatives, [](const Alternative& a) {
      return a.refusal == "outputs: the operand becomes another output of the step";
    });
  });
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace aicf
