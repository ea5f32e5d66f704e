#include "compiler/passes/graph/integer_product_cost.h"

#include <cstdio>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/choose_math.h"
#include "compiler/passes/lowered/folded_cost.h"
#include "compiler/passes/lowered/folded_taps.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/weight_order.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf {
namespace {

using abi::Problem;

// The dtypes of a step: its operands, and what it stores.
struct Dtypes {
  DType x, w, out;
};

abi::View ChannelsLast(DType dtype, const Dims& shape) {
  Dims order = {0};
  for (int i = 2; i < shape.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return {dtype, shape, ir::StridesInOrder(shape, order), 0};
}

// Sets the dtype in which the sums are stored. Where it is not their own, an epilogue converts
// them.
void StoreAs(Problem& p, DType out) {
  const DType raw = abi::RawDType(p);
  p.outputs[0].dtype = out;
  if (abi::ComputeDType(out) == raw) return;
  abi::ExprBuilder b;
  p.epilogue = b.Finish({b.Cast(b.Input(0, raw), abi::ComputeDType(out))});
}

Problem ConvStep(const ir::Graph& graph, const ir::Node& node, const ir::Window& window,
                 const Dtypes& types) {
  const auto shape = [&](ir::ValueId v) { return graph.values[v].shape; };
  Problem p;
  p.family = abi::Family::kConv;
  p.attrs = abi::ConvAttrs{window.strides,  window.dilations, window.pads_begin,
                           window.pads_end, window.group,     false};
  p.inputs = {ChannelsLast(types.x, shape(node.inputs[0])),
              abi::DenseView(types.w, shape(node.inputs[1]))};
  p.outputs = {ChannelsLast(types.out, shape(node.outputs[0]))};
  return p;
}

// A MatMul or Gemm as one product: the rows of all batches are its rows.
Problem MatrixStep(const ir::Graph& graph, const ir::Node& node, const Dtypes& types) {
  const Dims& x = graph.values[node.inputs[0]].shape;
  const Dims& out = graph.values[node.outputs[0]].shape;
  const int64_t length = x.back(), columns = out.back();
  const int64_t rows = length == 0 ? 0 : ElementCount(x).value_or(0) / length;
  Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(types.x, {rows, length}), abi::DenseView(types.w, {length, columns})};
  p.outputs = {abi::DenseView(types.out, {rows, columns})};
  return p;
}

// The step's predicted time with weights in the order in which the target stores them, or with taps
// folded where that is what becomes of it. nullopt where no kernel takes the step; then `refusal`
// says why. `compared`: the steps of integers and of floats have corrections by measured times, as
// convolutions do; of other products only those of floats have.
std::optional<double> StepUs(Problem p, DType out, bool compared, const PassContext& context,
                             std::string* refusal) {
  p.core_inputs = 2;
  StoreAs(p, out);
  if (compared && MayFold(p, context) && RefuseFolding(p).empty()) {
    return FoldedUs(p, context, refusal);
  }
  p = WithStoredWeights(std::move(p), context);
  return compared ? CorrectedUs(p, context, refusal) : PredictedUs(p, context.device, refusal);
}

// The predicted time of dequantising the left operand in a step of its own; 0 where no kernel is
// known for it.
double DequantiseUs(const abi::View& codes, DType stored, const PassContext& context) {
  Problem p;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {codes};
  p.outputs = {codes};
  p.outputs[0].dtype = stored;
  p.core_inputs = 1;
  abi::ExprBuilder b;
  p.epilogue = b.Finish({b.Cast(b.Input(0, codes.dtype), DType::kF32)});
  std::string unused;
  return PredictedUs(p, context.device, &unused).value_or(0);
}

std::string Microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", us);
  return text;
}

}  // namespace

std::string IntegerProductRefusal(const ir::Graph& graph, const ir::Node& node,
                                  const ProductCodes& product, const PassContext& context) {
  const bool narrow = context.storage != DType::kF32;
  const DType stored = context.storage;
  const abi::MathMode asked = narrow ? MathOfStorage(stored) : context.math;
  const bool float8 = IsFloat(product.x);
  const Dtypes codes = {product.x, product.w, float8 ? product.x : DType::kU8};
  const Dtypes floats = {stored, stored, stored};
  Problem in_codes, in_floats;
  if (node.op == "Conv") {
    const Result<ir::Window> window = ir::ResolveWindow(graph, node);
    if (!window.ok()) return "pattern: a window that is not known";
    in_codes = ConvStep(graph, node, *window, codes);
    in_floats = ConvStep(graph, node, *window, floats);
  } else {
    in_codes = MatrixStep(graph, node, codes);
    in_floats = MatrixStep(graph, node, floats);
  }
  in_floats.math = ModeFor(in_floats.family, asked, stored, context.device);
  if (float8) in_codes.math = ModeFor(in_codes.family, context.math, product.x, context.device);
  const bool compared = node.op == "Conv" && !float8;
  std::string refusal;
  const std::optional<double> integers = StepUs(in_codes, codes.out, compared, context, &refusal);
  if (!integers) return refusal;
  const std::optional<double> reals = StepUs(in_floats, floats.out, compared, context, &refusal);
  if (!reals) return "";
  const double before =
      product.dequantised_apart ? DequantiseUs(in_codes.inputs[0], stored, context) : 0;
  return SlowerInCodes(*integers, *reals + before, stored);
}

std::string SlowerInCodes(double codes_us, double floats_us, DType floats) {
  if (codes_us < floats_us) return {};
  return StrCat("cost: it would take ", Microseconds(codes_us), ", one of ", DTypeName(floats),
                " takes ", Microseconds(floats_us));
}

}  // namespace aicf
