/// The packed kernels of products with blocks: against sums in double of decoded weights and of
/// rows rounded as math mode int8 says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/float16.h"
#include "kernels/cpu/blockgemm/layout.h"
#include "kernels/cpu/blockgemm/products.h"
#include "kernels/cpu/gemm/kernel_case.h"

namespace aicf::cpu::testing {
namespace {

using abi::Family;
using abi::MathMode;
using Bytes = std::vector<std::byte>;

std::vector<BlockFormat> FormatsWithScales() {
  std::vector<BlockFormat> formats;
  for (int i = 0; i < kBlockFormatCount; ++i) {
    const auto format = static_cast<BlockFormat>(i);
    if (HasBlockScales(format)) formats.push_back(format);
  }
  return formats;
}

std::vector<BlockFormat> FormatsTaken() {
  std::vector<BlockFormat> formats = FormatsWithScales();
  formats.push_back(BlockFormat::kF16);
  formats.push_back(BlockFormat::kBF16);
  return formats;
}

// Any bits, but scales that are numbers of ordinary size.
void FillWeights(Rng& rng, BlockFormat format, Bytes& bytes) {
  if (format == BlockFormat::kF32) return;
  if (!HasBlockScales(format)) {
    for (size_t at = 0; at < bytes.size(); at += 2) {
      const float value = static_cast<float>(Uniform(rng, -1000, 1000)) / 1024;
      const uint16_t bits = format == BlockFormat::kF16 ? F32ToF16(value) : F32ToBF16(value);
      std::memcpy(&bytes[at], &bits, sizeof bits);
    }
    return;
  }
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng());
  const BlockFields fields = BlockFieldsOf(format);
  const size_t first = fields.halves_first ? 0 : 4 * static_cast<size_t>(fields.words);
  for (size_t at = 0; at < bytes.size(); at += InfoOf(format).bytes) {
    for (size_t i = 0; i < static_cast<size_t>(fields.halves); ++i) {
      const uint16_t scale = F32ToF16(static_cast<float>(Uniform(rng, -100, 100)) / 4096);
      std::memcpy(&bytes[at + first + 2 * i], &scale, sizeof scale);
    }
  }
}

KernelCase BlockCase(Rng& rng, BlockFormat format, MathMode math, int64_t m, int64_t n, int64_t k) {
  KernelCase c;
  c.problem.family = Family::kBlockGemm;
  c.problem.attrs = abi::BlockGemmAttrs{format};
  c.problem.math = math;
  c.problem.core_inputs = 2;
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(k)));
  c.problem.inputs = {abi::DenseView(DType::kF32, {m, k}), abi::DenseView(DType::kU8, {n, bytes})};
  c.problem.outputs = {abi::DenseView(DType::kF32, {m, n})};
  c.Fill(rng);
  FillWeights(rng, format, c.buffers[1]);
  return c;
}

std::vector<float> FloatsOf(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// What math mode int8 makes of A: groups of 32, the largest of which is 127.
void Round(std::vector<float>& a) {
  for (size_t at = 0; at < a.size(); at += 32) {
    float largest = 0;
    for (size_t i = at; i < at + 32; ++i) largest = std::max(largest, std::abs(a[i]));
    const float scale = largest / 127, inverse = largest > 0 ? 127 / largest : 0;
    for (size_t i = at; i < at + 32; ++i) a[i] = scale * std::nearbyint(a[i] * inverse);
  }
}

// Largest difference from the sums in double, over the sum of the products' magnitudes, each of
// which the terms of a value with a minimum or an offset exceed by `terms`.
double WorstShare(const KernelCase& c, const Bytes& found) {
  const int64_t rows = c.problem.outputs[0].shape[0], columns = c.problem.outputs[0].shape[1];
  const auto depth = static_cast<size_t>(c.problem.inputs[0].shape[1]);
  std::vector<float> a = FloatsOf(c.buffers[0]);
  if (RoundsBlockRows(c.problem)) Round(a);
  const std::vector<float> results = FloatsOf(found);
  const size_t row_bytes = c.buffers[1].size() / static_cast<size_t>(columns);
  std::vector<float> weights(depth);
  double worst = 0;
  for (int64_t n = 0; n < columns; ++n) {
    const auto* blocks = &c.buffers[1][static_cast<size_t>(n) * row_bytes];
    DecodeBlocks(c.problem.as<abi::BlockGemmAttrs>().format, {blocks, row_bytes}, weights);
    double largest = 0;
    for (float w : weights) largest = std::max<double>(largest, std::abs(w));
    for (int64_t m = 0; m < rows; ++m) {
      double sum = 0, size = 0;
      for (size_t k = 0; k < depth; ++k) {
        const double x = a[static_cast<size_t>(m) * depth + k];
        sum += x * weights[k];
        size += std::abs(x) * largest;
      }
      const double error = std::abs(sum - results[static_cast<size_t>(m * columns + n)]);
      worst = std::max(worst, error / size);
    }
  }
  return worst;
}

template <class F>
void EachPackedKernel(const KernelCase& c, const F& f) {
  for (const abi::KernelInfo& kernel : abi::KernelsOf(Family::kBlockGemm)) {
    if (kernel.backend != abi::Backend::kCpu || kernel.packed == nullptr) continue;
    if (kernel.supports(c.problem, HostDevice(1)).empty()) f(kernel);
  }
}

// Rows around the tiles' heights and those that share decoded codes; columns around a panel and a
// pair of them; depths of one block, and longer than what is decoded at a time.
TEST(CpuBlockGemm, EveryFormatInBothMathModes) {
  Rng rng(91);
  for (const BlockFormat format : FormatsTaken()) {
    const int64_t block = BlockFieldsOf(format).elements;
    for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 30}) {
      for (const MathMode math : {MathMode::kFp32, MathMode::kInt8}) {
        static constexpr int64_t kColumns[] = {1, 15, 16, 17, 32, 33, 47, 80};
        const int64_t n = kColumns[Uniform(rng, 0, 7)];
        const int64_t k = block * Uniform(rng, 1, block == 32 ? 40 : 6);
        const KernelCase c = BlockCase(rng, format, math, m, n, k);
        ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
        EachPackedKernel(c, [&](const abi::KernelInfo& kernel) {
          EXPECT_LT(WorstShare(c, RunVariant(kernel, c, 1)[0]), 0x1p-20)
              << kernel.key << " " << ToString(c.problem);
        });
      }
    }
  }
}

