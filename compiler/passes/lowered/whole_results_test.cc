// Convolutions whose results are outputs, with predictions that say what they should.
#include "compiler/passes/lowered/whole_results.h"

#include <gtest/gtest.h>

#include "compiler/decisions/decisions.h"
#include "compiler/passes/lowered/conv_testing.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// 128 channels of 48 x 48 pixels to 128 in the model's order, of f32 in math mode fp16.
ir::Lowered Program() {
  ir::Lowered program;
  ir::LoweredStep step;
  step.sources = {"conv"};
  step.problem = ConvolutionOf(DType::kF32, 128, 128, 48);
  const Dims images = step.problem.outputs[0].shape;
  step.problem.outputs = {abi::DenseView(DType::kF32, images)};
  step.inputs = {0, 1};
  step.outputs = {2};
  program.buffers = {{"x", DType::kF32, {1, 48, 48, 128}, schema::Role::kInput, {}},
                     {"w", DType::kF32, {3, 3, 128, 128}, schema::Role::kInput, {}},
                     {"y", DType::kF32, images, schema::Role::kOutput, {}}};
  program.inputs = {0, 1};
  program.outputs = {2};
  program.steps = {step};
  return program;
}

bool IsForTensorCores(const abi::Candidate& c) { return c.row.find("conv.hopper") != c.row.npos; }
double ForTensorCores(const abi::Candidate& c, abi::MathMode, const abi::DeviceSpec&) {
  return IsForTensorCores(c) ? 1 : 100;
}
double ForOthers(const abi::Candidate& c, abi::MathMode, const abi::DeviceSpec&) {
  return IsForTensorCores(c) ? 100 : 1;
}

struct Stored {
  ir::Lowered program = Program();
  DecisionLog log;

  Stored(std::string_view target, DType storage, CorrectedCost costs) {
    PassContext context;
    context.device = *abi::FindDevice(target);
    context.storage = storage;
    context.corrected_cost = costs;
    context.decisions = &log;
    EXPECT_TRUE(StorePixels(program, context).ok());
    EXPECT_TRUE(ir::Verify(program).ok()) << ir::Verify(program).ToString();
  }
};

// A copy is an elementwise step, which costs 100 here: less than a convolution for 300.
double WithACopy(const abi::Candidate& c, abi::MathMode, const abi::DeviceSpec&) {
  if (IsForTensorCores(c)) return 1;
  return c.row.find("conv") != c.row.npos ? 300 : 100;
}

TEST(WholeResults, AreStoredAsPixelsAndCopiedWhereThatIsFaster) {
  const Stored stored("cuda:sm_90a", DType::kF16, WithACopy);
  const auto& steps = stored.program.steps;
  ASSERT_EQ(steps.size(), 2u);
  const abi::View pixels = PixelsOf(DType::kF32, 128, 48);
  EXPECT_EQ(steps[0].problem.outputs[0], pixels);
  EXPECT_EQ(steps[1].problem.family, abi::Family::kElementwise);
  EXPECT_EQ(steps[1].problem.inputs[0], pixels);
  EXPECT_EQ(steps[1].problem.outputs[0], Program().steps[0].problem.outputs[0]);
  EXPECT_EQ(steps[1].outputs, (std::vector<ir::BufferId>{2}));
  EXPECT_EQ(stored.program.buffers[steps[0].outputs[0]].name, "y in whole pixels");
  ASSERT_EQ(stored.log.size(), 1u);
  const Decision& d = stored.log.decisions()[0];
  EXPECT_EQ(d.choice, "whole pixels and a copy");
  EXPECT_TRUE(d.alternatives[0].refusal.starts_with("cost: cuda.conv.hopper and a copy"))
      << d.alternatives[0].refusal;
}

TEST(WholeResults, StayWhereACopyCostsMore) {
  // What the copy costs is added: 1 and 100 are no less than 100.
  EXPECT_EQ(Stored("cuda:sm_90a", DType::kF16, ForTensorCores).program.steps.size(), 1u);
  EXPECT_EQ(Stored("cuda:sm_90a", DType::kF16, ForOthers).program.steps.size(), 1u);
}

TEST(WholeResults, StayWhereNoKernelWantsPixels) {
  EXPECT_EQ(Stored("cpu", DType::kF32, WithACopy).program.steps.size(), 1u);
  EXPECT_EQ(Stored("cuda:sm_80", DType::kF16, WithACopy).program.steps.size(), 1u);
  // Operands of f32 in math mode fp16 are for other tensor core kernels.
  EXPECT_EQ(Stored("cuda:sm_90a", DType::kF32, WithACopy).program.steps.size(), 1u);
}

}  // namespace
}  // namespace aicf
