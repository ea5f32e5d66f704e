/// Every gemm variant against the reference, and the reference against plain float64 loops.
#include <gtest/gtest.h>

#include <cmath>

#include "base/checked.h"
#include "kernels/cpu/gemm/kernel_case.h"

namespace aicf::cpu::testing {
namespace {

using abi::Family;

KernelCase GemmCase(Rng& rng, DType dtype, const Dims& batch, int64_t m, int64_t n, int64_t k) {
  KernelCase c;
  c.problem.family = Family::kGemm;
  c.problem.attrs = abi::GemmAttrs{};
  c.problem.core_inputs = 2;
  Dims a = batch, b = batch, out = batch;
  for (int64_t d : {m, k}) a.push_back(d);
  for (int64_t d : {k, n}) b.push_back(d);
  for (int64_t d : {m, n}) out.push_back(d);
  c.problem.inputs = {RandomView(rng, dtype, a), RandomView(rng, dtype, b)};
  c.problem.outputs = {RandomView(rng, dtype, out)};
  // A broadcast batch axis of B, or of A.
  for (int axis = 0; axis < batch.rank(); ++axis) {
    if (Uniform(rng, 0, 2) == 0)
      c.problem.inputs[1].strides[axis] = 0;
    else if (Uniform(rng, 0, 4) == 0)
      c.problem.inputs[0].strides[axis] = 0;
  }
  return c;
}

KernelCase RandomGemm(Rng& rng) {
  static constexpr DType kDTypes[] = {DType::kF32, DType::kF32, DType::kF32, DType::kF16,
                                      DType::kBF16};
  Dims batch;
  for (int64_t i = Uniform(rng, 0, 3); i > 1; --i) batch.push_back(Uniform(rng, 1, 3));
  const auto extent = [&](int64_t most) {
    return Uniform(rng, 0, 30) == 0 ? 0 : Uniform(rng, 1, Uniform(rng, 0, 3) ? most / 4 : most);
  };
  const DType dtype = kDTypes[Uniform(rng, 0, 4)];
  KernelCase c = GemmCase(rng, dtype, batch, extent(90), extent(170), extent(120));
  AddRandomEpilogue(rng, c.problem.outputs[0].shape.rank() - 1, &c);
  if (c.problem.outputs[0].dtype != DType::kF16) c.problem.outputs[0].dtype = DType::kF32;
  c.Fill(rng);
  return c;
}

// Scales of blocks: the last block of either axis may be a part of one.
TEST(CpuGemm, TheReferenceMultipliesBlocksByTheirScales) {
  Rng rng(73);
  for (int round = 0; round < 60; ++round) {
    const DType dtype = round % 3 == 0   ? DType::kF32
                        : round % 3 == 1 ? DType::kF8E4M3FN
                                         : DType::kF8E5M2;
    const int64_t m = Uniform(rng, 1, 9), n = Uniform(rng, 1, 20), k = Uniform(rng, 1, 40);
    const Dims batch = round % 2 == 0 ? Dims{} : Dims{Uniform(rng, 1, 3)};
    KernelCase c = GemmCase(rng, dtype, batch, m, n, k);
    abi::GemmAttrs attrs;
    attrs.scale_terms = Uniform(rng, 1, 16);
    attrs.scale_columns = Uniform(rng, 1, 8);
    c.problem.attrs = attrs;
    c.problem.core_inputs = 4;
    Dims of_a = batch, of_b = batch;
    const int64_t steps = CeilDiv(k, attrs.scale_terms.value);
    for (int64_t d : {m, steps}) of_a.push_back(d);
    for (int64_t d : {steps, CeilDiv(n, attrs.scale_columns.value)}) of_b.push_back(d);
    c.problem.inputs.push_back(RandomView(rng, DType::kF32, of_a));
    c.problem.inputs.push_back(RandomView(rng, DType::kF32, of_b));
    c.problem.outputs[0].dtype = DType::kF32;
    ASSERT_EQ(abi::ValidateProblem(c.problem).message(), "");
    c.Fill(rng);
    const auto found = RunVariant(*abi::FindKernel("cpu.gemm.ref"), c, 1);
    const auto at = [&](size_t operand, int64_t b, int64_t i, int64_t j) {
      const abi::View& v = c.problem.inputs[operand];
      Dims index = batch;
      if (batch.rank() > 0) index[0] = b;
      index.push_back(i);
      index.push_back(j);
      return ElementOf(c, c.buffers[operand], v, index.begin());
    };
    for (int64_t b = 0; b < (batch.rank() > 0 ? batch[0] : 1); ++b) {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0, size = 0;
          for (int64_t t = 0; t < k; ++t) {
            const double x = at(0, b, i, t) * at(2, b, i, t / attrs.scale_terms);
            const double y =
                at(1, b, t, j) * at(3, b, t / attrs.scale_terms, j / attrs.scale_columns);
            sum += x * y;
            size += std::abs(x * y);
          }
          Dims index = batch;
          if (batch.rank() > 0) index[0] = b;
          index.push_back(i);
          index.push_back(j);
          const double y = ElementOf(c, found[0], c.problem.outputs[0], index.begin());
          ASSERT_NEAR(y, sum, 1e-6 * size + 1e-30) << ToString(c.problem);
        }
      }
    }
  }
}