// More rows than a piece of the work has, with a depth of several stretches.
TEST(CpuBlockGemm, ManyRowsOfLongDepth) {
  Rng rng(92);
  for (const MathMode math : {MathMode::kFp32, MathMode::kInt8}) {
    const KernelCase c = BlockCase(rng, BlockFormat::kQ4_1, math, 287, 49, 2080);
    EachPackedKernel(c, [&](const abi::KernelInfo& kernel) {
      EXPECT_LT(WorstShare(c, RunVariant(kernel, c, 2)[0]), 0x1p-20) << kernel.key;
    });
  }
}

// Sums are in the same order whatever the number of threads. Rounded, they are so too whatever the
// instruction set and the number of rows: a row's results do not depend on who is computed beside
// it.
TEST(CpuBlockGemm, TheOrderOfSumsIsFixed) {
  Rng rng(93);
  for (const BlockFormat format : FormatsWithScales()) {
    const KernelCase all = BlockCase(rng, format, MathMode::kInt8, 19, 40, 1280);
    KernelCase one = BlockCase(rng, format, MathMode::kInt8, 1, 40, 1280);
    one.buffers[1] = all.buffers[1];
    std::copy_n(all.buffers[0].begin(), one.buffers[0].size(), one.buffers[0].begin());
    std::vector<Bytes> found;
    EachPackedKernel(all, [&](const abi::KernelInfo& kernel) {
      found.push_back(RunVariant(kernel, all, 1)[0]);
      found.push_back(RunVariant(kernel, all, 3)[0]);
      const Bytes alone = RunVariant(kernel, one, 1)[0];
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), found.back().begin())) << kernel.key;
    });
    for (const Bytes& f : found) EXPECT_TRUE(f == found[0]) << InfoOf(format).name;
    KernelCase exact = all;
    exact.problem.math = MathMode::kFp32;
    EachPackedKernel(exact, [&](const abi::KernelInfo& kernel) {
      EXPECT_TRUE(RunVariant(kernel, exact, 1) == RunVariant(kernel, exact, 3)) << kernel.key;
    });
  }
}

// The products of bytes of AVX-512 VNNI, and what stands for them elsewhere.
TEST(CpuBlockGemm, ProductsOfBytesAreTheSameEverywhere) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512vnni") || abi::HostIsa() != abi::CpuIsa::kAvx512) {
    GTEST_SKIP() << "this machine has no AVX-512 VNNI";
  }
  Rng rng(96);
  for (const BlockFormat format : FormatsWithScales()) {
    for (const int64_t m : {1, 3, 9}) {
      const KernelCase c = BlockCase(rng, format, MathMode::kInt8, m, 48, 768);
      const BlockShape s = BlockShapeOf(c.problem);
      Bytes packed(static_cast<size_t>(s.panels * s.panel_bytes));
      PackBlocks(c.problem, c.buffers[1].data(), packed.data());
      const std::vector<float> a = FloatsOf(c.buffers[0]);
      std::vector<int8_t> codes(a.size());
      std::vector<float> scales(a.size() / 32);
      std::vector<BlockRows::Start> starts(a.size() / 16);
      BlockTask task;
      task.format = format;
      task.a = {s.depth, a.data(), s.depth, codes.data(), scales.data(), starts.data()};
      for (int64_t r = 0; r < m; ++r) {
        avx512::RoundBlockRow(&a[static_cast<size_t>(r * s.depth)], BlockRoundingOf(format), r,
                              task.a);
      }
      task.packed = reinterpret_cast<const char*>(packed.data());
      task.panel_bytes = s.panel_bytes;
      task.halves_bytes = s.halves_bytes;
      task.rows = m;
      task.panels = s.panels;
      task.out_stride = 48;
      std::vector<float> found[3];
      for (auto& f : found) f.resize(static_cast<size_t>(m * 48));
      const auto run = [&](int i, void (*products)(const BlockTask&)) {
        task.out = found[i].data();
        products(task);
      };
      run(0, &avx2::BlockProductsInt8);
      run(1, &avx512::BlockProductsInt8);
      run(2, &avx512vnni::BlockProductsInt8);
      EXPECT_EQ(found[0], found[2]) << InfoOf(format).name;
      EXPECT_EQ(found[1], found[2]) << InfoOf(format).name;
    }
  }
