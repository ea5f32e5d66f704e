// Times CPU kernels on steps like those of real models. Prints the median in microseconds, and
// bytes per second.
//   kernels_cpu [threads] [substring of a case]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/threads/thread_pool.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

struct Case {
  std::string name;
  abi::Problem problem;
};

abi::View ChannelsLast(const Dims& shape) {
  abi::View view = abi::DenseView(DType::kF32, shape);
  const int64_t c = shape[1], h = shape[2], w = shape[3];
  view.strides = {c * h * w, 1, c * w, c};
  return view;
}

abi::View Repeated(abi::View view, std::initializer_list<int> axes) {
  for (int axis : axes) view.strides[axis] = 0;
  return view;
}

abi::Problem Elementwise(const Dims& shape, std::vector<abi::View> inputs, const abi::Expr& expr) {
  abi::Problem p;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = std::move(inputs);
  p.outputs = {abi::DenseView(DType::kF32, shape)};
  p.core_inputs = static_cast<int>(p.inputs.size());
  p.epilogue = expr;
  return p;
}

template <class F>
abi::Expr Make(F&& f) {
  abi::ExprBuilder b;
  const uint16_t result = f(b);
  return b.Finish({result});
}

uint16_t Clip(abi::ExprBuilder& b, uint16_t x, double low, double high) {
  return b.Binary(ExprOp::kMin, b.Binary(ExprOp::kMax, x, b.Const(low, DType::kF32)),
                  b.Const(high, DType::kF32));
}

uint16_t HardSwish(abi::ExprBuilder& b, uint16_t x) {
  const uint16_t scaled = b.Binary(ExprOp::kMul, x, b.Const(1.0 / 6, DType::kF32));
  const uint16_t gate = Clip(b, b.Binary(ExprOp::kAdd, scaled, b.Const(0.5, DType::kF32)), 0, 1);
  return b.Binary(ExprOp::kMul, x, gate);
}

void AddElementwise(std::vector<Case>& cases) {
  const auto in = [](abi::ExprBuilder& b, int k = 0) { return b.Input(k, DType::kF32); };
  const auto relu =
      Make([&](auto& b) { return b.Binary(ExprOp::kMax, in(b), b.Const(0, DType::kF32)); });
  const auto hard_swish = Make([&](auto& b) { return HardSwish(b, in(b)); });
  const auto add_relu = Make([&](auto& b) {
    return b.Binary(ExprOp::kMax, b.Binary(ExprOp::kAdd, in(b), in(b, 1)), b.Const(0, DType::kF32));
  });
  const auto swish = Make(
      [&](auto& b) { return b.Binary(ExprOp::kMul, in(b), b.Unary(ExprOp::kSigmoid, in(b))); });
  const auto affine = Make([&](auto& b) {
    return b.Binary(ExprOp::kAdd, b.Binary(ExprOp::kMul, in(b), in(b, 1)), in(b, 2));
  });
  for (int64_t n : {16384, 262144, 4194304}) {
    const abi::View x = abi::DenseView(DType::kF32, {n});
    const std::string size = " " + std::to_string(n);
    cases.push_back({"relu" + size, Elementwise({n}, {x}, relu)});
    cases.push_back({"hard-swish" + size, Elementwise({n}, {x}, hard_swish)});
    cases.push_back({"add+relu" + size, Elementwise({n}, {x, x}, add_relu)});
    cases.push_back({"sigmoid*x" + size, Elementwise({n}, {x}, swish)});
  }
  const Dims shape = {1, 96, 60, 80};
  const abi::View dense = abi::DenseView(DType::kF32, shape);
  cases.push_back(
      {"scale+shift nchw",
       Elementwise(shape, {dense, Repeated(dense, {0, 2, 3}), Repeated(dense, {0, 2, 3})},
                   affine)});
  abi::View last = ChannelsLast(shape);
  abi::Problem p =
      Elementwise(shape, {last, Repeated(last, {0, 2, 3}), Repeated(last, {0, 2, 3})}, affine);
  p.outputs = {last};
  cases.push_back({"scale+shift nhwc", p});
}

