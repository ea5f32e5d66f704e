// A norm by the root mean square whose result one product alone reads becomes part of the product,
// which normalises rows as it reads them (abi::GemmAttrs).
#include <cmath>

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

// "raw * gain" or "gain * raw" of two f32 values.
abi::Expr ProductWithGain(bool raw_first) {
  abi::ExprBuilder b;
  const uint16_t first = b.Input(raw_first ? 0 : 1, DType::kF32);
  const uint16_t second = b.Input(raw_first ? 1 : 0, DType::kF32);
  return b.Finish({b.Binary(abi::ExprOp::kMul, first, second)});
}

// Whether all that the norm's epilogue does is to multiply with a gain, its operand 1.
bool MultipliesWithGain(const abi::Problem& norm) {
  if (norm.inputs.size() != 2) return false;
  return norm.epilogue == ProductWithGain(true) || norm.epilogue == ProductWithGain(false);
}

bool IsData(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// Empty if GemmAttrs can express the norm's epsilon and dtypes, else why not.
std::string RefuseNumbers(const abi::Problem& norm, const abi::Problem& product) {
  std::string refusal = RefuseEpsilon(norm);
  if (!refusal.empty()) return refusal;
  const DType x = norm.inputs[0].dtype, gain = norm.inputs[1].dtype;
  if (!IsData(x) || !IsData(gain)) {
    return StrCat("dtype: rows of ", DTypeName(x), " with a gain of ", DTypeName(gain),
                  ", which are not both f32, f16 or bf16");
  }
  // Weights in blocks have no dtype of their own. With them the norm has to read rows of the dtype
  // that it makes.
  const bool blocks = product.family == abi::Family::kBlockGemm;
  const DType wanted = product.inputs[blocks ? 0 : 1].dtype;
  if (x == wanted) return "";
  return StrCat("dtype: the norm reads ", DTypeName(x), ", the ",
                blocks ? "rows that it makes" : "weights", " are ", DTypeName(wanted));
}

}  // namespace

std::string RefuseEpsilon(const abi::Problem& norm) {
  const double epsilon = norm.as<abi::NormalizeAttrs>().epsilon;
  return epsilon >= 0 && std::isfinite(epsilon) ? "" : "epsilon: it is no number from 0 on";
}

bool HasSameRows(const abi::View& a, const abi::View& made) {
  return a.shape.back() == made.shape.back() && a.strides.back() == made.strides.back() &&
         abi::ElementsOf(a) == abi::ElementsOf(made);
}

bool MultipliesNormalized(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  return IsRmsNorm(producer.problem) && IsMatrixProduct(consumer) &&
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
  if (!MultipliesWithGain(p)) return {"epilogue: the norm does more than multiply with a gain", {}};
  const std::string refusal = RefuseNumbers(p, c);
  if (!refusal.empty()) return {refusal, {}};
  const abi::View &a = c.inputs[0], &made = p.outputs[0];
  if (!HasSameRows(a, made)) return {"domain: the product's rows are not the norm's", {}};
  const auto x = ir::Remap(a, made, p.inputs[0]);
  const auto g = ir::Remap(a, made, p.inputs[1]);
  if (!x || !g) return {"domain: the norm's operands cannot follow the product's shape", {}};
  Fusion fused;
  fused.step = consumer;
  fused.step.sources = JoinedSources(producer.sources, consumer.sources);
  abi::Problem& one = fused.step.problem;
  const double epsilon = p.as<abi::NormalizeAttrs>().epsilon;
  if (one.family == abi::Family::kGemm) {
    std::get<abi::GemmAttrs>(one.attrs).rms_epsilon = epsilon;
  } else {
    std::get<abi::BlockGemmAttrs>(one.attrs).rms_epsilon = epsilon;
  }
  one.inputs[0] = *x;
  one.inputs.insert(one.inputs.begin() + 2, *g);
  one.core_inputs = 3;
  fused.step.inputs[0] = producer.inputs[0];
  fused.step.inputs.insert(fused.step.inputs.begin() + 2, producer.inputs[1]);
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