#endif
}

TEST(CpuBlockGemm, Refusals) {
  Rng rng(97);
  const abi::KernelInfo& kernel = *abi::FindKernel("cpu.blockgemm.columns_avx2");
  const auto refused = [&](const KernelCase& c) {
    return kernel.supports(c.problem, *abi::FindDevice("cpu:avx2"));
  };
  KernelCase c = BlockCase(rng, BlockFormat::kQ4_0, MathMode::kInt8, 2, 3, 32);
  EXPECT_EQ(refused(c), "");
  c.problem.inputs[0].shape[0] = c.problem.outputs[0].shape[0] = 0;
  EXPECT_EQ(refused(c), "there is nothing to multiply");
  const MathMode math = MathMode::kFp32;
  EXPECT_EQ(refused(BlockCase(rng, BlockFormat::kQ4_0, math, 2, 3, 0)),
            "there is nothing to multiply");
  EXPECT_EQ(refused(BlockCase(rng, BlockFormat::kF32, math, 2, 3, 32)), "takes no F32");
  EXPECT_EQ(refused(BlockCase(rng, BlockFormat::kF16, math, 2, 3, 40)),
            "the depth is no multiple of 32");
  c = BlockCase(rng, BlockFormat::kQ4_0, math, 2, 3, 32);
  c.problem.inputs[1].shape[0] = c.problem.outputs[0].shape[1] = 0;
  EXPECT_EQ(refused(c), "there is nothing to multiply");
}

// A group of zeros, one too small to have a scale, and one that is no number.
TEST(CpuBlockGemm, RowsOfZerosAndOfNoNumbers) {
  Rng rng(94);
  KernelCase c = BlockCase(rng, BlockFormat::kQ8_0, MathMode::kInt8, 3, 20, 32);
  std::vector<float> a(3 * 32, 0.0f);
  std::fill_n(a.begin() + 32, 32, 1e-42f);
  a[64 + 5] = std::nanf("");
  std::memcpy(c.buffers[0].data(), a.data(), c.buffers[0].size());
  EachPackedKernel(c, [&](const abi::KernelInfo& kernel) {
    const std::vector<float> found = FloatsOf(RunVariant(kernel, c, 1)[0]);
    for (size_t n = 0; n < 20; ++n) {
      EXPECT_EQ(found[n], 0) << kernel.key;
      EXPECT_NEAR(found[20 + n], 0, 1e-37) << kernel.key;
      EXPECT_TRUE(std::isnan(found[40 + n])) << kernel.key;
    }
  });
}

// Views, element types and epilogues that are not the usual ones, against the reference.
TEST(CpuBlockGemm, ViewsAndEpilogues) {
  Rng rng(95);
  static constexpr DType kDTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  const abi::KernelInfo* ref = abi::FindKernel("cpu.blockgemm.ref");
  for (int i = 0; i < 120; ++i) {
    KernelCase c = BlockCase(rng, BlockFormat::kQ5_0, MathMode::kFp32, 1, Uniform(rng, 1, 70), 96);
    const int64_t n = c.problem.outputs[0].shape[1];
    const Dims rows = {Uniform(rng, 1, 3), Uniform(rng, 1, 9)};
    c.problem.inputs[0] = RandomView(rng, kDTypes[i % 3], {rows[0], rows[1], 96});
    const std::vector<int> order = i % 2 == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>{};
    c.problem.outputs[0] = RandomView(rng, DType::kF32, {rows[0], rows[1], n}, order);
    if (i % 4 > 0) AddRandomEpilogue(rng, 2, &c);
    const Bytes weights = c.buffers[1];
    c.Fill(rng);
    c.buffers[1] = weights;
    ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
    const auto expected = RunVariant(*ref, c, 1);
    EachPackedKernel(c, [&](const abi::KernelInfo& kernel) {
      const auto found = RunVariant(kernel, c, 2);
      for (size_t k = 0; k < found.size(); ++k) {
        EXPECT_LE(WorstError(c, static_cast<int>(k), found[k], expected[k]), 2e-5)
            << kernel.key << ": " << ToString(c.problem);
      }
    });
  }
}

}  // namespace
}  // namespace aicf::cpu::testing
