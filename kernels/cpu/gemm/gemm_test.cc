/// Every gemm variant against the reference, and the reference against plain float64 loops.
#include <gtest/gtest.h>

#include <cmath>

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
