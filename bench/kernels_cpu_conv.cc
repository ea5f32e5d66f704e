/// Measures time and GFLOP/s of the selected CPU kernel on every convolution and matrix product of
/// the models.
///
///   kernels_cpu_conv [--threads=N] [--epilogue=none|bias|relu|hardswish|silu] [--model=NAME]
///   [--key=SUBSTRING]
///                    [--dtype=f32|f16|bf16]
///
/// Tensors are channels-last, except a model's input image. Each figure is the least of many runs:
/// a busy machine makes runs slower, never faster.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "kernels/cpu/expr/scalar_eval.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/threads/thread_pool.h"

namespace {

using namespace aicf;  // NOLINT(google-build-using-namespace): a program of one file

enum Kind { kConv, kTransposed, kGemm, kBatched };
struct Layer {
  const char* model;
  int count;
  Kind kind;
  int64_t d[11];
};
constexpr Layer kLayers[] = {
#include "bench/conv_layers.inc"
};

struct Options {
  int threads = 1;
  std::string epilogue = "relu", model, key, dtype = "f32";
};

abi::View ChannelsLast(const Dims& s) {
  return {DType::kF32, s, Dims{s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]}, 0};
}

abi::Expr Epilogue(const std::string& name) {
  using abi::ExprOp;
  abi::ExprBuilder b;
  const auto c = [&](double v) { return b.Const(v, DType::kF32); };
  if (name == "none") return {};
  uint16_t x = b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  if (name == "relu") x = b.Binary(ExprOp::kMax, x, c(0));
  if (name == "silu") x = b.Binary(ExprOp::kMul, x, b.Unary(ExprOp::kSigmoid, x));
  if (name == "hardswish") {
    // PP-OCR has an affine operation before and after the activation.
    x = b.Binary(ExprOp::kAdd, b.Binary(ExprOp::kMul, x, c(1.1)), c(0.1));
    const uint16_t gate =
        b.Binary(ExprOp::kMin, b.Binary(ExprOp::kMax, b.Binary(ExprOp::kAdd, x, c(3)), c(0)), c(6));
    x = b.Binary(ExprOp::kDiv, b.Binary(ExprOp::kMul, x, gate), c(6));
    x = b.Binary(ExprOp::kAdd, b.Binary(ExprOp::kMul, x, c(0.9)), c(0.2));
  }
  return b.Finish({x});
}

abi::Problem ConvProblem(const Layer& l) {
  const bool t = l.kind == kTransposed;
  const int64_t c = l.d[0], h = l.d[1], w = l.d[2], o = l.d[3], g = l.d[4], kh = l.d[5],
                kw = l.d[6];
  abi::ConvAttrs a{{l.d[7], l.d[8]}, {1, 1}, {l.d[9], l.d[10]}, {l.d[9], l.d[10]}, g, t};
  const auto extent = [&](int64_t in, int64_t k, int axis) {
    return t ? (in - 1) * a.strides[axis] + k - 2 * a.pads_begin[axis]
             : (in + 2 * a.pads_begin[axis] - k) / a.strides[axis] + 1;
  };
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.attrs = a;
  const Dims x{1, c, h, w};
  p.inputs = {c <= 4 ? abi::DenseView(DType::kF32, x) : ChannelsLast(x),
              abi::DenseView(DType::kF32, t ? Dims{c, o / g, kh, kw} : Dims{o, c / g, kh, kw})};
  p.outputs = {ChannelsLast({1, o, extent(h, kh, 0), extent(w, kw, 1)})};
  return p;
}

abi::Problem GemmProblem(const Layer& l) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {l.d[0], l.d[1], l.d[2]}),
              abi::DenseView(DType::kF32, {l.d[0], l.d[2], l.d[3]})};
  p.outputs = {abi::DenseView(DType::kF32, {l.d[0], l.d[1], l.d[3]})};
  return p;
}

abi::Problem MakeProblem(const Layer& l, const std::string& epilogue, DType dtype) {
  const bool conv = l.kind == kConv || l.kind == kTransposed;
  abi::Problem p = conv ? ConvProblem(l) : GemmProblem(l);
  p.core_inputs = 2;
  p.epilogue = Epilogue(epilogue);
  for (auto* views : {&p.inputs, &p.outputs}) {
    for (abi::View& v : *views) v.dtype = dtype;
  }
  if (epilogue == "none") return p;
  abi::View bias{dtype, p.outputs[0].shape, Dims::Filled(p.outputs[0].shape.rank(), 0), 0};
  bias.strides[conv ? 1 : 2] = 1;
  p.inputs.push_back(bias);
  return p;
}

