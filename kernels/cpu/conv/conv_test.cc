/// Every convolution variant against the reference, and the reference against plain float64 loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/conv/conv_case.h"

namespace aicf::cpu::testing {
namespace {

using abi::Family;

double Tolerance(const KernelCase& c, std::string_view key) {
  for (const abi::View& v : c.problem.outputs) {
    if (v.dtype == DType::kF16) return 2e-3;
    if (v.dtype == DType::kBF16) return 2e-2;
  }
  // The transform's errors are a few 1e-6 of the raw sums, which an activation may cut to 1.
  return key.find("winograd") != std::string_view::npos ? 1e-4 : 2e-5;
}

int CompareVariants(Rng& rng, const KernelCase& c, const std::string& what) {
  const abi::KernelInfo* ref = abi::FindKernel("cpu.conv.ref");
  const auto expected = RunVariant(*ref, c, 2);
  int ran = 0;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kConv)) {
    const int threads = static_cast<int>(Uniform(rng, 1, 3));
    if (kernel.backend != abi::Backend::kCpu || kernel.key == ref->key) continue;
    if (!kernel.supports(c.problem, HostDevice(threads)).empty()) continue;
    ++ran;
    const auto found = RunVariant(kernel, c, threads);
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_LE(WorstError(c, static_cast<int>(k), found[k], expected[k]), Tolerance(c, kernel.key))
          << kernel.key << " " << what << ": " << ToString(c.problem);
    }
  }
  return ran;
}

TEST(CpuConv, EveryVariantAgreesWithTheReference) {
  Rng rng(81);
  int ran = 0, cases = 0;
  while (cases < 160 && !::testing::Test::HasFailure()) {
    KernelCase c;
    if (!MakeConv(rng, RandomSpec(rng), &c)) continue;
    AddRandomEpilogue(rng, 1, &c);
    c.Fill(rng);
    const Status valid = abi::ValidateProblem(c.problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString();
    ran += CompareVariants(rng, c, std::to_string(cases++));
  }
  EXPECT_GT(ran, 140);  // the baseline alone makes one run of nearly every case
}

TEST(CpuConv, ShapesOfTheModels) {
  Rng rng(82);
  const auto pair = [](int64_t a, int64_t b) { return Dims{a, b}; };
  const Dims one = pair(1, 1), zero = pair(0, 0);
  const std::vector<Spec> specs = {
      {2, 1, 1, 3, 16, false, pair(50, 66), pair(3, 3), pair(2, 2), one, one, one},
      {2, 1, 1, 1, 64, false, pair(30, 33), pair(5, 5), one, one, pair(2, 2), pair(2, 2)},
      {2, 1, 1, 240, 240, false, pair(12, 20), one, one, one, zero, zero},
      {2, 1, 1, 96, 24, false, pair(13, 40), pair(3, 3), one, one, one, one},
      {2, 1, 120, 1, 1, false, pair(12, 31), pair(5, 5), pair(2, 1), one, pair(2, 2), pair(2, 2)},
      {2, 1, 1, 24, 24, true, pair(9, 21), pair(2, 2), pair(2, 2), one, zero, zero},
      {2, 1, 1, 24, 1, true, pair(9, 21), pair(2, 2), pair(2, 2), one, zero, zero},
      {2, 3, 1, 192, 48, false, one, one, one, one, zero, zero},
      {1, 1, 1, 1, 130, false, Dims{700}, Dims{256}, Dims{64}, Dims{1}, Dims{96}, Dims{96}},
  };
  for (size_t i = 0; i < specs.size(); ++i) {
    int ran = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      KernelCase c;
      ASSERT_TRUE(MakeConv(rng, specs[i], &c));
      AddRandomEpilogue(rng, 1, &c);
      c.Fill(rng);
      ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
      ran += CompareVariants(rng, c, "model shape " + std::to_string(i));
    }
    EXPECT_GE(ran, 1);
  }
}

