#include "kernels/cpu/gemm/kernel_case.h"
#include "kernels/abi/packing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "kernels/cpu/expr/scalar_eval.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/threads/thread_pool.h"

namespace aicf::cpu::testing {
namespace {

constexpr std::byte kUntouched{0x5b};

// Calls f(coords) for every index of a shape.
template <class F>
void EachIndex(const Dims& shape, const F& f) {
  const int64_t count = *ElementCount(shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t coords[kMaxRank] = {}, rest = i;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      coords[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    f(coords);
  }
}

int64_t ElementAt(const abi::View& view, const int64_t* coords) {
  int64_t at = view.offset;
  for (int axis = 0; axis < view.shape.rank(); ++axis) at += coords[axis] * view.strides[axis];
  return at;
}

size_t BytesFor(const abi::View& view) { return static_cast<size_t>(abi::ExtentOf(view)->end); }

using abi::ExprBuilder;
using abi::ExprOp;

// x * clip(x + 3, 0, 6) / 6 and its other spelling x * clip(x / 6 + 1/2, 0, 1).
uint16_t HardSwish(ExprBuilder& b, uint16_t x, bool fused) {
  const auto c = [&](double v) { return b.Const(v, DType::kF32); };
  const uint16_t inner = fused
                             ? b.Binary(ExprOp::kAdd, b.Binary(ExprOp::kMul, x, c(1.0 / 6)), c(0.5))
                             : b.Binary(ExprOp::kAdd, x, c(3));
  const uint16_t gate =
      b.Binary(ExprOp::kMin, b.Binary(ExprOp::kMax, inner, c(0)), c(fused ? 1 : 6));
  const uint16_t y = b.Binary(ExprOp::kMul, x, gate);
  return fused ? y : b.Binary(ExprOp::kDiv, y, c(6));
}

// GELU by tanh or by erf.
uint16_t Gelu(ExprBuilder& b, uint16_t x, bool by_tanh) {
  const auto c = [&](double v) { return b.Const(v, DType::kF32); };
  const uint16_t cube = b.Binary(ExprOp::kMul, x, b.Binary(ExprOp::kMul, x, c(0.044715)));
  const uint16_t u = by_tanh ? b.Binary(ExprOp::kMul, b.Fma(x, cube, x), c(0.7978845608))
                             : b.Binary(ExprOp::kMul, x, c(0.7071067812));
  const uint16_t f = b.Unary(by_tanh ? ExprOp::kTanh : ExprOp::kErf, u);
  return b.Binary(ExprOp::kMul, b.Binary(ExprOp::kMul, x, c(0.5)), b.Binary(ExprOp::kAdd, f, c(1)));
}

uint16_t Activation(Rng& rng, ExprBuilder& b, uint16_t x) {
  const auto c = [&](double v) { return b.Const(v, DType::kF32); };
  switch (Uniform(rng, 0, 11)) {
    case 0:
      return b.Binary(ExprOp::kMax, x, c(0));
    case 1:
      return b.Binary(ExprOp::kMin, c(0.75), b.Binary(ExprOp::kMax, x, c(-0.5)));
    case 2:
      return HardSwish(b, x, false);
    case 3:
      return HardSwish(b, x, true);
    case 4:
      return b.Binary(ExprOp::kMul, b.Unary(ExprOp::kSigmoid, x), x);
    case 5:
      return b.Unary(ExprOp::kSigmoid, b.Unary(ExprOp::kNeg, x));
    case 6:
      return b.Unary(ExprOp::kTanh, x);
    case 7:
      return b.Binary(ExprOp::kSub, c(1), b.Binary(ExprOp::kMul, x, c(-2.5)));
    case 8:
      return b.Unary(ExprOp::kErf, x);
    case 9:
      return Gelu(b, x, true);
    case 10:
      return Gelu(b, x, false);
    default:
      return x;
  }
}

}  // namespace

int64_t Uniform(Rng& rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

abi::View RandomView(Rng& rng, DType dtype, const Dims& shape, const std::vector<int>& order) {
  std::vector<int> axes = order;
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(shape.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), rng);
  }
  abi::View view{dtype, shape, Dims::Filled(shape.rank(), 0), Uniform(rng, 0, 3)};
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    view.strides[axes[i]] = stride;
    stride *= std::max<int64_t>(1, shape[axes[i]]);
    if (i > 0 && Uniform(rng, 0, 5) == 0) stride += Uniform(rng, 1, 5);
  }
  return view;
}

