// The ordered conditions of each kind of fusion.
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {
namespace {

// How many elements of the producer's expression are evaluated once it is part of the consumer. The
// consumer evaluates it once for every distinct view through which it reads the result.
int64_t EvaluationsInside(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  std::vector<const abi::View*> views;
  int64_t count = 0;
  for (size_t k = 0; k < consumer.inputs.size(); ++k) {
    const abi::View& v = consumer.problem.inputs[k];
    if (consumer.inputs[k] != producer.outputs[0]) continue;
    bool seen = false;
    for (const abi::View* other : views) seen |= ir::SameElements(*other, v);
    if (seen) continue;
    views.push_back(&v);
    count += abi::ElementsOf(v);
  }
  return count;
}

// Refuses a fusion that evaluates more elements than now: if the reader broadcasts the value, every
// repetition would compute it again.
std::string CheckRecompute(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const int64_t now = abi::ElementsOf(producer.problem.outputs[0]);
  const int64_t then = EvaluationsInside(producer, consumer);
  if (then <= now) return "";
  return StrCat("recompute: the consumer would evaluate ", then, " elements instead of ", now);
}

}  // namespace

std::string RefuseSlower(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                         const ir::LoweredStep& one, const abi::DeviceSpec& device,
                         PairCosts* costs) {
  if (device.name.empty()) return "";
  std::string refusal, unused;
  const auto first = PredictedUs(producer.problem, device, &unused);
  const auto second = PredictedUs(consumer.problem, device, &unused);
  if (!first || !second) return "";
  const auto one_us = PredictedUs(one.problem, device, &refusal);
  if (!one_us) return refusal;
  if (costs != nullptr) *costs = {*one_us, *first + *second};
  return *one_us < *first + *second ? "" : "cost: the two steps are predicted to be faster";
}

Fusion TryElementwise(const ir::StepEditor& editor, const PassContext& context, int producer,
                      int consumer) {
  const ir::LoweredStep& p = editor.step(producer);
  const ir::LoweredStep& c = editor.step(consumer);
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
  if (refusal.empty()) refusal = CheckRecompute(p, c);
  if (!refusal.empty()) return {refusal, {}};
  return InlineProducer(p, c);
}

Fusion TryPrologue(const ir::StepEditor& editor, const PassContext& context, int producer,
                   int consumer) {
  const ir::LoweredStep& p = editor.step(producer);
  const ir::LoweredStep& c = editor.step(consumer);
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
  for (size_t k = c.problem.core_inputs; k < c.inputs.size() && refusal.empty(); ++k) {
    if (c.inputs[k] == p.outputs[0]) refusal = "operand: the epilogue reads the same value";
  }
  if (refusal.empty() && p.inputs.empty() && c.problem.core_inputs == 1) {
    refusal = "operand: the producer reads none, so that the consumer would be left without one";
  }
  if (refusal.empty()) refusal = CheckRecompute(p, c);
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = InlineProducer(p, c);
  if (fused.ok()) fused.refusal = LosesKernel(c.problem, fused.step.problem, context.device);
  return fused;
}

Fusion TryEpilogue(const ir::StepEditor& editor, const PassContext& context, int producer,
                   int consumer) {
  const ir::LoweredStep& p = editor.step(producer);
  const ir::LoweredStep& c = editor.step(consumer);
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
  if (refusal.empty() && c.outputs.size() != 1) refusal = "outputs: the consumer has several";
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = AppendConsumer(p, c);
  if (fused.ok()) fused.refusal = LosesKernel(p.problem, fused.step.problem, context.device);
  if (fused.ok()) fused.refusal = SlowerThanPixels(p.problem, fused.step.problem, context);
  return fused;
}

}  // namespace aicf
