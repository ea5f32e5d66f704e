// --policy=attention=flash|general|cudnn: honoured, or refused with what is in the way.
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

/// y = attention(q, k, v) of 8 heads of 64 elements, 128 rows and keys.
ir::Lowered OneAttention(DType dtype) {
  ir::Lowered lowered;
  const abi::View view = abi::DenseView(dtype, {1, 8, 128, 64});
  ir::LoweredStep step;
  step.sources = {"attend"};
  step.problem.family = abi::Family::kAttention;
  step.problem.attrs = abi::AttentionAttrs{.scale = 0.125};
  step.problem.math = dtype == DType::kF16 ? abi::MathMode::kFp16 : abi::MathMode::kFp32;
  step.problem.core_inputs = 3;
  step.problem.inputs.assign(3, view);
  step.problem.outputs = {view};
  for (uint32_t i = 0; i < 4; ++i) {
    ir::LoweredBuffer buffer;
    buffer.name = std::string(1, "qkvy"[i]);
    buffer.dtype = dtype;
    buffer.shape = view.shape;
    buffer.role = i < 3 ? schema::Role::kInput : schema::Role::kOutput;
    lowered.buffers.push_back(std::move(buffer));
    (i < 3 ? step.inputs : step.outputs).push_back(i);
  }
  lowered.inputs = {0, 1, 2};
  lowered.outputs = {3};
  lowered.steps = {step};
  return lowered;
}

struct AttentionPlan {
  Status status;
  std::string kernel;
  Decision decision;  ///< which kernel
};

AttentionPlan PlanAttention(const std::string& policy, bool strict,
                            const std::string& target = "cuda:sm_90a", DType dtype = DType::kF16) {
  CompileOptions options;
  options.target = target;
  options.images = false;
  options.policy = *Policy::Parse(policy);
  options.policy_strict = strict;
  DecisionLog log;
  PassContext context;
  context.device = *abi::FindDevice(target);
  context.decisions = &log;
  const ir::Lowered lowered = OneAttention(dtype);
  EXPECT_TRUE(ir::Verify(lowered).ok()) << ir::Verify(lowered).ToString();
  const Result<schema::Contents> contents = MakePlan(lowered, options, context);
  AttentionPlan plan{contents.status(), "", {}};
  if (!contents.ok()) return plan;
  EXPECT_TRUE(schema::Serialize(*contents).ok()) << "verifies";
  plan.kernel = contents->program.steps.at(0).kernel;
  for (const Decision& d : log.decisions()) {
    if (d.kind == DecisionKind::kKernel) plan.decision = d;
  }
  return plan;
}

TEST(AttentionPolicy, NamesChooseTheKernelThatTheyStandFor) {
  const std::pair<const char*, const char*> rows[] = {
      {"attention=flash", "cuda.attention.hopper"},
      {"node:attend=flash", "cuda.attention.hopper"},
      {"attention=general", "cuda.attention.general"},
      {"attention=tensor", "cuda.attention.tensor"},
      {"attention=cuda.attention.general", "cuda.attention.general"}};
  for (const auto& [policy, kernel] : rows) {
    const AttentionPlan plan = PlanAttention(policy, /*strict=*/true);
    ASSERT_TRUE(plan.status.ok()) << policy << ": " << plan.status.ToString();
    EXPECT_EQ(plan.kernel, kernel) << policy;
    EXPECT_EQ(ReasonText(plan.decision), "policy") << policy;
  }
  const AttentionPlan elsewhere = PlanAttention("attention=general", true, "cuda:sm_80");
  EXPECT_EQ(elsewhere.kernel, "cuda.attention.general") << elsewhere.status.ToString();
  const AttentionPlan cpu = PlanAttention("attention=flash", true, "cpu:baseline", DType::kF32);
  EXPECT_EQ(cpu.kernel, "cpu.attention.flash_baseline") << cpu.status.ToString();
}

struct UnmetCase {
  const char* policy;
  const char* target;
  DType dtype;
  const char* sentence;
};

const UnmetCase kUnmet[] = {
    {"attention=flash", "cuda:sm_80", DType::kF16,
     "policy asks for cuda.attention.hopper, which multiplies by warpgroups (wgmma), which only "
     "sm_90a has, the device is cuda:sm_80"},
    {"attention=flash", "cuda:sm_90a", DType::kF32,
     "policy asks for cuda.attention.hopper, which multiplies bf16 in math mode bf16 and f16 in "
     "fp16 only"},
    {"attention=general", "cpu:baseline", DType::kF32,
     "policy asks for 'general', which names no kernel for this target"},
    {"attention=cudnn", "cuda:sm_90a", DType::kF16,
     "policy asks for cudnn, which cannot be called: there is no builder of cuDNN's operation "
     "graphs and no record of its execution plans; flash and general are there"},
    {"node:attend=cudnn", "cuda:sm_86", DType::kF16, "policy asks for cudnn, which cannot be"},
};

TEST(AttentionPolicy, WhatIsNotHonouredIsRecorded) {
  for (const UnmetCase& c : kUnmet) {
    const AttentionPlan plan = PlanAttention(c.policy, /*strict=*/false, c.target, c.dtype);
    ASSERT_TRUE(plan.status.ok()) << c.policy << ": " << plan.status.ToString();
    EXPECT_NE(plan.decision.reason, Reason::kPolicy) << c.policy;
    EXPECT_EQ(plan.decision.sentence.find(c.sentence), 0u) << ReasonText(plan.decision);
  }
}

TEST(AttentionPolicy, AStrictPolicyThatIsNotHonouredIsAnError) {
  for (const UnmetCase& c : kUnmet) {
    const Status status = PlanAttention(c.policy, /*strict=*/true, c.target, c.dtype).status;
    EXPECT_EQ(status.code(), Code::kUnsupported) << c.policy;
    EXPECT_NE(status.message().find(StrCat("step 0 [attend]: ", c.sentence)), std::string::npos)
        << status.message();
  }
}

}  // namespace
}  // namespace aicf