const abi::KernelInfo* Select(const abi::Problem& p, const abi::DeviceSpec& d, const Options& o,
                              bool constant) {
  const abi::KernelInfo* best = nullptr;
  double best_us = 0;
  for (const abi::KernelInfo& k : abi::KernelsOf(p.family)) {
    if (k.backend != abi::Backend::kCpu || !k.supports(p, d).empty()) continue;
    if (k.key.find(o.key) == std::string_view::npos) continue;
    if (!constant && k.packed != nullptr) continue;
    const std::optional<abi::Candidate> candidate = abi::BestCandidate(k, p, d);
    if (!candidate || (best != nullptr && candidate->cost_us >= best_us)) continue;
    best = &k;
    best_us = candidate->cost_us;
  }
  return best;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

// Memory that is aligned as the planner aligns buffers.
Memory Allocate(uint64_t bytes) {
  return Memory(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
}

Memory Buffer(const abi::View& v) {
  const auto bytes = static_cast<uint64_t>(abi::ExtentOf(v)->end);
  Memory memory = Allocate(bytes);
  for (uint64_t at = 0; at < bytes; at += static_cast<uint64_t>(DTypeBytes(v.dtype))) {
    void* element = static_cast<char*>(memory.get()) + at;
    cpu::StoreScalar(element, v.dtype, cpu::FloatScalar(static_cast<double>(at % 7) * 0.1 - 0.3));
  }
  return memory;
}

struct Bound {
  std::vector<Memory> buffers;
  std::vector<abi::TensorArg> tensors;
  Memory workspace;
  abi::ArgBlock args;
};

void Bind(const abi::KernelInfo& k, const abi::Problem& p, const abi::DeviceSpec& d,
          cpu::ThreadPool* pool, Bound* b) {
  std::vector<void*> data;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    b->buffers.push_back(Buffer(p.inputs[i]));
    const abi::Parameters none;  // CPU kernels have no parameters
    const auto layout = abi::LayoutOf(k, p, none, i);
    if (!layout) continue;
    Memory packed = Allocate(layout->bytes);
    k.pack(p, none, static_cast<int>(i), b->buffers[i].get(), packed.get());
    b->buffers[i] = std::move(packed);
  }
  for (const abi::View& v : p.outputs) b->buffers.push_back(Buffer(v));
  for (auto& buffer : b->buffers) data.push_back(buffer.get());
  b->tensors.resize(data.size());
  cpu::FillTensors(p, data.data(), b->tensors.data());
  b->workspace = Allocate(k.workspace_bytes(p, d));
  b->args.input_count = static_cast<uint32_t>(p.inputs.size());
  b->args.output_count = 1;
  b->args.tensors = b->tensors.data();
  b->args.problem = &p;
  b->args.workspace = b->workspace.get();
  b->args.stream = pool;
  b->args.parallel_for = &cpu::ThreadPool::ParallelFor;
  b->args.threads = pool->threads();
}

// The time in microseconds. With one thread it is the thread's processor time, so that time taken
// by other processes does not count.
double Now(int threads) {
  timespec t;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

double BestMicroseconds(abi::CpuKernelFn f, const abi::ArgBlock& args) {
  double best = 1e30, total = 0;
  for (int run = 0; run < 2000 && (total < 60e3 || run < 12); ++run) {
    const double start = Now(args.threads);
    f(args);
    const double us = Now(args.threads) - start;
    best = std::min(best, us);
    total += us;
  }
  return best;
}

bool Flag(const char* arg, const char* name, std::string* value) {
  const size_t n = std::strlen(name);
  if (std::strncmp(arg, name, n) != 0) return false;
  *value = arg + n;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string threads;
    if (Flag(argv[i], "--threads=", &threads))
      o.threads = std::max(1, std::atoi(threads.c_str()));
    else if (!Flag(argv[i], "--epilogue=", &o.epilogue) && !Flag(argv[i], "--model=", &o.model) &&
             !Flag(argv[i], "--key=", &o.key) && !Flag(argv[i], "--dtype=", &o.dtype)) {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
  }
  abi::DeviceSpec device = *abi::FindDevice("cpu");
  device.threads = o.threads;
  const DType dtype = ParseDType(o.dtype).value_or(DType::kF32);
  cpu::ThreadPool pool(o.threads);
  std::map<std::string, std::pair<double, double>> totals;  // microseconds, flops
  for (const Layer& l : kLayers) {
    if (!o.model.empty() && o.model != l.model) continue;
    const abi::Problem p = MakeProblem(l, o.epilogue, dtype);
    const abi::KernelInfo* k = Select(p, device, o, l.kind != kBatched);
    if (k == nullptr) continue;
    Bound b;
    Bind(*k, p, device, &pool, &b);
    const double us = BestMicroseconds(cpu::FindFunction(k->key), b.args);
    abi::Problem core = p;
    core.epilogue = {};
    const double flops = abi::FlopCount(core);
    totals[l.model].first += us * l.count;
    totals[l.model].second += flops * l.count;
    std::printf("%-10s %2d x %-28s %-44s %9.1f us %7.1f GFLOP/s\n", l.model, l.count,
                std::string(k->key).c_str(),
                (ToString(p.inputs[0].shape) + " * " + ToString(p.inputs[1].shape)).c_str(), us,
                flops / us / 1e3);
  }
  for (const auto& [model, t] : totals) {
    std::printf("%-10s total %9.1f us %7.1f GFLOP/s\n", model.c_str(), t.first,
                t.second / t.first / 1e3);
  }
}
