// Predictions against the clock: for typical steps of small vision models every variant is timed,
// and the variant that the predicted costs choose must not be far from the fastest. Prints one line
// per variant.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/checked.h"
#include "tests/conformance/gpu_jobs.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::MathMode;
using abi::Problem;
using abi::View;

struct Layer {
  std::string name;
  Problem problem;
};

View ChannelsLast(DType dtype, int64_t n, int64_t c, int64_t h, int64_t w) {
  return {dtype, {n, c, h, w}, {h * w * c, 1, w * c, c}, 0};
}

// relu(raw + bias per channel or column).
void AddBiasRelu(Problem& p, const Dims& bias_strides) {
  p.inputs.push_back({DType::kF32, p.outputs[0].shape, bias_strides, 0});
  abi::ExprBuilder b;
  const uint16_t sum =
      b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  p.epilogue = b.Finish({b.Binary(abi::ExprOp::kMax, sum, b.Const(0, DType::kF32))});
}

// A square-kernel convolution as the compiler lays it out for CUDA.
Layer Conv(int64_t n, int64_t in, int64_t h, int64_t w, int64_t out, int64_t kernel, int64_t stride,
           int64_t group, MathMode math = MathMode::kFp32, DType dtype = DType::kF32) {
  Problem p;
  p.family = Family::kConv;
  p.math = math;
  abi::ConvAttrs a;
  a.strides = {stride, stride};
  a.dilations = {1, 1};
  a.pads_begin = a.pads_end = {kernel / 2, kernel / 2};
  a.group = group;
  p.attrs = a;
  const int64_t oh = (h - 1) / stride + 1, ow = (w - 1) / stride + 1, local = in / group;
  p.inputs = {
      ChannelsLast(dtype, n, in, h, w),
      {dtype, {out, local, kernel, kernel}, {1, out, kernel * local * out, local * out}, 0}};
  p.outputs = {ChannelsLast(dtype, n, out, oh, ow)};
  p.core_inputs = 2;
  AddBiasRelu(p, {0, 1, 0, 0});
  return {StrCat("conv ", n, "x", in, "x", h, "x", w, " -> ", out, " k", kernel, " s", stride, " g",
                 group, " ", abi::MathModeName(math), " ", DTypeName(dtype)),
          p};
}

Layer Gemm(int64_t m, int64_t n, int64_t k, MathMode math = MathMode::kFp32,
           DType dtype = DType::kF32) {
  Problem p;
  p.family = Family::kGemm;
  p.math = math;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(dtype, {m, k}), abi::DenseView(dtype, {k, n})};
  p.outputs = {abi::DenseView(dtype, {m, n})};
  p.core_inputs = 2;
  AddBiasRelu(p, {0, 1});
  return {StrCat("gemm ", m, "x", n, "x", k, " ", abi::MathModeName(math), " ", DTypeName(dtype)),
          p};
}

Layer Softmax(int64_t rows, int64_t length) {
  Problem p;
  p.family = Family::kNormalize;
  abi::NormalizeAttrs a;
  a.axes = {1};
  p.attrs = a;
  p.inputs = p.outputs = {abi::DenseView(DType::kF32, {rows, length})};
  p.core_inputs = 1;
  return {StrCat("softmax ", rows, "x", length), p};
}

Layer Mean(int64_t c, int64_t h, int64_t w) {
  Problem p;
  p.family = Family::kReduce;
  abi::ReduceAttrs a;
  a.kind = abi::ReduceKind::kMean;
  a.axes = {2, 3};
  p.attrs = a;
  p.inputs = {ChannelsLast(DType::kF32, 1, c, h, w)};
  p.outputs = {ChannelsLast(DType::kF32, 1, c, 1, 1)};
  p.core_inputs = 1;
  return {StrCat("mean ", c, "x", h, "x", w), p};
}

Layer Transpose(int64_t c, int64_t pixels) {
  Problem p;
  p.family = Family::kCopy;
  abi::CopyAttrs a;
  a.starts = {{0, 0}};
  p.attrs = a;
  p.inputs = {{DType::kF32, {c, pixels}, {1, c}, 0}};
  p.outputs = {abi::DenseView(DType::kF32, {c, pixels})};
  p.core_inputs = 1;
  return {StrCat("transpose ", c, "x", pixels), p};
}

