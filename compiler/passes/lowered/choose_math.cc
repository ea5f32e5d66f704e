#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

bool FormsProducts(abi::Family family) {
  return family == abi::Family::kGemm || family == abi::Family::kConv ||
         family == abi::Family::kRecurrent || family == abi::Family::kAttention;
}

// What is asked for: by a wish, by the policy, or for the whole model.
abi::MathMode Asked(const PassContext& context, const ir::LoweredStep& step) {
  const Wish* wish =
      context.wishes == nullptr ? nullptr : context.wishes->Precision(context.entry, step.sources);
  if (wish != nullptr) return abi::ParseMathMode(wish->decision.choice).value_or(context.math);
  if (context.policy == nullptr) return context.math;
  return context.policy->MathFor(step.problem.family, step.sources).value_or(context.math);
}

// The mode, where it has a meaning for the operands and the target.
abi::MathMode ModeFor(abi::MathMode asked, DType data, const abi::DeviceSpec& device) {
  if (device.backend != abi::Backend::kCuda || !IsFloat(data) || data == DType::kF64) {
    return abi::MathMode::kFp32;
  }
  // Products of two f16 (or bf16) values are exact in f32, so tensor cores change no bit of them.
  if (asked == abi::MathMode::kFp32 && data == DType::kF16) return abi::MathMode::kFp16;
  if (asked == abi::MathMode::kFp32 && data == DType::kBF16) return abi::MathMode::kBf16;
  return asked;
}

}  // namespace

// The mode a product may use. Which mode it does use follows from its kernel, and is recorded with
// that choice.
Status ChooseMath(ir::Lowered& lowered, PassContext& context) {
  for (ir::LoweredStep& step : lowered.steps) {
    abi::Problem& p = step.problem;
    if (!FormsProducts(p.family)) continue;
    p.math = ModeFor(Asked(context, step), p.inputs[0].dtype, context.device);
  }
  return OkStatus();
}

}  // namespace aicf