void AddCopies(std::vector<Case>& cases) {
  const auto copy = [&](const std::string& name, const abi::View& in, const abi::View& out) {
    abi::Problem p;
    p.family = abi::Family::kCopy;
    p.attrs = abi::CopyAttrs{{Dims::Filled(in.shape.rank(), 0)}, false, 0};
    p.inputs = {in};
    p.outputs = {out};
    p.core_inputs = 1;
    cases.push_back({name, p});
  };
  for (const Dims& shape : {Dims{1, 96, 60, 80}, Dims{1, 3, 960, 960}, Dims{1, 64, 240, 240}}) {
    copy("nchw->nhwc " + ToString(shape), abi::DenseView(DType::kF32, shape), ChannelsLast(shape));
    copy("nhwc->nchw " + ToString(shape), ChannelsLast(shape), abi::DenseView(DType::kF32, shape));
    copy("copy " + ToString(shape), ChannelsLast(shape), ChannelsLast(shape));
  }
}

void AddWindows(std::vector<Case>& cases) {
  const auto pool = [&](const std::string& name, abi::PoolKind kind, int64_t k, int64_t s,
                        const abi::View& in, const abi::View& out) {
    abi::Problem p;
    p.family = abi::Family::kPool;
    p.attrs = abi::PoolAttrs{kind, {k, k}, {s, s}, {1, 1}, {0, 0}, {0, 0}, false, 2};
    p.inputs = {in};
    p.outputs = {out};
    p.core_inputs = 1;
    cases.push_back({name, p});
  };
  const Dims in = {1, 64, 111, 111}, out = {1, 64, 55, 55};
  const auto max = abi::PoolKind::kMax;
  pool("max-pool 3x3/2 nhwc", max, 3, 2, ChannelsLast(in), ChannelsLast(out));
  pool("max-pool 3x3/2 nchw", max, 3, 2, abi::DenseView(DType::kF32, in),
       abi::DenseView(DType::kF32, out));
  pool("avg-pool 13x13 nhwc", abi::PoolKind::kAverage, 13, 1, ChannelsLast({1, 1000, 13, 13}),
       ChannelsLast({1, 1000, 1, 1}));
  for (auto mode : {abi::ResizeMode::kNearest, abi::ResizeMode::kLinear}) {
    abi::Problem p;
    p.family = abi::Family::kResize;
    abi::ResizeAttrs a;
    a.mode = mode;
    a.coordinates = abi::CoordinateMode::kAsymmetric;
    a.nearest = abi::NearestMode::kFloor;
    a.scales = {1, 1, 2, 2};
    p.attrs = a;
    p.core_inputs = 1;
    const std::string name = mode == abi::ResizeMode::kNearest ? "nearest x2" : "linear x2";
    p.inputs = {ChannelsLast({1, 24, 120, 120})};
    p.outputs = {ChannelsLast({1, 24, 240, 240})};
    cases.push_back({name + " nhwc", p});
    p.inputs = {abi::DenseView(DType::kF32, {1, 24, 120, 120})};
    p.outputs = {abi::DenseView(DType::kF32, {1, 24, 240, 240})};
    cases.push_back({name + " nchw", p});
  }
}

void AddReductions(std::vector<Case>& cases) {
  const auto reduce = [&](const std::string& name, abi::ReduceKind kind, const abi::View& in,
                          const Dims& axes) {
    abi::Problem p;
    p.family = abi::Family::kReduce;
    p.attrs = abi::ReduceAttrs{kind, axes, false};
    p.inputs = {in};
    Dims out = in.shape;
    for (int64_t axis : axes) out[static_cast<int>(axis)] = 1;
    const bool arg = kind == abi::ReduceKind::kArgMax;
    p.outputs = {abi::DenseView(arg ? DType::kI64 : DType::kF32, out)};
    p.core_inputs = 1;
    cases.push_back({name, p});
  };
  const Dims shape = {1, 96, 60, 80};
  reduce("mean hw nchw", abi::ReduceKind::kMean, abi::DenseView(DType::kF32, shape), {2, 3});
  reduce("mean hw nhwc", abi::ReduceKind::kMean, ChannelsLast(shape), {2, 3});
  reduce("mean rows 40x120", abi::ReduceKind::kMean, abi::DenseView(DType::kF32, {40, 120}), {1});
  reduce("arg-max 40x6625", abi::ReduceKind::kArgMax, abi::DenseView(DType::kF32, {40, 6625}), {1});
  const auto normalize = [&](const std::string& name, abi::NormalizeKind kind, const Dims& dims) {
    abi::Problem p;
    p.family = abi::Family::kNormalize;
    p.attrs = abi::NormalizeAttrs{kind, {dims.rank() - 1}, 1e-5};
    p.inputs = {abi::DenseView(DType::kF32, dims)};
    p.outputs = p.inputs;
    p.core_inputs = 1;
    cases.push_back({name, p});
  };
  normalize("softmax 40x6625", abi::NormalizeKind::kSoftmax, {40, 6625});
  normalize("softmax 8x40x40", abi::NormalizeKind::kSoftmax, {8, 40, 40});
  normalize("softmax 1x1000", abi::NormalizeKind::kSoftmax, {1, 1000});
  normalize("layer-norm 40x120", abi::NormalizeKind::kLayerNorm, {40, 120});
  normalize("layer-norm 512x768", abi::NormalizeKind::kLayerNorm, {512, 768});
}

