#include "compiler/select/precision.h"

#include <algorithm>
#include <optional>
#include <span>

#include "compiler/costs/fit.h"
#include "compiler/passes/lowered/choose_math.h"

namespace aicf {
namespace {

using abi::MathMode;

// The modes that a step of this family is asked about; int8 is one of blockgemm alone.
std::span<const MathMode> ModesOf(abi::Family family) {
  static constexpr MathMode kModes[] = {MathMode::kFp32, MathMode::kTf32, MathMode::kFp16,
                                        MathMode::kBf16, MathMode::kInt8};
  const std::span<const MathMode> all(kModes);
  return family == abi::Family::kBlockGemm ? all : all.first(all.size() - 1);
}

abi::Problem WithMath(const abi::Problem& problem, MathMode math) {
  abi::Problem out = problem;
  out.math = math;
  return out;
}

// Why no step of this kind has the mode, whatever the kernels; empty: ask the kernels.
std::string RefuseStep(const abi::Problem& p) {
  if (!FormsProducts(p.family)) {
    return StrCat("products: ", abi::FamilyName(p.family),
                  " forms none, and a math mode is about how products are formed");
  }
  const DType data = p.inputs[0].dtype;
  if (!IsFloat(data)) return StrCat("dtype: products of ", DTypeName(data), " are exact");
  if (data == DType::kF64) return "dtype: products of f64 stay f64";
  return "";
}

// The step in this mode: legal with a cost, or refused.
Alternative InMode(const ir::LoweredStep& step, MathMode mode, Candidates& candidates) {
  const abi::DeviceSpec& device = candidates.device();
  Alternative out{std::string(abi::MathModeName(mode)), RefuseStep(step.problem), -1};
  if (!out.refusal.empty()) return out;
  const abi::Problem p = WithMath(step.problem, mode);
  const abi::Problem exact = WithMath(step.problem, MathMode::kFp32);
  ProblemCandidates& known = candidates.For(p);
  std::optional<double> best;
  std::string refusal;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    if (kernel.backend != device.backend) continue;
    const std::string why = kernel.supports(p, device);
    if (why.empty()) {
      if (UsedMath(kernel, p, device) != mode) continue;
      for (const abi::Candidate& c : known.Of(kernel)) {
        const double cost = tune::BuiltInFit(device).Predict(c, p.math);
        if (!best || cost < *best) best = cost;
      }
    } else if (refusal.empty() && why != kernel.supports(exact, device)) {
      // The kernel refuses the problem because of the mode. One that refuses it in fp32 with the
      // same sentence takes it in no mode, and says nothing about this one.
      refusal = StrCat("capability: ", kernel.key, ": ", why);
    }
  }
  if (best) {
    out.cost_us = *best;
  } else {
    out.refusal = refusal.empty() ? StrCat("capability: no kernel for ", device.name,
                                           " multiplies in ", out.choice)
                                  : refusal;
  }
  return out;
}

// Whether the kernel rounds rows of A to 8 bits. The CPU's kernels other than the reference do, for
// weights in blocks of codes. Blocks of f16 and bf16, which are single elements, hold no codes.
bool RoundsRows(const abi::KernelInfo& kernel, const abi::Problem& p) {
  return kernel.backend == abi::Backend::kCpu && !kernel.key.ends_with(".ref") &&
         InfoOf(p.as<abi::BlockGemmAttrs>().format).elements > 1;
}

// Products of two f16 (or bf16) values are exact in f32.
bool IsExact(const abi::Problem& p, MathMode used) {
  if (used == MathMode::kFp32) return false;  // also of a step without operands
  const DType data = p.inputs[0].dtype;
  return (data == DType::kF16 && used == MathMode::kFp16) ||
         (data == DType::kBF16 && used == MathMode::kBf16);
}

void Explain(const ir::LoweredStep& step, MathMode used, Reason kernel_reason, Decision& d) {
  // The step allows another mode than the chosen kernel uses, so the reason for the mode is the
  // reason for the kernel.
  if (used != step.problem.math) {
    d.Because(kernel_reason);
  } else if (IsExact(step.problem, used)) {
    d.Because(Reason::kRule, "products of such operands are exact in this mode");
  } else {
    const auto legal = [](const Alternative& a) { return a.refusal.empty(); };
    d.Because(std::ranges::any_of(d.alternatives, legal) ? Reason::kPolicy : Reason::kOnlyLegal);
  }
}

}  // namespace

MathMode UsedMath(const abi::KernelInfo& kernel, const abi::Problem& problem,
                  const abi::DeviceSpec& device) {
  if (problem.math == MathMode::kFp32 || kernel.backend == abi::Backend::kLibrary) {
    return problem.math;
  }
  if (problem.math == MathMode::kInt8) {
    return RoundsRows(kernel, problem) ? MathMode::kInt8 : MathMode::kFp32;
  }
  const bool same = kernel.supports(WithMath(problem, MathMode::kFp32), device).empty();
  return same ? MathMode::kFp32 : problem.math;
}

Status CheckPrecisionWish(const ir::LoweredStep& step, const Decision& decision, const Wish& wish,
                          Candidates& candidates) {
  const std::optional<MathMode> mode = abi::ParseMathMode(wish.decision.choice);
  if (!mode || *mode == MathMode::kFp32) return OkStatus();
  const Alternative asked = InMode(step, *mode, candidates);
  if (asked.refusal.empty()) return OkStatus();
  return Error(Code::kUnsupported, wish.origin, ": ", ToString(decision.subject), ": ",
               asked.choice, ": ", asked.refusal);
}

void RecordPrecision(const ir::LoweredStep& step, Decision d, const abi::KernelInfo& chosen,
                     Reason kernel_reason, Candidates& candidates, PassContext& context) {
  const MathMode used = UsedMath(chosen, step.problem, context.device);
  d.choice = abi::MathModeName(used);
  for (MathMode mode : ModesOf(step.problem.family)) {
    if (mode != used) d.alternatives.push_back(InMode(step, mode, candidates));
  }
  Explain(step, used, kernel_reason, d);
  context.Record(std::move(d));
}

}  // namespace aicf
