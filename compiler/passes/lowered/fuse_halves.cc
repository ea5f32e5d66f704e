// A product whose result is read in two halves, as gated activations do, becomes one step with its
// reader: each result is made of column n and column n + N of the product.
#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf {
namespace {

abi::View HalfOf(const abi::View& v, int half) {
  abi::View out = v;
  const int last = v.shape.rank() - 1;
  out.shape[last] = v.shape[last] / 2;
  out.offset += half * out.shape[last] * v.strides[last];
  return out;
}

// The distinct windows in which the consumer reads the producer's result.
std::vector<abi::View> WindowsRead(const ir::LoweredStep& producer,
                                   const ir::LoweredStep& consumer) {
  std::vector<abi::View> windows;
  for (size_t k = 0; k < consumer.inputs.size(); ++k) {
    if (consumer.inputs[k] != producer.outputs[0]) continue;
    const abi::View& v = consumer.problem.inputs[k];
    const auto same = [&](const abi::View& w) { return ir::SameElements(w, v); };
    if (std::ranges::none_of(windows, same)) windows.push_back(v);
  }
  return windows;
}

// The two windows in the order of the halves; nullopt where they are no halves of the columns.
std::optional<std::array<abi::View, 2>> HalvesRead(const ir::LoweredStep& producer,
                                                   const ir::LoweredStep& consumer) {
  std::vector<abi::View> windows = WindowsRead(producer, consumer);
  const abi::View& made = producer.problem.outputs[0];
  if (windows.size() != 2 || made.shape.back() % 2 != 0) return std::nullopt;
  const abi::View first = HalfOf(made, 0), second = HalfOf(made, 1);
  const bool whole = abi::ElementsOf(windows[0]) == abi::ElementsOf(first);
  if (!whole || windows[0].dtype != made.dtype) return std::nullopt;
  const int64_t apart = second.offset - first.offset;
  if (windows[1].offset - windows[0].offset == -apart) std::swap(windows[0], windows[1]);
  abi::View shifted = windows[0];
  shifted.offset += apart;
  if (!ir::SameElements(shifted, windows[1])) return std::nullopt;
  // One check is enough: what maps the first window to the first half also maps the second window
  // to the second half.
  if (!ir::Remap(first, windows[0], windows[0])) return std::nullopt;
  return std::array<abi::View, 2>{windows[0], windows[1]};
}

// The value of the product's own epilogue at one half of its columns.
uint16_t LoadHalf(const ir::LoweredStep& producer, int half, OperandExpr& expr) {
  const abi::Problem& p = producer.problem;
  const uint16_t raw = expr.Raw(RawDType(p), half);
  if (p.epilogue.empty()) return raw;
  std::vector<uint16_t> inputs{raw};
  for (size_t k = static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
    inputs.push_back(expr.Load({producer.inputs[k], HalfOf(p.inputs[k], half)}));
  }
  return expr.builder().Inline(p.epilogue, inputs)[0];
}

}  // namespace

bool IsMatrixProduct(const ir::LoweredStep& step) {
  const abi::Family family = step.problem.family;
  return family == abi::Family::kGemm || family == abi::Family::kBlockGemm;
}

bool ReadsInHalves(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  return IsMatrixProduct(producer) && IsElementwise(consumer) &&
         WindowsRead(producer, consumer).size() == 2;
}

Fusion PairedHalves(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const abi::Problem &p = producer.problem, &c = consumer.problem;
  if (RawInputs(p) > 1) return {"operand: the product has two halves already", {}};
  const auto halves = HalvesRead(producer, consumer);
  if (!halves) return {"domain: the two reads are not the halves of the product's columns", {}};
  const abi::View made = HalfOf(p.outputs[0], 0);
  if (ReadsCoordinates(p.epilogue) ||
      (ReadsCoordinates(c.epilogue) && !ir::SameElements((*halves)[0], made))) {
    return {"domain: an expression uses coordinates of another shape", {}};
  }
  const auto translated = [&](const abi::View& v) { return ir::Remap(made, (*halves)[0], v); };
  const auto out = translated(c.outputs[0]);
  if (!out) return {"domain: the result cannot follow the product's shape", {}};
  OperandExpr expr(2);
  const uint16_t values[2] = {LoadHalf(producer, 0, expr), LoadHalf(producer, 1, expr)};
  std::vector<uint16_t> inputs;
  for (size_t k = 0; k < consumer.inputs.size(); ++k) {
    if (consumer.inputs[k] == producer.outputs[0]) {
      inputs.push_back(values[ir::SameElements(c.inputs[k], (*halves)[0]) ? 0 : 1]);
      continue;
    }
    const auto view = translated(c.inputs[k]);
    if (!view) return {StrCat("domain: operand ", k, " cannot follow the product's shape"), {}};
    inputs.push_back(expr.Load({consumer.inputs[k], *view}));
  }
  abi::Problem paired = p;
  if (paired.family == abi::Family::kGemm) {
    std::get<abi::GemmAttrs>(paired.attrs).halves = 2;
  } else {
    std::get<abi::BlockGemmAttrs>(paired.attrs).halves = 2;
  }
  std::vector<uint16_t> results = expr.builder().Inline(c.epilogue, inputs);
  return FinishEpilogue(producer, consumer, std::move(paired), *out, expr, std::move(results));
}

Fusion TryHalves(const ir::StepEditor& editor, const PassContext& context, int producer,
                 int consumer, PairCosts* costs) {
  const ir::LoweredStep &p = editor.step(producer), &c = editor.step(consumer);
  std::string refusal = CheckProducer(editor, context, producer, consumer);
  if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
  if (refusal.empty() && c.outputs.size() != 1) refusal = "outputs: the consumer has several";
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = PairedHalves(p, c);
  if (fused.ok()) fused.refusal = LosesKernel(p.problem, fused.step.problem, context.device);
  if (fused.ok()) fused.refusal = RefuseSlower(p, c, fused.step, context.device, costs);
  return fused;
}

}  // namespace aicf