void KernelCase::Fill(Rng& rng) {
  std::uniform_real_distribution<double> value(-1, 1);
  buffers.clear();
  for (const abi::View& v : problem.inputs) {
    buffers.emplace_back(BytesFor(v));
    const int64_t bytes = DTypeBytes(v.dtype);
    for (size_t at = 0; at + bytes <= buffers.back().size(); at += bytes) {
      const double x = IsFloat(v.dtype) ? value(rng) : std::round(value(rng) * 9);
      StoreScalar(&buffers.back()[at], v.dtype, ScalarFromDouble(x, abi::ComputeDType(v.dtype)));
    }
  }
  for (const abi::View& v : problem.outputs) buffers.emplace_back(BytesFor(v), kUntouched);
}

int KernelCase::AddOperand(Rng& rng, Operand kind, int column_axis, DType dtype) {
  const Dims& shape = problem.outputs[0].shape;
  Dims stored = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool broadcast = kind == Operand::kScalar ||
                           (kind == Operand::kColumn && axis != column_axis) ||
                           (kind == Operand::kRow && axis == column_axis);
    if (broadcast) stored[axis] = 1;
  }
  // Half of the full operands share the output's layout, as residuals do.
  abi::View view = RandomView(rng, dtype, stored);
  if (kind == Operand::kFull && Uniform(rng, 0, 1) == 0) view = problem.outputs[0];
  view.dtype = dtype;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (stored[axis] == 1) view.strides[axis] = 0;
  }
  view.shape = shape;
  problem.inputs.push_back(view);
  return static_cast<int>(problem.inputs.size()) - problem.core_inputs;
}

double ElementOf(const KernelCase&, const std::vector<std::byte>& buffer, const abi::View& view,
                 const int64_t* coords) {
  const std::byte* at = buffer.data() + ElementAt(view, coords) * DTypeBytes(view.dtype);
  return ScalarToDouble(LoadScalar(at, view.dtype), abi::ComputeDType(view.dtype));
}

void AddRandomEpilogue(Rng& rng, int column_axis, KernelCase* c) {
  using Operand = KernelCase::Operand;
  ExprBuilder b;
  const auto operand = [&](Operand kind, bool half) {
    const DType dtype = half && Uniform(rng, 0, 3) == 0 ? DType::kF16 : DType::kF32;
    return b.Input(c->AddOperand(rng, kind, column_axis, dtype), DType::kF32);
  };
  uint16_t y = b.Input(0, DType::kF32);
  if (Uniform(rng, 0, 7) == 0) return;
  if (Uniform(rng, 0, 2) > 0) y = b.Binary(ExprOp::kAdd, y, operand(Operand::kColumn, true));
  if (Uniform(rng, 0, 5) == 0) y = b.Binary(ExprOp::kMul, operand(Operand::kColumn, true), y);
  if (Uniform(rng, 0, 7) == 0) y = b.Binary(ExprOp::kAdd, y, operand(Operand::kScalar, true));
  y = Activation(rng, b, y);
  if (Uniform(rng, 0, 3) == 0) y = b.Binary(ExprOp::kAdd, operand(Operand::kFull, true), y);
  if (Uniform(rng, 0, 4) == 0) {
    y = b.Fma(y, b.Unary(ExprOp::kSigmoid, y), operand(Operand::kFull, false));
  } else if (Uniform(rng, 0, 4) == 0) {
    y = b.Fma(b.Const(0.75, DType::kF32), y, b.Const(-0.125, DType::kF32));
  }
  if (Uniform(rng, 0, 7) == 0) y = b.Binary(ExprOp::kMul, y, operand(Operand::kRow, false));
  if (Uniform(rng, 0, 9) == 0) {
    const int axis = static_cast<int>(Uniform(rng, 0, c->problem.outputs[0].shape.rank() - 1));
    y = b.Binary(ExprOp::kMul, y, b.Cast(b.Index(axis), DType::kF32));
  }
  std::vector<uint16_t> results = {y};
  if (Uniform(rng, 0, 9) == 0) {
    results.push_back(b.Unary(ExprOp::kAbs, y));
    c->problem.outputs.push_back(RandomView(rng, DType::kF32, c->problem.outputs[0].shape));
  }
  c->problem.epilogue = b.Finish(results);
}