// Rounding of the storage type; sums differ in order, so f32 needs a margin over one rounding.
double Tolerance(const KernelCase& c) {
  for (const abi::View& v : c.problem.outputs) {
    if (v.dtype == DType::kF16) return 2e-3;
    if (v.dtype == DType::kBF16) return 2e-2;
  }
  return 2e-5;
}

TEST(CpuGemm, EveryVariantAgreesWithTheReference) {
  Rng rng(71);
  const abi::KernelInfo* ref = abi::FindKernel("cpu.gemm.ref");
  ASSERT_NE(ref, nullptr);
  int ran = 0;
  for (int i = 0; i < 160; ++i) {
    const KernelCase c = RandomGemm(rng);
    ASSERT_TRUE(abi::ValidateProblem(c.problem).ok()) << abi::ValidateProblem(c.problem).ToString();
    const auto expected = RunVariant(*ref, c, 1);
    for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kGemm)) {
      const int threads = static_cast<int>(Uniform(rng, 1, 3));
      if (kernel.backend != abi::Backend::kCpu || kernel.key == ref->key) continue;
      if (!kernel.supports(c.problem, HostDevice(threads)).empty()) continue;
      ++ran;
      const auto found = RunVariant(kernel, c, threads);
      for (size_t k = 0; k < found.size(); ++k) {
        ASSERT_LE(WorstError(c, static_cast<int>(k), found[k], expected[k]), Tolerance(c))
            << kernel.key << " case " << i << ": " << ToString(c.problem);
      }
    }
  }
  EXPECT_GT(ran, 160);  // the baseline alone makes two runs of every case that it takes
}

TEST(CpuGemm, ReferenceAgreesWithPlainLoops) {
  Rng rng(72);
  for (int i = 0; i < 100; ++i) {
    const DType dtype = i % 3 == 0 ? DType::kI32 : i % 3 == 1 ? DType::kF64 : DType::kF32;
    KernelCase c = GemmCase(rng, dtype, Dims{Uniform(rng, 1, 3)}, Uniform(rng, 1, 9),
                            Uniform(rng, 1, 9), Uniform(rng, 0, 20));
    c.Fill(rng);
    ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
    const auto found = RunVariant(*abi::FindKernel("cpu.gemm.ref"), c, 2);
    const Dims& out = c.problem.outputs[0].shape;
    for (int64_t b = 0; b < out[0]; ++b) {
      for (int64_t m = 0; m < out[1]; ++m) {
        for (int64_t n = 0; n < out[2]; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < c.problem.inputs[0].shape[2]; ++k) {
            const int64_t a_at[] = {b, m, k}, b_at[] = {b, k, n};
            sum += ElementOf(c, c.buffers[0], c.problem.inputs[0], a_at) *
                   ElementOf(c, c.buffers[1], c.problem.inputs[1], b_at);
          }
          const int64_t at[] = {b, m, n};
          ASSERT_NEAR(ElementOf(c, found[0], c.problem.outputs[0], at), sum,
                      dtype == DType::kF32 ? 1e-6 : 1e-12);
        }
      }
    }
  }
}

