#include "compiler/passes/lowered/weight_order.h"

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/kernel.h"

namespace aicf {
namespace {

using abi::Problem;

// Weights are [out, in, taps..], or transposed [in, out, taps..].
Dims OutputsLast(const Problem& p) {
  const bool transposed = p.as<abi::ConvAttrs>().transposed;
  Dims order;
  for (int i = 2; i < p.inputs[1].shape.rank(); ++i) order.push_back(i);
  order.push_back(transposed ? 0 : 1);
  order.push_back(transposed ? 1 : 0);
  return order;
}

Dims InputsLast(const Problem& p) {
  Dims order = {0};
  for (int i = 2; i < p.inputs[1].shape.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return order;
}

// Rows and columns of each matrix of the stack change places.
Dims RowsLast(const Problem& p) {
  Dims order;
  const int rank = p.inputs[1].shape.rank();
  for (int i = 0; i < rank - 2; ++i) order.push_back(i);
  order.push_back(rank - 1);
  order.push_back(rank - 2);
  return order;
}

Dims AsTheyAre(const Problem& p) {
  Dims order;
  for (int i = 0; i < p.inputs[1].shape.rank(); ++i) order.push_back(i);
  return order;
}

// Whether weights have to lie along the sum: tensor cores of Hopper read operands of 32 and of 8
// bits so alone, those of 16 bits in both orders.
bool NeedsOrderAlongSum(const Problem& p) {
  const DType x = p.inputs[0].dtype, w = p.inputs[1].dtype;
  const bool tf32 = p.math == abi::MathMode::kTf32 && x == DType::kF32 && w == DType::kF32;
  return tf32 || (DTypeBytes(x) == 1 && DTypeBytes(w) == 1);
}

// The extents of the weights as a matrix: the number of sums (columns), and of products that each
// of them adds (terms).
struct Extents {
  int64_t columns, terms;
};

Extents ExtentsOf(const Problem& p) {
  const Dims& shape = p.inputs[1].shape;
  const int rank = shape.rank();
  if (p.family == abi::Family::kGemm) return {shape[rank - 1], shape[rank - 2]};
  int64_t terms = 1;
  for (int i = 1; i < rank; ++i) terms *= shape[i];
  return {shape[0], terms};
}

// Whether the weights should be neighbours along the sum for the sake of the tiles. Weights that
// are neighbours along the output columns come to tensor cores of Hopper in parts of 64 columns.
// Tiles of 96 and 160 columns exist only for weights that are neighbours along the sum. They pay
// where they divide the columns and the largest tiles of the other order do not, and where a tile
// spends its time on the sum: with 16 to 112 terms EfficientNet's convolutions took 1 % more.
bool SuitsTilesAlongSum(const Problem& p, const Extents& weights) {
  constexpr int64_t kFewestTerms = 256;
  if (DTypeBytes(p.inputs[0].dtype) != 2 || DTypeBytes(p.inputs[1].dtype) != 2) return false;
  if (weights.terms < kFewestTerms) return false;
  const auto divide = [&](int64_t tile) { return weights.columns % tile == 0; };
  return (divide(96) || divide(160)) && !divide(128) && !divide(192);
}

// The first kernel that takes the weights in the order `axes` alone, not in `other`; empty: none.
std::string_view KernelOf(Problem p, const Dims& axes, const Dims& other,
                          const abi::DeviceSpec& device) {
  const Dims shape = p.inputs[1].shape;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    if (kernel.backend != device.backend) continue;
    p.inputs[1].strides = ir::StridesInOrder(shape, other);
    if (kernel.supports(p, device).empty()) continue;
    p.inputs[1].strides = ir::StridesInOrder(shape, axes);
    if (kernel.supports(p, device).empty()) return kernel.key;
  }
  return {};
}

bool IsTakenByHopper(Problem p, const Dims& axes, const abi::DeviceSpec& device) {
  const bool conv = p.family == abi::Family::kConv;
  const abi::KernelInfo* kernel = abi::FindKernel(conv ? "cuda.conv.hopper" : "cuda.gemm.hopper");
  p.inputs[1].strides = ir::StridesInOrder(p.inputs[1].shape, axes);
  return kernel != nullptr && kernel->supports(p, device).empty();
}

WeightOrder ByRule(Dims axes) {
  WeightOrder order;
  order.axes = std::move(axes);
  order.suffix = " outputs last";
  order.name = "output channels innermost";
  order.why = "neighbouring threads compute neighbouring output channels";
  order.alternatives = {{"model order", "cost: neighbouring threads would read far apart", -1}};
  return order;
}

// Whether weights along the sum were measured to be faster with a kernel for few rows
// (bench/results/h200_products.md). cuda.gemm.gemv was slower than cuda.gemm.hopper with two rows
// and columns of 6 KB, and with four rows; cuda.gemm.stream_rows was with 32 rows and 8 MB of
// weights. Predictions said otherwise.
bool GainsFromOrder(std::string_view key, const Problem& p) {
  constexpr int64_t kMostColumnBytes = 6144, kManyWeightBytes = 16 << 20;
  const Extents weights = ExtentsOf(p);
  const int64_t rows = p.outputs[0].shape[p.outputs[0].shape.rank() - 2];
  const int64_t column_bytes = weights.terms * DTypeBytes(p.inputs[1].dtype);
  if (key == "cuda.gemm.gemv") {
    return rows <= 2 && column_bytes <= (rows == 1 ? kMostColumnBytes : kMostColumnBytes / 2);
  }
  if (key == "cuda.gemm.stream") return true;
  return rows <= 16 || column_bytes * weights.columns >= kManyWeightBytes;
}

// Whether a kernel for few rows that gains from the order is the fastest for the product.
bool IsFastestWithFewRows(const Problem& p, double fastest_us, const abi::DeviceSpec& device) {
  for (const std::string_view key :
       {"cuda.gemm.gemv", "cuda.gemm.stream", "cuda.gemm.stream_rows"}) {
    const abi::KernelInfo* kernel = abi::FindKernel(key);
    if (kernel == nullptr || !kernel->supports(p, device).empty()) continue;
    const std::optional<abi::Candidate> own = abi::BestCandidate(*kernel, p, device);
    const double launch_us = device.programmatic ? device.launch_us : 0;
    if (own && own->cost_us - launch_us <= fastest_us) return GainsFromOrder(key, p);
  }
  return false;
}

// The order `axes` for a product of few rows with weights of 16 bits, where that is predicted to be
// faster than with the weights as they are. Such products wait for their weights. Weights that are
// neighbours along the sum are read faster, and come in tiles of any multiple of 16 columns, so
// that all multiprocessors are at work; others come in tiles of 64 to 256 columns.
std::optional<WeightOrder> ForFewRows(Problem p, const Dims& axes, const abi::DeviceSpec& device) {
  if (DTypeBytes(p.inputs[1].dtype) != 2) return std::nullopt;
  std::string refusal;
  const std::optional<double> other_us = PredictedUs(p, device, &refusal);
  p.inputs[1].strides = ir::StridesInOrder(p.inputs[1].shape, axes);
  const std::optional<double> own_us = PredictedUs(p, device, &refusal);
  if (!own_us || !other_us || *own_us >= *other_us) return std::nullopt;
  if (!IsFastestWithFewRows(p, *own_us, device)) return std::nullopt;
  WeightOrder order;
  order.axes = axes;
  order.reason = Reason::kPredicted;
  order.cost_us = *own_us;
  order.why = "products of few rows read weights faster that are neighbours along the sum";
  order.alternatives = {{"model order", "", *other_us}};
  return order;
}

// The order `axes`, where a kernel takes it and not `other`, or has tiles for it that suit the
// columns.
std::optional<WeightOrder> ForTensorCores(const Problem& p, const Dims& axes, const Dims& other,
                                          const std::string& other_name,
                                          const abi::DeviceSpec& device) {
  WeightOrder order;
  order.axes = axes;
  const Extents weights = ExtentsOf(p);
  if (SuitsTilesAlongSum(p, weights) && IsTakenByHopper(p, axes, device)) {
    order.why = StrCat("tiles of 96 or 160 columns divide ", weights.columns,
                       ", and are for weights that are neighbours along the sum");
    order.alternatives = {{other_name, "cost: its tiles are parts of 64 columns", -1}};
    return order;
  }
  if (!NeedsOrderAlongSum(p)) return std::nullopt;
  const std::string_view kernel = KernelOf(p, axes, other, device);
  if (kernel.empty()) return std::nullopt;
  order.why = "what tensor cores of Hopper read";
  order.alternatives = {{other_name,
                         StrCat("capability: ", kernel, " reads weights of ",
                                8 * DTypeBytes(p.inputs[1].dtype), " bits along the sum alone"),
                         -1}};
  return order;
}

WeightOrder OfConvolution(const Problem& p, const abi::DeviceSpec& device) {
  WeightOrder outputs = ByRule(OutputsLast(p));
  const auto& a = p.as<abi::ConvAttrs>();
  if (a.transposed || a.group != 1) return outputs;
  std::optional<WeightOrder> inputs =
      ForTensorCores(p, InputsLast(p), outputs.axes, outputs.name, device);
  if (!inputs) return outputs;
  inputs->suffix = " inputs last";
  inputs->name = "input channels innermost";
  return *inputs;
}

std::optional<WeightOrder> OfProduct(const Problem& p, const abi::DeviceSpec& device, bool alone) {
  if (p.inputs[1].shape.rank() < 2) return std::nullopt;
  std::optional<WeightOrder> turned =
      ForTensorCores(p, RowsLast(p), AsTheyAre(p), "model order", device);
  if (!turned && alone) turned = ForFewRows(p, RowsLast(p), device);
  if (!turned) return std::nullopt;
  turned->suffix = " k last";
  turned->name = "k innermost";
  return turned;
}

}  // namespace

std::optional<WeightOrder> ChooseWeightOrder(const Problem& problem, const abi::DeviceSpec& device,
                                             bool alone) {
  if (problem.family == abi::Family::kConv) return OfConvolution(problem, device);
  return OfProduct(problem, device, alone);
}

abi::Problem WithStoredWeights(Problem problem, const PassContext& context) {
  const bool alone = context.entry.empty();
  if (const auto order = ChooseWeightOrder(problem, context.device, alone)) {
    problem.inputs[1].strides = ir::StridesInOrder(problem.inputs[1].shape, order->axes);
  }
  return problem;
}

}  // namespace aicf