// silu(raw * scale + shift), both by channel, of 32 groups with their channels innermost.
Layer GroupNorm(int64_t n, int64_t c, int64_t side, DType dtype = DType::kF16) {
  const int64_t run = c / 32;
  const Dims shape = {n, 32, run, side, side};
  Problem p;
  p.family = Family::kNormalize;
  abi::NormalizeAttrs a;
  a.kind = abi::NormalizeKind::kLayerNorm;
  a.axes = {2, 3, 4};
  a.epsilon = 1e-5;
  p.attrs = a;
  p.inputs = p.outputs = {{dtype, shape, {c * side * side, run, 1, c * side, c}, 0}};
  p.core_inputs = 1;
  for (int k = 0; k < 2; ++k) p.inputs.push_back({DType::kF32, shape, {0, run, 1, 0, 0}, 0});
  abi::ExprBuilder b;
  const uint16_t y =
      b.Fma(b.Input(0, DType::kF32), b.Input(1, DType::kF32), b.Input(2, DType::kF32));
  const uint16_t gate = b.Unary(abi::ExprOp::kSigmoid, y);
  p.epilogue = b.Finish({b.Binary(abi::ExprOp::kMul, y, gate)});
  return {StrCat("group norm ", n, "x", c, "x", side, "x", side, " ", DTypeName(dtype)), p};
}

// Queries, keys and values as views of [batch, tokens, heads, size].
Layer Attention(int64_t batch, int64_t heads, int64_t rows, int64_t keys, int64_t size,
                bool causal = false) {
  Problem p;
  p.family = Family::kAttention;
  p.math = MathMode::kFp16;
  abi::AttentionAttrs a;
  a.scale = 1 / std::sqrt(static_cast<double>(size));
  if (causal) a.window_right = 0;
  p.attrs = a;
  const auto view = [&](int64_t tokens) {
    return View{DType::kF16,
                {batch, heads, tokens, size},
                {tokens * heads * size, size, heads * size, 1},
                0};
  };
  p.inputs = {view(rows), view(keys), view(keys)};
  p.outputs = {view(rows)};
  p.core_inputs = 3;
  return {StrCat("attention ", batch, "x", heads, "x", rows, "x", keys, "x", size,
                 causal ? " causal" : ""),
          p};
}

// Codes of 8 bits as a quantised network has them: sums times a factor and a bias per channel or
// column, divided by the result's scale, rounded and saturated; float8 alike.
Layer InEightBits(Layer layer, DType x, DType w) {
  Problem& p = layer.problem;
  const DType raw = IsFloat(x) ? DType::kF32 : DType::kI32;
  p.math = IsFloat(x) ? MathMode::kFp8 : MathMode::kFp32;
  p.inputs[0].dtype = x;
  View& weights = p.inputs[1];
  weights.dtype = w;
  const Dims& s = weights.shape;
  weights.strides = s.rank() == 2 ? Dims{1, s[0]} : Dims{s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]};
  p.inputs.push_back(p.inputs[2]);
  abi::ExprBuilder b;
  const uint16_t scaled =
      b.Binary(abi::ExprOp::kMul, b.Cast(b.Input(0, raw), DType::kF32), b.Input(1, DType::kF32));
  const uint16_t sum = b.Binary(abi::ExprOp::kAdd, scaled, b.Input(2, DType::kF32));
  const uint16_t real = b.Binary(abi::ExprOp::kDiv, sum, b.Const(0.37, DType::kF32));
  p.outputs[0].dtype = IsFloat(x) ? x : DType::kU8;
  if (IsFloat(x)) {
    p.epilogue = b.Finish({real});
  } else {
    const uint16_t whole = b.Unary(abi::ExprOp::kRound, real);
    const uint16_t low = b.Binary(abi::ExprOp::kMax, whole, b.Const(0, DType::kF32));
    const uint16_t code = b.Binary(abi::ExprOp::kMin, low, b.Const(255, DType::kF32));
    p.epilogue = b.Finish({b.Cast(code, DType::kU8)});
  }
  layer.name = StrCat(layer.name, " in ", DTypeName(x), " x ", DTypeName(w));
  return layer;
}

// Products and the convolutions of ResNet-50, each in 16 and in 8 bits.
std::vector<Layer> EightBitLayers() {
  using enum MathMode;
  std::vector<Layer> layers;
  for (const int64_t size : {4096, 8192}) {
    const Layer in_16 = Gemm(size, size, size, kBf16, DType::kBF16);
    layers.push_back(in_16);
    layers.push_back(InEightBits(in_16, DType::kI8, DType::kI8));
    layers.push_back(InEightBits(in_16, DType::kF8E4M3FN, DType::kF8E4M3FN));
  }
  for (const Layer& in_16 :
       {Gemm(4096, 3072, 768, kFp16, DType::kF16), Gemm(128, 3072, 768, kFp16, DType::kF16),
        Gemm(128, 768, 3072, kFp16, DType::kF16)}) {
    layers.push_back(in_16);
    layers.push_back(InEightBits(in_16, DType::kU8, DType::kI8));
    layers.push_back(InEightBits(in_16, DType::kF8E4M3FN, DType::kF8E4M3FN));
  }
  struct Shape {
    int64_t in, side, out, kernel, stride;
  };
  for (const Shape& s : {Shape{64, 56, 64, 3, 1}, Shape{64, 56, 256, 1, 1},
                         Shape{256, 14, 256, 3, 1}, Shape{512, 7, 2048, 1, 1}}) {
    for (const int64_t images : {1, 32}) {
      const Layer in_16 =
          Conv(images, s.in, s.side, s.side, s.out, s.kernel, s.stride, 1, kFp16, DType::kF16);
      layers.push_back(in_16);
      layers.push_back(InEightBits(in_16, DType::kU8, DType::kI8));
    }
  }
  return layers;
}

