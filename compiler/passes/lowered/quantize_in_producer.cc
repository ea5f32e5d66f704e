#include "compiler/ir/views.h"
#include "compiler/passes/lower/quantize_expr.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kQuantizeInProducer = "quantize-in-producer";

void RecordCodes(PassContext& context, const ir::LoweredStep& producer,
                 const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kEpilogue,
                    schema::Subject::Edge(producer.sources, consumer.sources), kQuantizeInProducer);
  const std::string_view family = abi::FamilyName(producer.problem.family);
  if (producer.problem.family == abi::Family::kAttention) {
    d.choice = StrCat("codes as the result of ", family);
    d.Because(Reason::kRule, "it stores a quarter of the bytes, and they are not read again");
  } else {
    d.choice = StrCat("codes as another result of ", family);
    d.cost_us = costs.one_us;
    d.Because(Reason::kPredicted,
              "the step that makes the value has it in registers when it stores it for others");
  }
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

// The joined step takes the producer's place. Of the consumer's other operands, only constants are
// sure to be there at that point.
std::string CheckOperands(const ir::StepEditor& editor, int producer, int consumer) {
  const ir::BufferId value = editor.step(producer).outputs[0];
  for (const ir::BufferId b : editor.step(consumer).inputs) {
    if (b == value || editor.buffer(b).role == schema::Role::kConstant) continue;
    return StrCat("operand: '", editor.buffer(b).name, "' is made elsewhere");
  }
  const ir::BufferId codes = editor.step(consumer).outputs[0];
  if (editor.OnlyWriter(codes) != consumer) {
    return StrCat("whole: '", editor.buffer(codes).name, "' is written by several steps");
  }
  return "";
}

// Whether all that the step does is to store its operand in float8, which attention can do with its
// own result.
bool StoresFloat8(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  if (p.outputs[0].dtype != DType::kF8E4M3FN || step.inputs.size() != 1) return false;
  abi::ExprBuilder b;
  const uint16_t value = b.Input(0, DType::kF32);
  return p.epilogue == b.Finish({Quantized(b, value, {}, DType::kF8E4M3FN)});
}

// Attention has no epilogue, but it rounds to whatever dtype its result has.
Fusion TryAttention(const ir::StepEditor& editor, const PassContext& context, int producer,
                    int consumer) {
  const ir::LoweredStep &p = editor.step(producer), &c = editor.step(consumer);
  if (!StoresFloat8(c)) return {"pattern: the codes are more than the value in float8", {}};
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused{"", p};
  const auto out = ir::Remap(p.problem.outputs[0], c.problem.inputs[0], c.problem.outputs[0]);
  if (!out) return {"domain: the codes are stored in another order", {}};
  fused.step.problem.outputs[0] = *out;
  fused.step.outputs = c.outputs;
  fused.step.sources = JoinedSources(p.sources, c.sources);
  fused.refusal = LosesKernel(p.problem, fused.step.problem, context.device);
  return fused;
}

bool IsAttention(const ir::LoweredStep& step) {
  return step.problem.family == abi::Family::kAttention;
}

}  // namespace

bool StoresCodes(const ir::LoweredStep& step) {
  return IsElementwise(step) && step.outputs.size() == 1 &&
         DTypeBytes(step.problem.outputs[0].dtype) == 1 &&
         step.problem.outputs[0].dtype != DType::kBool;
}

Fusion TryCodes(const ir::StepEditor& editor, const PassContext& context, int producer,
                int consumer, PairCosts* costs) {
  const ir::LoweredStep& p = editor.step(producer);
  const ir::LoweredStep& c = editor.step(consumer);
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty() && p.loop != ir::kNoLoop) refusal = "loop: a loop repeats them";
  if (refusal.empty()) refusal = CheckOperands(editor, producer, consumer);
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = AppendResult(p, c);
  if (!fused.ok()) return fused;
  const abi::Problem& one = fused.step.problem;
  fused.refusal = LosesKernel(p.problem, one, context.device);
  if (fused.ok()) fused.refusal = RefuseSlower(p, c, fused.step, context.device, costs);
  return fused;
}

// Where a value is read as codes by products and as it is by others, a norm or an addition stores
// both at once.
Status QuantizeInProducer(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    if (!editor.alive(c) || !StoresCodes(editor.step(c))) continue;
    for (int p : ProducersOf(editor, c)) {
      const bool attention = IsAttention(editor.step(p));
      if (!attention && !IsElementwise(editor.step(p)) && !HasEpilogue(editor.step(p))) continue;
      PairCosts costs;
      Fusion fused =
          attention ? TryAttention(editor, context, p, c) : TryCodes(editor, context, p, c, &costs);
      if (!fused.ok()) continue;
      RecordCodes(context, editor.step(p), editor.step(c), costs);
      editor.Erase(c);
      editor.Replace(p, std::move(fused.step));
      break;
    }
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