// Every number of columns up to three panels, so that each way to cut them is met, with few and
// many rows.
TEST(CpuGemm, AnyNumberOfColumns) {
  Rng rng(76);
  const abi::KernelInfo* ref = abi::FindKernel("cpu.gemm.ref");
  for (int64_t n = 1; n <= 150; n += n < 20 ? 1 : 7) {
    KernelCase c = GemmCase(rng, DType::kF32, {}, Uniform(rng, 1, 40), n, Uniform(rng, 1, 50));
    AddRandomEpilogue(rng, 1, &c);
    c.Fill(rng);
    const auto expected = RunVariant(*ref, c, 1);
    for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kGemm)) {
      if (kernel.backend != abi::Backend::kCpu) continue;
      if (!kernel.supports(c.problem, HostDevice(2)).empty()) continue;
      const auto found = RunVariant(kernel, c, 2);
      for (size_t k = 0; k < found.size(); ++k) {
        ASSERT_LE(WorstError(c, static_cast<int>(k), found[k], expected[k]), Tolerance(c))
            << kernel.key << ": " << ToString(c.problem);
      }
    }
  }
}

using Function = double (*)(double);

struct NamedFunction {
  const char* name;
  uint16_t (*build)(abi::ExprBuilder& b, uint16_t x);
  Function exact;
  double relative;  // error allowed, of the result
  double absolute;  // and per unit of the operand
};

uint16_t Constant(abi::ExprBuilder& b, double v) { return b.Const(v, DType::kF32); }

uint16_t BuildGelu(abi::ExprBuilder& b, uint16_t x, uint16_t f) {
  using enum abi::ExprOp;
  const uint16_t half = b.Binary(kMul, b.Binary(kAdd, f, Constant(b, 1)), Constant(b, 0.5));
  return b.Binary(kMul, x, half);
}

const NamedFunction kFunctions[] = {
    {"tanh", [](abi::ExprBuilder& b, uint16_t x) { return b.Unary(abi::ExprOp::kTanh, x); },
     [](double x) { return std::tanh(x); }, 5e-7, 0},
    {"erf", [](abi::ExprBuilder& b, uint16_t x) { return b.Unary(abi::ExprOp::kErf, x); },
     [](double x) { return std::erf(x); }, 5e-7, 0},
    {"sigmoid", [](abi::ExprBuilder& b, uint16_t x) { return b.Unary(abi::ExprOp::kSigmoid, x); },
     [](double x) { return 1 / (1 + std::exp(-x)); }, 3e-7, 2e-8},
    {"silu",
     [](abi::ExprBuilder& b, uint16_t x) {
       return b.Binary(abi::ExprOp::kMul, x, b.Unary(abi::ExprOp::kSigmoid, x));
     },
     [](double x) { return x / (1 + std::exp(-x)); }, 3e-7, 1e-7},
    {"gelu by tanh",
     [](abi::ExprBuilder& b, uint16_t x) {
       using enum abi::ExprOp;
       const uint16_t cube = b.Binary(kMul, x, b.Binary(kMul, x, Constant(b, 0.044715)));
       const uint16_t u = b.Binary(kMul, b.Fma(x, cube, x), Constant(b, 0.7978845608));
       return BuildGelu(b, x, b.Unary(kTanh, u));
     },
     [](double x) { return x * 0.5 * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); },
     5e-7, 2e-7},
    {"gelu by erf",
     [](abi::ExprBuilder& b, uint16_t x) {
       using enum abi::ExprOp;
       return BuildGelu(b, x, b.Unary(kErf, b.Binary(kMul, x, Constant(b, 0.7071067812))));
     },
     [](double x) { return x * 0.5 * (1 + std::erf(x * 0.7071067812)); }, 5e-7, 2e-7},
};

