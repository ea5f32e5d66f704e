#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// Of [n, c, spatial..]: whether every spatial axis has one position.
bool HasOnePosition(const Dims& shape) {
  for (int d = 2; d < shape.rank(); ++d) {
    if (shape[d] != 1) return false;
  }
  return true;
}

// One tap meets the one position of each image, so out[n, o] = sum over c of x[n, c] * w[o, c].
bool IsProduct(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  if (p.family != abi::Family::kConv) return false;
  const auto& a = p.as<abi::ConvAttrs>();
  for (int d = 0; d < a.pads_begin.rank(); ++d) {
    if (a.pads_begin[d] != 0) return false;
  }
  return !a.transposed && a.group == 1 && HasOnePosition(p.inputs[0].shape) &&
         HasOnePosition(p.inputs[1].shape) && HasOnePosition(p.outputs[0].shape);
}

// The view without its axes of one position.
abi::View Matrix(const abi::View& v) {
  abi::View matrix = v;
  matrix.shape = {v.shape[0], v.shape[1]};
  matrix.strides = {v.strides[0], v.strides[1]};
  return matrix;
}

abi::Problem ProductOf(const abi::Problem& conv) {
  abi::Problem p = conv;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  for (abi::View& v : p.inputs) v = Matrix(v);
  for (abi::View& v : p.outputs) v = Matrix(v);
  std::swap(p.inputs[1].shape[0], p.inputs[1].shape[1]);  // weights [o, c] are B [k, n]
  std::swap(p.inputs[1].strides[0], p.inputs[1].strides[1]);
  return p;
}

void Record(PassContext& context, const ir::LoweredStep& step, const std::string& refusal) {
  Decision d = context.About(DecisionKind::kFold, SubjectOf(step), "conv-to-gemm");
  const bool product = refusal.empty();
  d.choice = product ? "matrix product" : "convolution";
  d.Because(Reason::kRule, product ? "each image has one position, which one tap meets"
                                   : "it cannot be a matrix product");
  d.alternatives = {product ? schema::Alternative{"convolution",
                                                  "cost: its tiles are made for many positions", -1}
                            : schema::Alternative{"matrix product", refusal, -1}};
  context.Record(std::move(d));
}

}  // namespace

// Squeeze-and-excitation networks have convolutions of one position. As products they have few
// rows, which is what matrix-vector kernels are for.
Status ConvToGemm(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  for (ir::LoweredStep& step : lowered.steps) {
    if (!IsProduct(step)) continue;
    abi::Problem product = ProductOf(step.problem);
    const std::string refusal = ReadsCoordinates(product.epilogue)
                                    ? "domain: the epilogue uses coordinates of the convolution"
                                    : LosesKernel(step.problem, product, context.device);
    Record(context, step, refusal);
    if (refusal.empty()) step.problem = std::move(product);
  }
  return OkStatus();
}

}  // namespace aicf
