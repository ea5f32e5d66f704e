#include "compiler/passes/lowered/choose_math.h"

#include "base/log.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {

Result<abi::MathMode> ReadMathMode(std::string_view what, std::string_view name) {
  const std::optional<abi::MathMode> mode = abi::ParseMathMode(name);
  if (mode) return *mode;
  constexpr int kMathModes = static_cast<int>(abi::MathMode::kCount);
  std::string names;
  for (int m = 0; m < kMathModes; ++m) {
    const std::string_view gap = m == 0 ? "" : m + 1 < kMathModes ? ", " : " or ";
    names += StrCat(gap, abi::MathModeName(static_cast<abi::MathMode>(m)));
  }
  return Error(Code::kInvalidArgument, what, ": expected ", names, ", got '", name, "'");
}

bool FormsProducts(abi::Family family) {
  return family == abi::Family::kGemm || family == abi::Family::kConv ||
         family == abi::Family::kRecurrent || family == abi::Family::kAttention ||
         family == abi::Family::kBlockGemm;
}

std::optional<abi::MathMode> NamedMath(const PassContext& context, const ir::LoweredStep& step) {
  const Wish* wish =
      context.wishes == nullptr ? nullptr : context.wishes->Precision(context.entry, step.sources);
  if (wish != nullptr) return abi::ParseMathMode(wish->decision.choice);
  if (context.policy == nullptr) return std::nullopt;
  return context.policy->MathFor(step.problem.family, step.sources);
}

abi::MathMode ModeFor(abi::Family family, abi::MathMode asked, DType data,
                      const abi::DeviceSpec& device) {
  if (asked == abi::MathMode::kInt8) {
    const bool rounds = family == abi::Family::kBlockGemm && device.backend == abi::Backend::kCpu;
    return rounds ? asked : abi::MathMode::kFp32;
  }
  if (device.backend != abi::Backend::kCuda || !IsFloat(data) || data == DType::kF64) {
    return abi::MathMode::kFp32;
  }
  // Products of two f16 (or bf16) values are exact in f32, so tensor cores change no bit of them. A
  // single row times blocks is rounded further, to integers (docs/arithmetic.md).
  if (asked == abi::MathMode::kFp32 && data == DType::kF16) return abi::MathMode::kFp16;
  if (asked == abi::MathMode::kFp32 && data == DType::kBF16) return abi::MathMode::kBf16;
  // No kernel multiplies blocks in these modes, and fp32 rounds less than either.
  const bool blocks = family == abi::Family::kBlockGemm;
  if (blocks && (asked == abi::MathMode::kTf32 || asked == abi::MathMode::kFp8)) {
    return abi::MathMode::kFp32;
  }
  return asked;
}

void WarnOfUnusedMath(const abi::DeviceSpec& device, abi::MathMode mode) {
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    const auto family = static_cast<abi::Family>(f);
    if (FormsProducts(family) && ModeFor(family, mode, DType::kF32, device) == mode) return;
  }
  const std::string_view name = abi::MathModeName(mode);
  Log(LogLevel::kWarning, StrCat("math mode ", name, ": ", device.name, " forms no products in ",
                                 name, "; they are formed as in fp32"));
}

abi::MathMode MathOfStorage(DType storage) {
  return storage == DType::kF16 ? abi::MathMode::kFp16 : abi::MathMode::kBf16;
}

// The mode a product may use. Which mode it does use follows from its kernel, and is recorded with
// that choice. Where values are to be stored in 16 bits, products are taken to multiply such values
// until choose-storage knows better: later passes ask kernels about them as they will be.
Status ChooseMath(ir::Lowered& lowered, PassContext& context) {
  const bool narrow = context.storage != DType::kF32;
  const abi::MathMode usual = narrow ? MathOfStorage(context.storage) : context.math;
  for (ir::LoweredStep& step : lowered.steps) {
    abi::Problem& p = step.problem;
    if (!FormsProducts(p.family)) continue;
    const DType data = p.inputs[0].dtype;
    const abi::MathMode asked =
        NamedMath(context, step).value_or(data == DType::kF32 ? usual : context.math);
    p.math = ModeFor(p.family, asked, data, context.device);
  }
  return OkStatus();
}

}  // namespace aicf