// The functions of an epilogue over all that they may meet: a product with the one number 1.
TEST(CpuGemm, EpilogueFunctionsOverTheirRange) {
  Rng rng(77);
  for (const NamedFunction& f : kFunctions) {
    KernelCase c = GemmCase(rng, DType::kF32, {}, 300, 8, 1);
    c.problem.inputs = {abi::DenseView(DType::kF32, {300, 1}), abi::DenseView(DType::kF32, {1, 8})};
    c.problem.outputs = {abi::DenseView(DType::kF32, {300, 8})};
    abi::ExprBuilder b;
    c.problem.epilogue = b.Finish({f.build(b, b.Input(0, DType::kF32))});
    c.Fill(rng);
    auto* x = reinterpret_cast<float*>(c.buffers[0].data());
    for (int i = 0; i < 300; ++i) {
      // Both signs, from 1e-30 to 120, most of them between 0.01 and 10.
      const double size = i < 40 ? std::pow(10, i - 30.0) : std::pow(120, (i - 40) / 259.0) - 0.99;
      x[i] = static_cast<float>((i % 2 == 0 ? 1 : -1) * std::min(size, 120.0));
    }
    auto* ones = reinterpret_cast<float*>(c.buffers[1].data());
    std::fill(ones, ones + 8, 1.0f);
    for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kGemm)) {
      if (kernel.backend != abi::Backend::kCpu) continue;
      if (!kernel.supports(c.problem, HostDevice(1)).empty()) continue;
      const auto found = RunVariant(kernel, c, 1);
      const auto* y = reinterpret_cast<const float*>(found[0].data());
      for (int i = 0; i < 300 * 8; ++i) {
        const double from = x[i / 8], expected = f.exact(from);
        const double most = f.relative * std::abs(expected) + f.absolute * std::abs(from) + 1e-37;
        ASSERT_NEAR(y[i], expected, most) << kernel.key << " " << f.name << "(" << from << ")";
      }
    }
  }
}

TEST(CpuGemm, LongSumsStayExactEnough) {
  Rng rng(73);
  KernelCase c = GemmCase(rng, DType::kF32, {}, 13, 65, 4096);
  c.Fill(rng);
  const auto exact = [&](int64_t m, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < 4096; ++k) {
      const int64_t a_at[] = {m, k}, b_at[] = {k, n};
      sum += ElementOf(c, c.buffers[0], c.problem.inputs[0], a_at) *
             ElementOf(c, c.buffers[1], c.problem.inputs[1], b_at);
    }
    return sum;
  };
  for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kGemm)) {
    if (kernel.backend != abi::Backend::kCpu) continue;
    if (!kernel.supports(c.problem, HostDevice(1)).empty()) continue;
    const auto found = RunVariant(kernel, c, 1);
    for (int64_t m = 0; m < 13; ++m) {
      for (int64_t n = 0; n < 65; ++n) {
        const int64_t at[] = {m, n};
        ASSERT_NEAR(ElementOf(c, found[0], c.problem.outputs[0], at), exact(m, n), 1e-3)
            << kernel.key;
      }
    }
  }
}

TEST(CpuGemm, ThreadsDoNotChangeBits) {
  Rng rng(74);
  KernelCase c = GemmCase(rng, DType::kF32, {}, 301, 277, 190);
  c.Fill(rng);
  for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kGemm)) {
    if (kernel.backend != abi::Backend::kCpu) continue;
    if (!kernel.supports(c.problem, HostDevice(1)).empty()) continue;
    const auto one = RunVariant(kernel, c, 1);
    for (int threads : {2, 3, 8}) EXPECT_EQ(RunVariant(kernel, c, threads), one) << kernel.key;
  }
}

TEST(CpuGemm, RefusesWhatItCannotRun) {
  Rng rng(75);
  KernelCase c = GemmCase(rng, DType::kI32, {}, 3, 4, 5);
  abi::DeviceSpec baseline = HostDevice(1);
  baseline.isa = abi::CpuIsa::kBaseline;
  const auto refusal = [&](const char* key, const abi::DeviceSpec& device) {
    return abi::FindKernel(key)->supports(c.problem, device);
  };
  EXPECT_NE(refusal("cpu.gemm.packed_baseline", baseline), "");
  EXPECT_NE(refusal("cpu.gemm.panels_baseline", baseline), "");
  EXPECT_EQ(refusal("cpu.gemm.ref", baseline), "");
  c = GemmCase(rng, DType::kF32, {}, 3, 4, 5);
  EXPECT_EQ(refusal("cpu.gemm.packed_baseline", baseline), "");
  EXPECT_NE(refusal("cpu.gemm.packed_avx2", baseline), "");
  EXPECT_NE(refusal("cpu.gemm.packed_avx512", baseline), "");
}

}  // namespace
}  // namespace aicf::cpu::testing
