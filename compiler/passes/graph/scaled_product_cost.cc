#include "compiler/passes/graph/scaled_product_cost.h"

#include "base/checked.h"
#include "compiler/passes/graph/integer_product_cost.h"
#include "compiler/passes/lowered/choose_math.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {
namespace {

abi::Problem ProductStep(const ScaledShape& s, DType data, abi::MathMode math) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.math = math;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {
      abi::DenseView(data, {s.rows, s.length}),
      {data, {s.length, s.columns}, s.along_sum ? Dims{1, s.length} : Dims{s.columns, 1}, 0}};
  p.outputs = {abi::DenseView(DType::kF32, {s.rows, s.columns})};
  p.core_inputs = 2;
  return p;
}

void AddScales(const ScaledShape& s, abi::Problem* p) {
  abi::GemmAttrs attrs;
  attrs.scale_terms = s.scale_terms;
  attrs.scale_columns = s.scale_columns;
  p->attrs = attrs;
  const int64_t steps = CeilDiv(s.length, s.scale_terms);
  p->inputs.push_back(abi::DenseView(DType::kF32, {s.rows, steps}));
  p->inputs.push_back(abi::DenseView(DType::kF32, {steps, CeilDiv(s.columns, s.scale_columns)}));
  p->core_inputs = 4;
}

// Why no kernel takes the product: the sentence of a GPU kernel that takes other products with
// scales of blocks and refuses this one.
std::string NoKernel(const abi::Problem& scaled, const abi::DeviceSpec& device) {
  if (!abi::HasBlockScales(scaled))
    return "capability: no kernel of the target multiplies float8 codes";
  for (const abi::KernelInfo& kernel : abi::KernelsOf(scaled.family)) {
    if (kernel.backend != abi::Backend::kCuda || kernel.backend != device.backend) continue;
    const std::string refused = kernel.supports(scaled, device);
    if (refused != abi::RefuseBlockScales(scaled))
      return StrCat("capability: ", kernel.key, " refuses: ", refused);
  }
  return "capability: no kernel of the target takes scales of blocks";
}

}  // namespace

std::string ScaledProductRefusal(const ScaledShape& s, const PassContext& context) {
  // Golden tests of what is legal run on a device that has no name and no kernels.
  if (context.device.name.empty()) return {};
  const abi::MathMode math = ModeFor(abi::Family::kGemm, context.math, s.codes, context.device);
  abi::Problem scaled = ProductStep(s, s.codes, math);
  if (s.scale_terms > 0) AddScales(s, &scaled);
  std::string refusal;
  const std::optional<double> codes = PredictedUs(scaled, context.device, &refusal);
  if (!codes) {
    const bool gpu = context.device.backend == abi::Backend::kCuda;
    if (gpu && math != abi::MathMode::kFp8)
      return "precision: tensor cores round sums of float8, which --math=fp8 allows";
    return NoKernel(scaled, context.device);
  }
  const DType stored = context.storage;
  const abi::MathMode asked = stored != DType::kF32 ? MathOfStorage(stored) : context.math;
  const abi::MathMode usual = ModeFor(abi::Family::kGemm, asked, stored, context.device);
  const std::optional<double> reals =
      PredictedUs(ProductStep(s, stored, usual), context.device, &refusal);
  return reals ? SlowerInCodes(*codes, *reals, stored) : "";
}

}  // namespace aicf
