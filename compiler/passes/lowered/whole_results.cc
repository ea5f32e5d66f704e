#include "compiler/passes/lowered/whole_results.h"

#include <utility>
#include <vector>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {
namespace {

// The step with whole pixels for its result.
abi::Problem InPixels(abi::Problem p) {
  abi::View& out = p.outputs[0];
  out.strides = ir::StridesInOrder(out.shape, ir::ChannelsLastOrder(out.shape.rank()));
  out.offset = 0;
  return p;
}

void RecordSplit(PassContext& context, const ir::LoweredStep& step, const std::string& name,
                 const std::string& refusal) {
  Decision d = context.About(DecisionKind::kLayout,
                             schema::Subject::ValueOf(SubjectForm::kValue, name, step.sources),
                             "store-pixels");
  d.choice = "whole pixels and a copy";
  d.Because(Reason::kPredicted).alternatives = {{"row-major", refusal, -1}};
  context.Record(std::move(d));
}

// Why the step should not store its result in the order that it has; empty where it should, or
// where the step is not a convolution with one result.
std::string Refusal(const ir::LoweredStep& step, const PassContext& context) {
  const abi::Problem& p = step.problem;
  if (p.family != abi::Family::kConv || p.outputs.size() != 1) return "";
  return SlowerThanPixels(InPixels(p), p, context);
}

}  // namespace

ir::LoweredBuffer InWholePixels(const ir::LoweredBuffer& buffer, const Dims& shape) {
  const Dims stored =
      ir::Permute(abi::DenseView(buffer.dtype, shape), ir::ChannelsLastOrder(shape.rank())).shape;
  return {StrCat(buffer.name, " in whole pixels"), buffer.dtype, stored, schema::Role::kTemp, {}};
}

void StoreWholeResults(ir::Lowered& lowered, PassContext& context) {
  std::vector<ir::LoweredStep> steps;
  steps.reserve(lowered.steps.size());
  for (ir::LoweredStep& step : lowered.steps) {
    const std::string refusal = Refusal(step, context);
    if (refusal.empty()) {
      steps.push_back(std::move(step));
      continue;
    }
    const ir::BufferId result = step.outputs[0];
    const auto pixels = static_cast<ir::BufferId>(lowered.buffers.size());
    RecordSplit(context, step, lowered.buffers[result].name, refusal);
    ir::LoweredStep copy = step;
    step.problem = InPixels(std::move(step.problem));
    step.outputs = {pixels};
    copy.problem = CopyProblemOf(step.problem.outputs[0], copy.problem.outputs[0]);
    copy.inputs = {pixels};
    lowered.buffers.push_back(
        InWholePixels(lowered.buffers[result], step.problem.outputs[0].shape));
    steps.push_back(std::move(step));
    steps.push_back(std::move(copy));
  }
  lowered.steps = std::move(steps);
}

}  // namespace aicf
