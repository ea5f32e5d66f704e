// A norm by the root mean square whose result one product alone reads becomes part of the product,
// which normalises rows as it reads them (abi::GemmAttrs).
#include <optional>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {
namespace {

bool IsRmsNorm(const abi::Problem& p) {
  if (p.family != abi::Family::kNormalize) return false;
  const auto& a = p.as<abi::NormalizeAttrs>();
  const int last = p.inputs[0].shape.rank() - 1;
  return a.kind == abi::NormalizeKind::kRmsNorm && a.axes == Dims{last} && p.prologue.empty() &&
         p.core_inputs == 1;
}

// The operand that the normalised value is multiplied with; nullopt where that is not all that its
// epilogue does.
std::optional<size_t> GainOf(const abi::Problem& norm) {
  if (norm.inputs.size() != 2 || norm.epilogue.results.size() != 1) return std::nullopt;
  abi::ExprBuilder b;
  const DType raw = DType::kF32, gain = abi::ComputeDType(norm.inputs[1].dtype);
  if (gain != raw) return std::nullopt;
  const uint16_t x = b.Input(0, raw), g = b.Input(1, gain);
  const abi::Expr product = b.Finish({b.Binary(abi::ExprOp::kMul, x, g)});
  abi::ExprBuilder turned;
  const uint16_t first = turned.Input(1, gain), second = turned.Input(0, raw);
  const abi::Expr other = turned.Finish({turned.Binary(abi::ExprOp::kMul, first, second)});
  if (norm.epilogue == product || norm.epilogue == other) return 1;
  return std::nullopt;
}

// Rows of A are rows of the norm where both have as many neighbours as long.
bool HasSameRows(const abi::View& a, const abi::View& made) {
  return a.shape.back() == made.shape.back() && a.strides.back() == made.strides.back() &&
         abi::ElementsOf(a) == abi::ElementsOf(made);
}

}  // namespace

bool MultipliesNormalized(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  return IsRmsNorm(producer.problem) && consumer.problem.family == abi::Family::kGemm &&
         consumer.inputs[0] == producer.outputs[0];
}

Fusion NormalizedProduct(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const abi::Problem &p = producer.problem, &c = consumer.problem;
  if (NormalizesRows(c)) return {"operand: the product normalises its rows already", {}};
  for (size_t k = 1; k < consumer.inputs.size(); ++k) {
    if (consumer.inputs[k] == producer.outputs[0]) {
      return {"operand: the product reads the result in other places, too", {}};
    }
  }
  const std::optional<size_t> gain = GainOf(p);
  if (!gain) return {"epilogue: the norm does more than multiply with a gain", {}};
  const abi::View &a = c.inputs[0], &made = p.outputs[0];
  if (!HasSameRows(a, made)) return {"domain: the product's rows are not the norm's", {}};
  const auto x = ir::Remap(a, made, p.inputs[0]);
  const auto g = ir::Remap(a, made, p.inputs[*gain]);
  if (!x || !g) return {"domain: the norm's operands cannot follow the product's shape", {}};
  if (x->dtype != c.inputs[1].dtype) {
    return {StrCat("dtype: the norm reads ", DTypeName(x->dtype), ", the weights are ",
                   DTypeName(c.inputs[1].dtype)),
            {}};
  }
  Fusion fused;
  fused.step = consumer;
  fused.step.sources = JoinedSources(producer.sources, consumer.sources);
  abi::Problem& one = fused.step.problem;
  std::get<abi::GemmAttrs>(one.attrs).rms_epsilon = p.as<abi::NormalizeAttrs>().epsilon;
  one.inputs[0] = *x;
  one.inputs.insert(one.inputs.begin() + 2, *g);
  one.core_inputs = 3;
  fused.step.inputs[0] = producer.inputs[0];
  fused.step.inputs.insert(fused.step.inputs.begin() + 2, producer.inputs[*gain]);
  return fused;
}

Fusion TryRowNorm(const ir::StepEditor& editor, const PassContext& context, int producer,
                  int consumer, PairCosts* costs) {
  const ir::LoweredStep &p = editor.step(producer), &c = editor.step(consumer);
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = NormalizedProduct(p, c);
  if (fused.ok()) fused.refusal = LosesKernel(c.problem, fused.step.problem, context.device);
  if (fused.ok()) fused.refusal = RefuseSlower(p, c, fused.step, context.device, costs);
  return fused;
}

}  // namespace aicf
