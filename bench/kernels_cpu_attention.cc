// Compares attention as one step with its form in three steps (scores, softmax, values) on the CPU.
// Runs of the two alternate, and the least time counts, since a busy machine makes runs slower but
// never faster.
//   kernels_cpu_attention [threads] [substring of a case]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/abi/attention.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/threads/thread_pool.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

struct Aligned {
  explicit Aligned(size_t bytes) : data(std::aligned_alloc(64, (bytes + 127) / 64 * 64)) {
    std::memset(data, 0, bytes);
  }
  Aligned(const Aligned&) = delete;
  ~Aligned() { std::free(data); }
  void* data;
};

/// A step with the kernel that has the least predicted cost, ready to run.
class Runner {
 public:
  Runner(const abi::Problem& problem, std::vector<void*> buffers, ThreadPool& pool)
      : problem_(problem) {
    abi::DeviceSpec device = *abi::FindDevice("cpu");
    device.threads = pool.threads();
    double best = std::numeric_limits<double>::infinity();
    for (const abi::KernelInfo& k : abi::KernelsOf(problem_.family)) {
      if (k.backend != abi::Backend::kCpu || !k.supports(problem_, device).empty()) continue;
      const std::optional<abi::Candidate> candidate = abi::BestCandidate(k, problem_, device);
      if (!candidate || candidate->cost_us >= best) continue;
      // Only constants can be packed, and attention's keys and values are not constants.
      if (abi::LayoutOf(k, problem_, candidate->variant.parameters, 1)) continue;
      best = candidate->cost_us;
      info_ = &k;
    }
    tensors_.resize(buffers.size());
    FillTensors(problem_, buffers.data(), tensors_.data());
    args_.input_count = static_cast<uint32_t>(problem_.inputs.size());
    args_.output_count = static_cast<uint32_t>(problem_.outputs.size());
    args_.tensors = tensors_.data();
    args_.problem = &problem_;
    args_.workspace_bytes = info_->workspace_bytes(problem_, device);
    workspace_ = std::make_unique<Aligned>(args_.workspace_bytes + 64);
    args_.workspace = workspace_->data;
    args_.stream = &pool;
    args_.parallel_for = &ThreadPool::ParallelFor;
    args_.threads = pool.threads();
    function_ = FindFunction(info_->key);
  }
  double Run() const {
    const auto start = std::chrono::steady_clock::now();
    function_(args_);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return took.count();
  }
  std::string key() const { return std::string(info_->key); }

 private:
  const abi::Problem problem_;
  const abi::KernelInfo* info_ = nullptr;
  std::vector<abi::TensorArg> tensors_;
  std::unique_ptr<Aligned> workspace_;
  abi::ArgBlock args_;
  abi::CpuKernelFn function_ = nullptr;
};

struct Size {
  const char* name;
  int64_t batch, heads, key_heads, rows, keys, head;
  bool causal;
};

/// Softmax of scale * scores + mask as one normalisation, as lowering makes it without the
/// attention family.
abi::Problem Softmax(const abi::View& scores, const abi::View& mask, double scale) {
  abi::Problem p;
  p.family = abi::Family::kNormalize;
  p.attrs = abi::NormalizeAttrs{abi::NormalizeKind::kSoftmax, {3}, 0};
  p.inputs = {scores, mask};
  p.core_inputs = 2;
  p.outputs = {scores};
  abi::ExprBuilder b;
  const uint16_t s = b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Const(scale, DType::kF32));
  p.prologue = b.Finish({b.Binary(ExprOp::kAdd, s, b.Input(1, DType::kF32))});
  return p;
}

abi::Problem Product(const abi::View& a, const abi::View& b, const abi::View& out) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {a, b};
  p.core_inputs = 2;
  p.outputs = {out};
  return p;
}