// Sequences stored with a last axis of one position, or two such axes: the rows of the product then
// lie along the axis before.
TEST(CpuConv, LastAxesOfOnePosition) {
  Rng rng(90);
  int ran = 0;
  for (int i = 0; i < 48; ++i) {
    const bool volume = i % 3 == 2, depthwise = i % 4 == 3;
    Spec s;
    s.spatial = volume ? 3 : 2;
    s.images = Uniform(rng, 1, 2);
    s.group = depthwise ? Uniform(rng, 2, 70) : Uniform(rng, 1, 2);
    s.channels = depthwise ? 1 : Uniform(rng, 1, 20);
    s.filters = depthwise ? 1 : Uniform(rng, 1, 70);
    s.transposed = !depthwise && i % 5 == 0;
    s.in = s.kernel = s.strides = s.dilations = Dims::Filled(s.spatial, 1);
    s.pads_begin = s.pads_end = Dims::Filled(s.spatial, 0);
    for (int axis = 0; axis < (volume ? Uniform(rng, 1, 2) : 1); ++axis) {
      s.in[axis] = Uniform(rng, 1, 60);
      s.kernel[axis] = Uniform(rng, 1, 6);
      s.strides[axis] = Uniform(rng, 1, 2);
      s.pads_begin[axis] = Uniform(rng, 0, 3);
      s.pads_end[axis] = Uniform(rng, 0, 3);
    }
    KernelCase c;
    if (!MakeConv(rng, s, &c)) continue;
    AddRandomEpilogue(rng, 1, &c);
    c.Fill(rng);
    ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
    ran += CompareVariants(rng, c, "case " + std::to_string(i));
  }
  EXPECT_GE(ran, 30);
}

// Windows of three and five positions, in groups of panels, whole and not, with every kind of edge.
TEST(CpuConv, DepthwiseWindows) {
  Rng rng(91);
  int ran = 0;
  for (int i = 0; i < 60; ++i) {
    Spec s;
    s.images = Uniform(rng, 1, 2);
    s.group = i % 6 == 0 ? Uniform(rng, 120, 300) : Uniform(rng, 2, 70);
    s.channels = s.filters = 1;
    const int64_t width = Uniform(rng, 0, 1) == 0 ? 3 : 5;
    s.kernel = {Uniform(rng, 1, 5), width};
    s.in = {Uniform(rng, 1, 9), Uniform(rng, 0, 2) == 0 ? Uniform(rng, 1, 6) : Uniform(rng, 7, 70)};
    s.strides = {Uniform(rng, 1, 2), Uniform(rng, 1, 2)};
    s.dilations = {Uniform(rng, 1, 2), 1};
    s.pads_begin = {Uniform(rng, 0, 3), Uniform(rng, 0, width + 1)};
    s.pads_end = {Uniform(rng, 0, 3), Uniform(rng, 0, width + 1)};
    KernelCase c;
    if (!MakeConv(rng, s, &c)) continue;
    if (i % 2 == 0) AddRandomEpilogue(rng, 1, &c);
    c.Fill(rng);
    ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
    ran += CompareVariants(rng, c, "case " + std::to_string(i));
    for (const char* isa : {"baseline", "avx2", "avx512"}) {
      const abi::KernelInfo* kernel = abi::FindKernel(std::string("cpu.conv.depthwise_") + isa);
      ASSERT_NE(kernel, nullptr);
      if (!kernel->supports(c.problem, HostDevice(1)).empty()) continue;
      EXPECT_EQ(RunVariant(*kernel, c, 1), RunVariant(*kernel, c, 3)) << kernel->key;
    }
  }
  EXPECT_GE(ran, 60);
}

TEST(CpuConv, WinogradAgreesWithTheReference) {
  Rng rng(88);
  const Dims one{1, 1}, window{3, 3};
  const abi::KernelInfo* ref = abi::FindKernel("cpu.conv.ref");
  int ran = 0;
  for (int i = 0; i < 40; ++i) {
    Spec s;
    s.images = Uniform(rng, 1, 2);
    s.channels = Uniform(rng, 16, 40);
    s.filters = Uniform(rng, 1, 70);
    s.in = {Uniform(rng, 3, 20), Uniform(rng, 3, 30)};
    s.kernel = window;
    s.strides = s.dilations = one;
    s.pads_begin = {Uniform(rng, 0, 3), Uniform(rng, 0, 3)};
    s.pads_end = {Uniform(rng, 0, 3), Uniform(rng, 0, 3)};
    if (i % 5 == 4) s.dtype = i % 2 == 0 ? DType::kF16 : DType::kBF16;
    KernelCase c;
    ASSERT_TRUE(MakeConv(rng, s, &c));
    const bool plain = i % 2 == 0;
    if (!plain) AddRandomEpilogue(rng, 1, &c);
    c.Fill(rng);
    const auto expected = RunVariant(*ref, c, 2);
    for (const char* isa : {"baseline", "avx2", "avx512"}) {
      const abi::KernelInfo* kernel = abi::FindKernel(std::string("cpu.conv.winograd_") + isa);
      ASSERT_NE(kernel, nullptr);
      if (!kernel->supports(c.problem, HostDevice(1)).empty()) continue;
      ++ran;
      const auto found = RunVariant(*kernel, c, static_cast<int>(Uniform(rng, 1, 4)));
      const double most = plain && s.dtype == DType::kF32 ? 5e-6 : Tolerance(c, kernel->key);
      for (size_t k = 0; k < found.size(); ++k) {
        ASSERT_LE(WorstError(c, static_cast<int>(k), found[k], expected[k]), most)
            << kernel->key << " case " << i << ": " << ToString(c.problem);
      }
    }
  }
  EXPECT_GE(ran, 40);
}