std::vector<std::vector<std::byte>> RunVariant(const abi::KernelInfo& kernel, const KernelCase& c,
                                               int threads, int in_place_input) {
  const abi::Problem& p = c.problem;
  auto buffers = c.buffers;
  std::vector<std::vector<std::byte>> packed(p.inputs.size());
  std::vector<void*> data;
  for (auto& buffer : buffers) {
    buffer.reserve(64);  // empty buffers have an address, too, as in the runtime
    data.push_back(buffer.data());
  }
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (!abi::LayoutOf(kernel, p, {}, i)) continue;
    packed[i] = abi::PackedInput(kernel, p, {}, i, buffers[i].data());
    data[i] = packed[i].data();
  }
  if (in_place_input >= 0) data[p.inputs.size()] = data[static_cast<size_t>(in_place_input)];
  std::vector<abi::TensorArg> tensors(data.size());
  FillTensors(p, data.data(), tensors.data());
  const uint64_t bytes = kernel.workspace_bytes(p, HostDevice(threads));
  std::vector<std::byte> workspace(bytes + 64, kUntouched);
  void* aligned = workspace.data();
  size_t space = workspace.size();
  std::align(64, bytes, aligned, space);

  ThreadPool pool(threads);
  abi::ArgBlock args;
  args.input_count = static_cast<uint32_t>(p.inputs.size());
  args.output_count = static_cast<uint32_t>(p.outputs.size());
  args.tensors = tensors.data();
  args.problem = &p;
  args.workspace = aligned;
  args.workspace_bytes = bytes;
  args.stream = &pool;
  args.parallel_for = &ThreadPool::ParallelFor;
  args.threads = threads;
  FindFunction(kernel.key)(args);
  if (in_place_input >= 0) buffers[p.inputs.size()] = buffers[static_cast<size_t>(in_place_input)];
  return {buffers.begin() + static_cast<int64_t>(p.inputs.size()), buffers.end()};
}

double WorstError(const KernelCase& c, int k, const std::vector<std::byte>& found,
                  const std::vector<std::byte>& expected) {
  const abi::View& view = c.problem.outputs[static_cast<size_t>(k)];
  double worst = 0, scale = 1;
  bool broken = found.size() != expected.size();
  std::vector<bool> inside(found.size(), false);
  EachIndex(view.shape, [&](const int64_t* coords) {
    const double a = ElementOf(c, found, view, coords), b = ElementOf(c, expected, view, coords);
    broken |= std::isnan(a) != std::isnan(b);
    if (std::isfinite(b)) scale = std::max(scale, std::abs(b));
    if (a != b && !std::isnan(b)) worst = std::max(worst, std::abs(a - b));
    const int64_t bytes = DTypeBytes(view.dtype), at = ElementAt(view, coords) * bytes;
    std::fill_n(inside.begin() + at, bytes, true);
  });
  for (size_t i = 0; i < found.size(); ++i) broken |= !inside[i] && found[i] != kUntouched;
  return broken ? std::numeric_limits<double>::infinity() : worst / scale;
}

abi::DeviceSpec HostDevice(int threads) {
  abi::DeviceSpec device = *abi::FindDevice("cpu");
  device.threads = threads;
  return device;
}

}  // namespace aicf::cpu::testing