// A product of float8 codes stored as bf16; with scale_columns above 0 blocks of 128 terms, and on
// the right of so many columns, have scales.
Layer Float8Gemm(int64_t m, int64_t n, int64_t k, int64_t scale_columns) {
  Problem p;
  p.family = Family::kGemm;
  p.math = MathMode::kFp8;
  p.inputs = {abi::DenseView(DType::kF8E4M3FN, {m, k}), {DType::kF8E4M3FN, {k, n}, {1, k}, 0}};
  p.outputs = {abi::DenseView(DType::kBF16, {m, n})};
  abi::GemmAttrs a;
  if (scale_columns > 0) {
    a.scale_terms = 128;
    a.scale_columns = scale_columns;
    const int64_t steps = CeilDiv(k, int64_t{128});
    p.inputs.push_back(abi::DenseView(DType::kF32, {m, steps}));
    p.inputs.push_back(abi::DenseView(DType::kF32, {steps, CeilDiv(n, scale_columns)}));
  }
  p.attrs = a;
  p.core_inputs = static_cast<int>(p.inputs.size());
  const std::string scales =
      scale_columns > 0 ? StrCat(", scales of 1x128 and 128x", scale_columns) : "";
  return {StrCat("gemm ", m, "x", n, "x", k, " f8e4m3fn", scales), p};
}

// Products of float8 beside bf16: sums of the tensor cores, sums added in f32 (as long ones are),
// scales of blocks.
std::vector<Layer> Float8Layers() {
  constexpr int64_t kSize = 8192;
  return {Gemm(kSize, kSize, kSize, MathMode::kBf16, DType::kBF16),
          Float8Gemm(kSize, kSize, kSize, 0), Float8Gemm(kSize, kSize / 2, 2 * kSize, 0),
          Float8Gemm(kSize, kSize, kSize, 128), Float8Gemm(kSize, kSize, kSize, 1)};
}

// Steps of diffusion models, and others of their kernels.
std::vector<Layer> LargeLayers() {
  return {
      GroupNorm(1, 320, 64),
      GroupNorm(2, 320, 64),
      GroupNorm(1, 640, 32),
      GroupNorm(1, 1280, 16),
      GroupNorm(1, 64, 56),
      GroupNorm(8, 64, 56),
      GroupNorm(1, 128, 56),
      GroupNorm(1, 128, 512),
      GroupNorm(1, 512, 64),
      GroupNorm(1, 320, 64, DType::kF32),
      Attention(1, 8, 4096, 4096, 40),
      Attention(1, 8, 4096, 77, 40),
      Attention(1, 8, 1024, 1024, 80),
      Attention(1, 10, 4096, 4096, 64),
      Attention(4, 32, 2048, 2048, 32),
      Attention(4, 16, 2048, 2048, 64),
      Attention(4, 16, 2048, 2048, 64, true),
      Attention(4, 16, 2048, 2048, 80),
      Attention(4, 8, 2048, 2048, 128),
      Attention(32, 12, 197, 197, 64),
      Attention(1, 12, 128, 128, 64),
  };
}