// The definition in attrs.h, read literally: a transposed convolution scatters.
std::vector<double> PlainConv(const KernelCase& c) {
  const abi::Problem& p = c.problem;
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims &x = p.inputs[0].shape, &w = p.inputs[1].shape, &y = p.outputs[0].shape;
  const Dims& small = a.transposed ? x : y;  // the side whose positions step by the stride
  const Dims& large = a.transposed ? y : x;
  std::vector<double> sum(static_cast<size_t>(*ElementCount(y)), 0.0);
  const int64_t per_group = x[1] / a.group, filters = y[1] / a.group;
  for (int64_t i = 0; i < *ElementCount(Dims{x[0], a.group, per_group, filters}); ++i) {
    const int64_t f = i % filters, ch = i / filters % per_group;
    const int64_t g = i / filters / per_group % a.group, n = i / filters / per_group / a.group;
    for (int64_t q = 0; q < small[2] * small[3]; ++q) {
      for (int64_t t = 0; t < w[2] * w[3]; ++t) {
        const int64_t sq[] = {q / small[3], q % small[3]}, st[] = {t / w[3], t % w[3]};
        int64_t lq[2];
        bool inside = true;
        for (int d = 0; d < 2; ++d) {
          lq[d] = sq[d] * a.strides[d] + st[d] * a.dilations[d] - a.pads_begin[d];
          inside &= lq[d] >= 0 && lq[d] < large[d + 2];
        }
        if (!inside) continue;
        const int64_t* xq = a.transposed ? sq : lq;
        const int64_t* yq = a.transposed ? lq : sq;
        const int64_t x_at[] = {n, g * per_group + ch, xq[0], xq[1]};
        const int64_t w_at[] = {a.transposed ? g * per_group + ch : g * filters + f,
                                a.transposed ? f : ch, st[0], st[1]};
        sum[((n * y[1] + g * filters + f) * y[2] + yq[0]) * y[3] + yq[1]] +=
            ElementOf(c, c.buffers[0], p.inputs[0], x_at) *
            ElementOf(c, c.buffers[1], p.inputs[1], w_at);
      }
    }
  }
  return sum;
}

TEST(CpuConv, ReferenceAgreesWithPlainLoops) {
  Rng rng(83);
  for (int cases = 0; cases < 100;) {
    Spec s = RandomSpec(rng);
    if (s.spatial != 2) continue;
    s.dtype = cases % 2 == 0 ? DType::kF32 : DType::kF64;
    s.channels = std::min<int64_t>(s.channels, 4);
    s.filters = std::min<int64_t>(s.filters, 4);
    s.in = Dims{std::min<int64_t>(s.in[0], 9), std::min<int64_t>(s.in[1], 9)};
    KernelCase c;
    if (!MakeConv(rng, s, &c)) continue;
    ++cases;
    c.Fill(rng);
    const auto expected = PlainConv(c);
    const auto found = RunVariant(*abi::FindKernel("cpu.conv.ref"), c, 1);
    const Dims& y = c.problem.outputs[0].shape;
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t coords[] = {at / (y[1] * y[2] * y[3]), at / (y[2] * y[3]) % y[1],
                                at / y[3] % y[2], at % y[3]};
      ASSERT_NEAR(ElementOf(c, found[0], c.problem.outputs[0], coords), expected[i], 2e-6)
          << ToString(c.problem);
    }
  }
}

TEST(CpuConv, ResidualMayBeReplaced) {
  Rng rng(84);
  for (int i = 0; i < 20; ++i) {
    KernelCase c;
    Spec s{2,          1,          1,          9,          37,        false, Dims{11, 17},
           Dims{3, 3}, Dims{1, 1}, Dims{1, 1}, Dims{1, 1}, Dims{1, 1}};
    if (i % 3 == 1) s.group = 40, s.channels = s.filters = 1;
    ASSERT_TRUE(MakeConv(rng, s, &c));
    c.problem.inputs.push_back(c.problem.outputs[0]);
    abi::ExprBuilder b;
    const uint16_t sum =
        b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
    c.problem.epilogue = b.Finish({i % 2 == 0 ? sum : b.Unary(abi::ExprOp::kTanh, sum)});
    c.Fill(rng);
    c.buffers[3] = c.buffers[2];  // gaps included, so that whole buffers compare
    for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kConv)) {
      if (kernel.backend != abi::Backend::kCpu) continue;
      if (!kernel.supports(c.problem, HostDevice(2)).empty()) continue;
      ASSERT_TRUE(kernel.in_place(c.problem, 2));
      EXPECT_FALSE(kernel.in_place(c.problem, 0));
      const auto apart = RunVariant(kernel, c, 2);
      EXPECT_EQ(RunVariant(kernel, c, 2, /*in_place_input=*/2), apart) << kernel.key;
    }
  }
}