void Time(const Size& s, ThreadPool& pool) {
  const auto dense = [](const Dims& shape) { return abi::DenseView(DType::kF32, shape); };
  const abi::View q = dense({s.batch, s.heads, s.rows, s.head});
  const abi::View k = dense({s.batch, s.key_heads, s.keys, s.head});
  const abi::View scores = dense({s.batch, s.heads, s.rows, s.keys});
  // Views of keys and values as the products of the three-step form read them: each key head is
  // repeated for the query heads of its group, and the keys are transposed for the scores.
  const int64_t group = s.heads / s.key_heads;
  const auto each = [&](const abi::View& v) {
    abi::View e = v;
    e.shape = {s.batch * s.key_heads, group, v.shape[2], v.shape[3]};
    e.strides = {v.strides[1], 0, v.strides[2], v.strides[3]};
    return e;
  };
  const auto heads = [&](int64_t rows, int64_t columns) {
    return dense({s.batch * s.key_heads, group, rows, columns});
  };
  abi::View transposed = each(k);
  std::swap(transposed.shape[2], transposed.shape[3]);
  std::swap(transposed.strides[2], transposed.strides[3]);
  const double scale = 1 / std::sqrt(static_cast<double>(s.head));

  const auto bytes = [](const abi::View& v) { return static_cast<size_t>(abi::ElementsOf(v)) * 4; };
  Aligned mq(bytes(q)), mk(bytes(k)), mv(bytes(k)), ms(bytes(scores)), mp(bytes(scores)),
      mo(bytes(q)), mt(bytes(q)), mm(static_cast<size_t>(s.rows * s.keys) * 4);
  for (const Aligned* m : {&mq, &mk, &mv}) {
    auto* f = static_cast<float*>(m->data);
    const size_t n = bytes(m == &mq ? q : k) / 4;
    for (size_t i = 0; i < n; ++i)
      f[i] = static_cast<float>((i * 2654435761u >> 7) % 97) / 97 - 0.5f;
  }
  const int64_t offset = s.keys - s.rows;
  for (int64_t i = 0; i < s.rows && s.causal; ++i) {
    for (int64_t j = i + offset + 1; j < s.keys; ++j) {
      static_cast<float*>(mm.data)[i * s.keys + j] = -std::numeric_limits<float>::infinity();
    }
  }
  abi::Problem fused;
  fused.family = abi::Family::kAttention;
  abi::AttentionAttrs a;
  a.scale = scale;
  if (s.causal) a.window_right = 0;
  a.offset = offset;
  fused.attrs = a;
  fused.inputs = {q, k, k};
  fused.core_inputs = 3;
  fused.outputs = {q};

  const Runner one(fused, {mq.data, mk.data, mv.data, mo.data}, pool);
  const Runner first(Product(heads(s.rows, s.head), transposed, heads(s.rows, s.keys)),
                     {mq.data, mk.data, ms.data}, pool);
  const abi::View mask{DType::kF32, scores.shape, {0, 0, s.keys, 1}, 0};
  const Runner second(Softmax(scores, mask, scale), {ms.data, mm.data, mp.data}, pool);
  const Runner third(Product(heads(s.rows, s.keys), each(k), heads(s.rows, s.head)),
                     {mp.data, mv.data, mt.data}, pool);
  double fastest = 1e30, three = 1e30, total = 0;
  for (int i = 0; i < 5 || (total < 1e6 && i < 2000); ++i) {
    const double t1 = one.Run(), t3 = first.Run() + second.Run() + third.Run();
    fastest = std::min(fastest, t1);
    three = std::min(three, t3);
    total += t1 + t3;
  }
  double difference = 0;
  for (size_t i = 0; i < bytes(q) / 4; ++i) {
    difference =
        std::max(difference, std::fabs(static_cast<double>(static_cast<float*>(mo.data)[i] -
                                                           static_cast<float*>(mt.data)[i])));
  }
  std::printf(
      "%-24s one %10.1f us %7.1f GFLOP/s   three %10.1f us   ratio %.2f   apart %.1e  (%s, %s)\n",
      s.name, fastest, abi::FlopCount(fused) / fastest / 1e3, three, three / fastest, difference,
      one.key().c_str(), first.key().c_str());
}

}  // namespace
}  // namespace aicf::cpu

int main(int argc, char** argv) {
  using namespace aicf::cpu;  // NOLINT(google-build-using-namespace)
  ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : 1);
  constexpr Size kSizes[] = {
      {"bert 12x128x64", 1, 12, 12, 128, 128, 64, false},
      {"vit 12x197x64", 1, 12, 12, 197, 197, 64, false},
      {"gpt2 causal 12x1024x64", 1, 12, 12, 1024, 1024, 64, true},
      {"full 8x2048x128", 1, 8, 8, 2048, 2048, 128, false},
      {"decode 32/8x4096x128", 1, 32, 8, 1, 4096, 128, false},
      {"decode 12x1024x64", 1, 12, 12, 1, 1024, 64, false},
  };
  for (const Size& s : kSizes) {
    if (argc < 3 || std::string(s.name).find(argv[2]) != std::string::npos) Time(s, pool);
  }
  return 0;
}