std::vector<Layer> Layers() {
  using enum MathMode;
  return {
      Conv(1, 3, 48, 320, 16, 3, 2, 1),
      Conv(1, 16, 24, 160, 32, 1, 1, 1),
      Conv(1, 64, 24, 160, 64, 1, 1, 1),
      Conv(1, 128, 12, 160, 128, 1, 1, 1),
      Conv(1, 240, 6, 80, 240, 1, 1, 1),
      Conv(1, 480, 3, 80, 480, 1, 1, 1),
      Conv(1, 480, 1, 40, 60, 3, 1, 1),
      Conv(1, 480, 1, 1, 120, 1, 1, 1),
      Conv(6, 240, 6, 80, 240, 1, 1, 1),
      Conv(1, 96, 160, 160, 24, 3, 1, 1),
      Conv(1, 24, 160, 160, 96, 1, 1, 1),
      Conv(1, 3, 640, 640, 16, 3, 2, 1),
      Conv(1, 64, 24, 160, 64, 3, 1, 64),
      Conv(1, 240, 6, 80, 240, 5, 1, 240),
      Conv(1, 96, 160, 160, 96, 5, 1, 96),
      Conv(1, 512, 14, 14, 512, 3, 1, 1),
      Conv(1, 64, 224, 224, 64, 3, 1, 1),
      Conv(1, 64, 55, 55, 64, 3, 1, 1, kFp16, DType::kF16),
      Conv(1, 64, 56, 56, 64, 3, 1, 1, kTf32),
      Conv(1, 240, 6, 80, 240, 1, 1, 1, kFp16),
      Conv(1, 64, 224, 224, 64, 3, 1, 1, kTf32),
      Gemm(1, 1000, 1280),
      Gemm(40, 6625, 120),
      Gemm(40, 360, 120),
      Gemm(240, 120, 480),
      Gemm(128, 768, 768),
      Gemm(1024, 1024, 1024),
      Gemm(1024, 1024, 1024, kTf32),
      Gemm(4096, 4096, 4096, kFp16, DType::kF16),
      // A transformer of 128 rows: f32 weights, packed and as they are.
      Gemm(128, 768, 768, kFp16),
      Gemm(128, 768, 768, kTf32),
      Gemm(128, 3072, 768, kFp16),
      Gemm(128, 3072, 768, kTf32),
      Gemm(128, 768, 3072, kFp16),
      Gemm(128, 768, 3072, kTf32),
      Softmax(40, 6625),
      Softmax(960, 40),
      Mean(480, 3, 80),
      Mean(64, 160, 160),
      Transpose(96, 25600),
  };
}

// Of the `most` variants that are predicted to be the fastest.
void ExpectChosenNearFastest(const std::vector<Layer>& layers, size_t most,
                             bool whole_numbers = true) {
  Result<std::unique_ptr<JobRunner>> made = JobRunner::Make();
  if (!made.ok()) GTEST_SKIP() << made.status().message();
  JobRunner& runner = **made;
  std::vector<Job> jobs;
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const Layer& layer : layers) {
    auto c = std::make_shared<Case>();
    c->problem = layer.problem;
    c->name = layer.name;
    Random random(7);
    FillBuffers(random, *c, whole_numbers);
    const size_t first = jobs.size();
    for (KernelOption& o : runner.Variants(*c, most, 0)) {
      Job job;
      job.item = c;
      job.option = std::move(o);
      jobs.push_back(std::move(job));
    }
    ranges.emplace_back(first, jobs.size());
  }
  runner.Run(jobs, {.compare = false, .times = 30});
  std::printf("on %s: measured us, predicted us, variant (first: chosen)\n",
              runner.gpu().name().c_str());
  double chosen_total = 0, fastest_total = 0;
  for (auto [first, last] : ranges) {
    std::printf("%s\n", jobs[first].item->name.c_str());
    double fastest = 1e30;
    for (size_t j = first; j < last; ++j) {
      const Job& job = jobs[j];
      ASSERT_EQ(job.failure, "") << job.option.Name();
      fastest = std::min(fastest, job.mean_us);
      std::printf("  %9.2f %9.2f  %s\n", job.mean_us, job.option.candidate.cost_us,
                  job.option.Name().c_str());
    }
    chosen_total += jobs[first].mean_us;
    fastest_total += fastest;
    EXPECT_LE(jobs[first].mean_us, 2 * fastest + 3) << jobs[first].item->name;
  }
  std::printf("chosen %.1f us, fastest %.1f us\n", chosen_total, fastest_total);
  EXPECT_LE(chosen_total, 1.5 * fastest_total);
}

TEST(GpuTiming, ChosenVariantsAreNearTheFastest) { ExpectChosenNearFastest(Layers(), 100); }

TEST(GpuTiming, ChosenVariantsOfLargeStepsAreNearTheFastest) {
  ExpectChosenNearFastest(LargeLayers(), 10);
}

TEST(GpuTiming, ChosenVariantsOfEightBitsAreNearTheFastest) {
  // Whole numbers would leave most bits of the operands 0, which spares power and so time.
  ExpectChosenNearFastest(EightBitLayers(), 6, false);
}

TEST(GpuTiming, ChosenVariantsOfFloat8AreNearTheFastest) {
  ExpectChosenNearFastest(Float8Layers(), 6, false);
}

}  // namespace
}  // namespace aicf::conformance