TEST(CpuConv, ThreadsDoNotChangeBits) {
  Rng rng(85);
  KernelCase c;
  ASSERT_TRUE(MakeConv(rng,
                       {2, 1, 1, 33, 50, false, Dims{61, 47}, Dims{3, 3}, Dims{1, 1}, Dims{1, 1},
                        Dims{1, 1}, Dims{1, 1}},
                       &c));
  c.Fill(rng);
  for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kConv)) {
    if (kernel.backend != abi::Backend::kCpu) continue;
    if (!kernel.supports(c.problem, HostDevice(1)).empty()) continue;
    const auto one = RunVariant(kernel, c, 1);
    for (int threads : {2, 3, 8}) EXPECT_EQ(RunVariant(kernel, c, threads), one) << kernel.key;
  }
}

TEST(CpuConv, EmptyShapes) {
  Rng rng(86);
  for (int what = 0; what < 3; ++what) {
    Spec s{2,          2,          1,          5,          7,          false,
           Dims{6, 6}, Dims{3, 3}, Dims{1, 1}, Dims{1, 1}, Dims{1, 1}, Dims{1, 1}};
    (what == 0 ? s.images : what == 1 ? s.channels : s.filters) = 0;
    KernelCase c;
    ASSERT_TRUE(MakeConv(rng, s, &c));
    c.Fill(rng);
    const Status valid = abi::ValidateProblem(c.problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString();
    EXPECT_GE(CompareVariants(rng, c, "empty " + std::to_string(what)), 1);
  }
}

TEST(CpuConv, DenormalWeightsArePackedAsZero) {
  Rng rng(89);
  KernelCase c;
  const Dims one{1, 1}, zero{0, 0};
  ASSERT_TRUE(MakeConv(rng, {2, 1, 1, 3, 4, false, Dims{4, 4}, one, one, one, zero, zero}, &c));
  c.Fill(rng);
  auto* weights = reinterpret_cast<float*>(c.buffers[1].data());
  const size_t count = c.buffers[1].size() / sizeof(float);
  std::fill(weights, weights + count, 1e-40f);
  const abi::KernelInfo* kernel = abi::FindKernel("cpu.conv.igemm_baseline");
  const uint64_t bytes = kernel->packed(c.problem, {}, 1)->bytes;
  std::vector<float> packed(bytes / sizeof(float), 1.0f);
  kernel->pack(c.problem, {}, 1, weights, packed.data());
  EXPECT_EQ(std::count(packed.begin(), packed.end(), 0.0f), static_cast<int64_t>(packed.size()));
  std::fill(weights, weights + count, 1e-37f);
  kernel->pack(c.problem, {}, 1, weights, packed.data());
  EXPECT_EQ(std::count(packed.begin(), packed.end(), 1e-37f), 12);
}

TEST(CpuConv, RefusesWhatItCannotRun) {
  Rng rng(87);
  KernelCase c;
  const Dims one{1, 1}, zero{0, 0};
  ASSERT_TRUE(MakeConv(
      rng, {2, 1, 1, 3, 4, false, Dims{4, 4}, one, one, one, zero, zero, DType::kI32}, &c));
  const auto refusal = [&](const char* key) {
    return abi::FindKernel(key)->supports(c.problem, *abi::FindDevice("cpu:baseline"));
  };
  EXPECT_NE(refusal("cpu.conv.igemm_baseline"), "");
  EXPECT_EQ(refusal("cpu.conv.ref"), "");
  ASSERT_TRUE(MakeConv(rng, {2, 1, 1, 3, 4, false, Dims{4, 4}, one, one, one, zero, zero}, &c));
  EXPECT_EQ(refusal("cpu.conv.igemm_baseline"), "");
  EXPECT_NE(refusal("cpu.conv.depthwise_baseline"), "");
  EXPECT_NE(refusal("cpu.conv.igemm_avx2"), "");
  EXPECT_NE(refusal("cpu.conv.igemm_avx512"), "");
  const Dims big{40, 40};
  ASSERT_TRUE(MakeConv(rng, {2, 1, 1, 3, 4, false, big, big, one, one, zero, zero}, &c));
  EXPECT_NE(refusal("cpu.conv.igemm_baseline"), "");
}

}  // namespace
}  // namespace aicf::cpu::testing
