// A step that appends one row of each request to a cache in pages, and the attention that reads the
// cache behind it, become one attention that appends (abi::AttentionAttrs::append_pairs).
#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"
#include "kernels/abi/append.h"
#include "kernels/abi/attention.h"

namespace aicf {
namespace {

// Empty, or why the values between the two steps cannot be passed on inside of one. Steps behind
// the attention may read the cache.
std::string CheckValues(const ir::StepEditor& editor, int producer, int consumer) {
  const ir::LoweredStep& p = editor.step(producer);
  for (ir::BufferId b : p.outputs) {
    for (int reader : editor.readers(b)) {
      const bool behind = reader > consumer && b != p.outputs[abi::kTurnedQueries];
      if (reader == consumer || behind) continue;
      return StrCat("single-use: '", editor.buffer(b).name, "' is also read by ",
                    NamesOf(editor.step(reader)));
    }
    if (editor.OnlyWriter(b) == producer) continue;
    return StrCat("whole: '", editor.buffer(b).name, "' is written by several steps");
  }
  const std::vector<ir::BufferId>& reads = editor.step(consumer).inputs;
  for (size_t k = 3; k < reads.size(); ++k) {
    if (std::ranges::find(p.outputs, reads[k]) != p.outputs.end()) {
      return "operand: the attention reads a result in other places, too";
    }
  }
  const ir::LoweredBuffer& turned = editor.buffer(p.outputs[abi::kTurnedQueries]);
  if (turned.role == schema::Role::kTemp) return "";
  return StrCat("graph-output: '", turned.name, "' must exist for the caller");
}

// Empty, or why the family cannot express the two as one.
std::string CheckForms(const abi::Problem& append, const abi::Problem& attention) {
  if (!attention.as<abi::AttentionAttrs>().pages || attention.outputs.size() != 1) {
    return "operand: the attention reads no pages, or stores more than its result";
  }
  const int64_t tokens = append.inputs[abi::kAppendK].shape[1];
  if (tokens != 1) return StrCat("rows: ", tokens, " rows of each request are appended at a time");
  const DType data = attention.inputs[0].dtype;
  for (size_t k : {abi::kAppendK, abi::kAppendV, abi::kAppendQ}) {
    if (append.inputs[k].dtype == data) continue;
    return StrCat("dtype: rows of ", DTypeName(append.inputs[k].dtype),
                  " are appended to keys and values of ", DTypeName(data));
  }
  return "";
}

// Products with weights in blocks let the next kernel start late, so that attention behind them
// reads no keys ahead: a token of Llama-3-8B's shape in Q4_K took 0.5 % longer with one step, of
// Llama-3.2-1B's 1 % (H100).
std::string CheckGain(const ir::StepEditor& editor, int producer) {
  const int product = editor.OnlyWriter(editor.step(producer).inputs[abi::kAppendQ]);
  if (product < 0 || editor.step(product).problem.family != abi::Family::kBlockGemm) return "";
  return "cost: behind a product with blocks the two steps are faster";
}

Fusion AppendingAttention(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const abi::Problem &p = producer.problem, &c = consumer.problem;
  const std::string refusal = CheckForms(p, c);
  if (!refusal.empty()) return {refusal, {}};
  const auto q = ir::Remap(c.inputs[0], p.outputs[abi::kTurnedQueries], p.inputs[abi::kAppendQ]);
  const auto k = ir::Remap(c.inputs[1], p.outputs[abi::kNextKeys], p.inputs[abi::kAppendKeys]);
  const auto v = ir::Remap(c.inputs[2], p.outputs[abi::kNextValues], p.inputs[abi::kAppendValues]);
  // What the attention does not read of the cache would be missing in its new value.
  const auto whole = [&](size_t input, size_t output) {
    return ir::CoversWhole(c.inputs[input], abi::ElementsOf(p.outputs[output]));
  };
  if (!q || !k || !v || !whole(1, abi::kNextKeys) || !whole(2, abi::kNextValues)) {
    return {"domain: the attention reads the rows in another shape, or parts of the cache", {}};
  }
  Fusion fused;
  fused.step = consumer;
  fused.step.sources = JoinedSources(producer.sources, consumer.sources);
  abi::Problem& one = fused.step.problem;
  std::get<abi::AttentionAttrs>(one.attrs).append_pairs = p.as<abi::AppendAttrs>().pairs;
  one.inputs[0] = *q;
  one.inputs[1] = *k;
  one.inputs[2] = *v;
  fused.step.inputs[0] = producer.inputs[abi::kAppendQ];
  fused.step.inputs[1] = producer.inputs[abi::kAppendKeys];
  fused.step.inputs[2] = producer.inputs[abi::kAppendValues];
  int at = c.core_inputs;
  for (size_t operand :
       {abi::kAppendK, abi::kAppendV, abi::kAppendPlaces, abi::kAppendCosine, abi::kAppendSine}) {
    one.inputs.insert(one.inputs.begin() + at, p.inputs[operand]);
    fused.step.inputs.insert(fused.step.inputs.begin() + at, producer.inputs[operand]);
    ++at;
  }
  one.core_inputs = at;
  one.outputs = {c.outputs[0], c.inputs[1], c.inputs[2]};
  fused.step.outputs = {consumer.outputs[0], producer.outputs[abi::kNextKeys],
                        producer.outputs[abi::kNextValues]};
  const Status valid = abi::ValidateProblem(one);
  if (!valid.ok()) fused.refusal = StrCat("form: ", valid.message());
  return fused;
}

void RecordAppending(PassContext& context, const ir::LoweredStep& producer,
                     const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d = context.About(DecisionKind::kFusion,
                             schema::Subject::Edge(producer.sources, consumer.sources),
                             "append-into-attention");
  d.choice = "rows appended as attention begins";
  d.cost_us = costs.one_us;
  d.Because(Reason::kPredicted,
            "every block of the attention turns its queries and the new key for itself, which "
            "takes less time than a step of its own");
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

}  // namespace

bool AttendsToAppended(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const abi::Problem &p = producer.problem, &c = consumer.problem;
  if (p.family != abi::Family::kAppend || p.as<abi::AppendAttrs>().pairs == 0) return false;
  if (c.family != abi::Family::kAttention || abi::AppendsRows(c)) return false;
  return consumer.inputs[0] == producer.outputs[abi::kTurnedQueries] &&
         consumer.inputs[1] == producer.outputs[abi::kNextKeys] &&
         consumer.inputs[2] == producer.outputs[abi::kNextValues];
}

Fusion TryAppending(const ir::StepEditor& editor, const PassContext& context, int producer,
                    int consumer, PairCosts* costs) {
  const ir::LoweredStep &p = editor.step(producer), &c = editor.step(consumer);
  std::string refusal = CheckTogether(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckValues(editor, producer, consumer);
  if (refusal.empty()) refusal = CheckGain(editor, producer);
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = AppendingAttention(p, c);
  if (fused.ok()) fused.refusal = LosesKernel(c.problem, fused.step.problem, context.device);
  if (fused.ok()) fused.refusal = RefuseSlower(p, c, fused.step, context.device, costs);
  return fused;
}

Status AppendIntoAttention(ir::Lowered& lowered, PassContext& context) {
  return FusePairs(lowered, context, {&AttendsToAppended, &TryAppending, &RecordAppending});
}

}  // namespace aicf
