#include "tools/verify/pin_hint.h"

#include "kernels/abi/packing.h"

namespace aicf::tools {
namespace {

/// Whether the step has constants wherever the kernel packs an operand no matter which parameters
/// it gets. Only constants can be packed.
bool PacksConstantsOnly(const abi::KernelInfo& kernel, const schema::Program& program,
                        const schema::Step& step) {
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (!abi::LayoutOf(kernel, step.problem, {}, k)) continue;
    if (program.buffers[step.inputs[k]].role != schema::Role::kConstant) return false;
  }
  return true;
}

}  // namespace

bool HasReducedMath(const schema::Step& step) {
  const bool multiplies =
      step.problem.family == abi::Family::kGemm || step.problem.family == abi::Family::kConv;
  return multiplies && step.problem.math != abi::MathMode::kFp32;
}

std::string WidenFlags(const schema::Program& program, uint32_t index) {
  const schema::Step& step = program.steps[index];
  if (step.sources.empty()) return "";
  // choose-storage makes elementwise copies in 16 bits for products. The value itself is f32 then,
  // and the step's source is the product's node, whose operands have to be widened.
  const abi::Expr& expr = step.problem.epilogue;
  const bool copies = step.problem.family == abi::Family::kElementwise && expr.nodes.size() == 1;
  return StrCat("--set=node:", step.sources.front(), copies ? ".operands=f32" : ".storage=f32");
}

std::string PinFlags(const schema::Program& program, uint32_t index) {
  const schema::Step& step = program.steps[index];
  if (HasReducedMath(step)) return StrCat("--set step.", index, ".math=fp32");
  const Result<abi::DeviceSpec> device = abi::FindDevice(program.target);
  if (!device.ok()) return "";
  for (const abi::KernelInfo& kernel : abi::KernelsOf(step.problem.family)) {
    if (kernel.backend == device->backend && kernel.key != step.kernel &&
        kernel.supports(step.problem, *device).empty() &&
        PacksConstantsOnly(kernel, program, step)) {
      return StrCat("--set step.", index, ".kernel=", kernel.key);
    }
  }
  return "";
}

}  // namespace aicf::tools