struct Aligned {
  explicit Aligned(size_t bytes) : data(std::aligned_alloc(64, (bytes + 127) / 64 * 64)) {
    std::memset(data, 0, bytes);
  }
  Aligned(Aligned&& other) noexcept : data(other.data) { other.data = nullptr; }
  ~Aligned() { std::free(data); }
  void* data;
};

const abi::KernelInfo* Choose(const abi::Problem& problem, const abi::DeviceSpec& device) {
  for (const abi::KernelInfo& info : abi::KernelsOf(problem.family)) {
    if (info.backend == abi::Backend::kCpu && info.supports(problem, device).empty()) return &info;
  }
  return nullptr;
}

void Time(const Case& c, ThreadPool& pool) {
  abi::DeviceSpec device = *abi::FindDevice("cpu");
  device.threads = pool.threads();
  const abi::KernelInfo* info = Choose(c.problem, device);
  std::vector<Aligned> memory;
  std::vector<void*> buffers;
  for (const auto* views : {&c.problem.inputs, &c.problem.outputs}) {
    for (const abi::View& v : *views) {
      const auto elements = static_cast<size_t>(abi::ExtentOf(v)->end) / 4;
      memory.emplace_back(elements * 4);
      auto* f = static_cast<float*>(memory.back().data);
      for (size_t i = 0; i < elements; ++i) f[i] = static_cast<float>(i % 97) / 16 - 3;
      buffers.push_back(f);
    }
  }
  std::vector<abi::TensorArg> tensors(buffers.size());
  FillTensors(c.problem, buffers.data(), tensors.data());
  const Aligned workspace(info->workspace_bytes(c.problem, device) + 64);
  abi::ArgBlock args;
  args.input_count = static_cast<uint32_t>(c.problem.inputs.size());
  args.output_count = static_cast<uint32_t>(c.problem.outputs.size());
  args.tensors = tensors.data();
  args.problem = &c.problem;
  args.workspace = workspace.data;
  args.stream = &pool;
  args.parallel_for = &ThreadPool::ParallelFor;
  args.threads = pool.threads();
  const abi::CpuKernelFn function = FindFunction(info->key);
  std::vector<double> us;
  double total = 0;
  while (us.size() < 20 || (total < 2e5 && us.size() < 2000)) {
    const auto start = std::chrono::steady_clock::now();
    function(args);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    us.push_back(took.count());
    total += took.count();
  }
  std::sort(us.begin(), us.end());
  const double median = us[us.size() / 2];
  std::printf("%-28s %-26s %10.2f us %8.2f GB/s  best %.2f\n", c.name.c_str(),
              std::string(info->key).c_str(), median, abi::ByteCount(c.problem) / median / 1e3,
              us[0]);
}

}  // namespace
}  // namespace aicf::cpu

int main(int argc, char** argv) {
  using namespace aicf::cpu;  // NOLINT(google-build-using-namespace)
  ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : 1);
  std::vector<Case> cases;
  AddElementwise(cases);
  AddCopies(cases);
  AddWindows(cases);
  AddReductions(cases);
  for (const Case& c : cases) {
    if (argc < 3 || c.name.find(argv[2]) != std::string::npos) Time(c, pool);
  }
  return 0;
}
