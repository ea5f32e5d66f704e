#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"
#include "kernels/cuda/common/space.h"

namespace aicf {
namespace {

// The dtype that a product is going to multiply: choose-storage, which runs later, stores f32
// values in context.storage.
DType MultipliedType(DType dtype, const PassContext& context) {
  return dtype == DType::kF32 ? context.storage : dtype;
}

bool MultipliesHalves(const abi::Problem& p, const PassContext& context) {
  const DType x = MultipliedType(p.inputs[0].dtype, context);
  return p.inputs[0].dtype == p.inputs[1].dtype &&
         ((x == DType::kF16 && p.math == abi::MathMode::kFp16) ||
          (x == DType::kBF16 && p.math == abi::MathMode::kBf16));
}

bool IsAll(const Dims& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

// Whether the step is a convolution whose window is one position and whose output has its positions
// next to each other. Most outputs of a graph lie like that, because callers see them row-major.
bool WritesLinesOfPositions(const ir::LoweredStep& step, const PassContext& context) {
  const abi::Problem& p = step.problem;
  if (p.family != abi::Family::kConv || !MultipliesHalves(p, context)) return false;
  const Dims& w = p.inputs[1].shape;
  const Dims taps(w.span().subspan(2));
  return IsAll(taps, 1) && abi::ElementsOf(p.outputs[0]) > 0 && cuda::RowsInner(p);
}

// [n, c, spatial..] as [n, c, positions]; nothing where no stride walks the positions.
std::optional<abi::View> Lines(const abi::View& v) {
  return ir::Reshape(v, {v.shape[0], v.shape[1],
                         abi::ElementsOf(v) / std::max<int64_t>(1, v.shape[0] * v.shape[1])});
}

std::string RefuseWindow(const abi::ConvAttrs& a) {
  if (a.transposed || a.group != 1) return "pattern: it is transposed or grouped";
  if (!IsAll(a.strides, 1) || !IsAll(a.pads_begin, 0) || !IsAll(a.pads_end, 0)) {
    return "pattern: it steps over positions, or pads them";
  }
  return {};
}

// weights x lines: rows are output channels, columns positions.
Fusion AsProduct(const ir::LoweredStep& conv) {
  const abi::Problem& p = conv.problem;
  Fusion made{RefuseWindow(p.as<abi::ConvAttrs>()), conv};
  if (!made.ok()) return made;
  if (ReadsCoordinates(p.epilogue)) return {"domain: its expression reads coordinates", {}};
  abi::Problem& product = made.step.problem;
  product.family = abi::Family::kGemm;
  product.attrs = abi::GemmAttrs{};
  const auto as_lines = [&](abi::View& view) {
    const std::optional<abi::View> lines = Lines(view);
    if (!lines) {
      made.refusal = StrCat("view: strides ", ToListString(view.strides), " of ",
                            ToString(view.shape), " walk no lines of positions");
      return;
    }
    view = *lines;
  };
  const abi::View w = p.inputs[1];
  product.inputs[0] = {w.dtype,
                       {p.outputs[0].shape[0], w.shape[0], w.shape[1]},
                       {0, w.strides[0], w.strides[1]},
                       w.offset};
  product.inputs[1] = p.inputs[0];
  std::swap(made.step.inputs[0], made.step.inputs[1]);
  for (size_t k = 1; k < product.inputs.size() && made.ok(); ++k) as_lines(product.inputs[k]);
  for (size_t r = 0; r < product.outputs.size() && made.ok(); ++r) as_lines(product.outputs[r]);
  return made;
}

void RecordProduct(PassContext& context, const ir::LoweredStep& conv, const std::string& refusal) {
  Decision d = context.About(DecisionKind::kLayout, SubjectOf(conv), "conv-to-product");
  const bool forms = refusal.empty();
  d.choice = forms ? "product of weights and lines of positions" : "convolution";
  d.Because(Reason::kRule,
            forms ? "its output has positions next to each other, which the kernels of "
                    "convolutions, made for whole pixels, would write one by one"
                  : "only a window of one position multiplies lines of them");
  d.alternatives = {
      forms ? schema::Alternative{"convolution", "cost: it would write far apart", -1}
            : schema::Alternative{"product of weights and lines of positions", refusal, -1}};
  context.Record(std::move(d));
}

}  // namespace

Status ConvToProduct(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  for (ir::LoweredStep& step : lowered.steps) {
    if (!WritesLinesOfPositions(step, context)) continue;
    Fusion made = AsProduct(step);
    RecordProduct(context, step, made.refusal);
    if (made.ok()) step = std::move(made.step);
  }
  return OkStatus();
}

}  // namespace aicf
