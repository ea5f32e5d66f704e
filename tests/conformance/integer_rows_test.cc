// cuda.blockgemm.decode with a row of A that becomes integers, and cuda.blockgemm.stream, executed
// on this machine: every format, and what elements far from 1, zeros, infinities and NaN give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <tuple>

#include "base/float16.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

/// A kernel and how it cuts its work.
struct IntegerCut {
  const abi::KernelInfo* kernel;
  abi::Parameters set;

  std::string Name() const { return abi::VariantName(kernel->key, set); }
};

IntegerCut CutOf(int64_t warps, int64_t along_k, int64_t blocks, int64_t batch, int64_t apart = 0,
                 int64_t cluster = 1) {
  return {abi::FindKernel("cuda.blockgemm.decode"),
          {{"warps", warps},
           {"along_k", along_k},
           {"stages", 3},
           {"cluster", cluster},
           {"blocks", blocks},
           {"ahead", 1},
           {"integers", 1},
           {"batch", batch},
           {"early", 1},
           {"apart", apart}}};
}

IntegerCut RingOf(int64_t warps, int64_t stages, int64_t flight, int64_t blocks,
                  int64_t ahead = 1) {
  return {abi::FindKernel("cuda.blockgemm.stream"),
          {{"warps", warps},
           {"stages", stages},
           {"flight", flight},
           {"blocks", blocks},
           {"ahead", ahead}}};
}

Result<Buffers> RunCut(const Case& c, const IntegerCut& cut) {
  return EmulatedBuffers(*cut.kernel, c, cut.kernel->variant(c.problem, cut.set));
}

// Random one-row problems of every format, plain, in two halves and normalised. Warps that share
// out k and warps that do not, one batch and several; rows that a block's warps bring together, and
// that each brings for itself, with one copy in the block and with several. Rings that are never
// full and rings that turn often, panels of one stage and of several, more warps than a panel has
// chunks, and more blocks than there are panels.
TEST(IntegerRows, OfEveryFormat) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const IntegerCut together[] = {CutOf(4, 2, 2, 2), CutOf(8, 4, 1, 8), CutOf(2, 1, 1, 3),
                                 CutOf(4, 1, 3, 2)};
  const IntegerCut apart[] = {CutOf(4, 4, 2, 2, 1), CutOf(4, 2, 2, 2, 1), CutOf(8, 4, 1, 8, 1),
                              CutOf(2, 1, 1, 3, 1)};
  const IntegerCut rings[] = {RingOf(2, 2, 1, 1), RingOf(4, 8, 3, 2), RingOf(3, 2, 2, 1, 0),
                              RingOf(8, 3, 2, 5), RingOf(2, 5, 2, 2, 0)};
  std::set<std::string> met;
  for (uint64_t seed = 0; seed < 900; ++seed) {
    CaseOptions o;
    o.whole_numbers = seed % 2 == 0;
    o.rows = 1;
    o.math = {abi::MathMode::kBf16, abi::MathMode::kFp16};
    const uint64_t kind = seed % 3;
    o.halves = kind == 1 ? 2 : 0;
    o.row_norm = kind == 2;
    if (o.row_norm) o.whole_numbers = false;
    const Case c = RandomCase(abi::Family::kBlockGemm, seed, o);
    // Where all warps share one panel there is none of the second half.
    const size_t turn = met.size() + met.size() / 4;
    const IntegerCut* cuts[] = {&together[turn % 4], &apart[kind == 1 ? 1 + turn % 3 : turn % 4],
                                &rings[turn % 5]};
    const auto takes = [&](const IntegerCut* cut) {
      return cut->kernel->supports(c.problem, device).empty() &&
             cut->kernel->refuse(c.problem, cut->set, device).empty();
    };
    if (!std::ranges::all_of(cuts, takes)) continue;
    const BlockFormat format = c.problem.as<abi::BlockGemmAttrs>().format;
    if (!met.insert(StrCat(InfoOf(format).name, " ", kind, " ", o.whole_numbers)).second) continue;
    const Buffers expected = RunReference(c);
    for (const IntegerCut* cut : cuts) {
      const Result<Buffers> got = RunCut(c, *cut);
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      EXPECT_EQ(Difference(c, *got, expected), "") << c.name << " " << cut->Name();
    }
  }
  EXPECT_EQ(met.size(), 5u * (kBlockFormatCount - 3));  // plain and halves also with whole numbers
}

constexpr int64_t kElements = 512, kMany = 13 * 256, kRowsOfB = 32;

/// Bytes of a block at which its numbers of 16 bits begin.
std::vector<size_t> ScalesOf(BlockFormat format) {
  if (format == BlockFormat::kQ4_K) return {0, 2};
  return {format == BlockFormat::kQ6_K ? size_t{208} : size_t{0}};
}

/// x * B for one row x of `elements` f32 in the math mode bf16, with random blocks.
Case RowTimesBlocks(BlockFormat format, int64_t elements = kElements) {
  Case c;
  abi::BlockGemmAttrs attrs;
  attrs.format = format;
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(elements)));
  c.problem.family = abi::Family::kBlockGemm;
  c.problem.attrs = attrs;
  c.problem.math = abi::MathMode::kBf16;
  c.problem.inputs = {abi::DenseView(DType::kF32, {1, elements}),
                      abi::DenseView(DType::kU8, {kRowsOfB, bytes})};
  c.problem.core_inputs = 2;
  c.problem.outputs = {abi::DenseView(DType::kF32, {1, kRowsOfB})};
  Random random(11);
  FillBuffers(random, c, false);
  const BlockFormatInfo& info = InfoOf(format);
  for (size_t at = 0; at < c.buffers[1].size(); ++at) {
    c.buffers[1][at] = static_cast<std::byte>(random.Int(0, 255));
  }
  // The scales of blocks are numbers of about 0.01.
  for (size_t block = 0; block + info.bytes <= c.buffers[1].size(); block += info.bytes) {
    for (const size_t half : ScalesOf(format)) {
      const uint16_t scale = F32ToF16(0.01f * static_cast<float>(random.Int(1, 4)));
      std::memcpy(c.buffers[1].data() + block + half, &scale, sizeof scale);
    }
  }
  return c;
}

void SetElement(Case& c, int64_t k, float x) {
  std::memcpy(c.buffers[0].data() + 4 * k, &x, sizeof x);
}

std::vector<float> Results(const Case& c) {
  const Result<Buffers> got = RunCut(c, CutOf(4, 2, 1, 2, /*apart=*/1));
  EXPECT_TRUE(got.ok()) << got.status().ToString();
  std::vector<float> results;
  if (!got.ok()) return results;
  for (int64_t n = 0; n < kRowsOfB; ++n) {
    const double x = ElementAsDouble(c.problem.outputs[0], got->back(), n);
    results.push_back(static_cast<float>(x));
  }
  return results;
}

const BlockFormat kSomeFormats[] = {BlockFormat::kQ4_K, BlockFormat::kQ6_K, BlockFormat::kQ8_0,
                                    BlockFormat::kQ4_0};

// Long rows, of which a warp has more chunks than a lane asks for at once, and some warps fewer
// than others. However warps and blocks share them out, the sums are added in the same order,
// whether a block's warps bring the row together or each for itself.
TEST(IntegerRows, OfManyChunks) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const BlockFormat format : kSomeFormats) {
    Case c = RowTimesBlocks(format, kMany);
    for (int64_t k = 0; k < kMany; ++k) {
      SetElement(c, k, static_cast<float>(k % 29 - 14));  // integers have these exactly
    }
    const Buffers expected = RunReference(c);
    const auto result = [&c](const Buffers& all, int64_t n) {
      return ElementAsDouble(c.problem.outputs[0], all.back(), n);
    };
    double most = 0;
    for (int64_t n = 0; n < kRowsOfB; ++n) most = std::max(most, std::abs(result(expected, n)));
    for (const IntegerCut& ring : {RingOf(2, 2, 1, 1), RingOf(3, 2, 2, 1, 0), RingOf(8, 3, 2, 5)}) {
      const Result<Buffers> got = RunCut(c, ring);
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      for (int64_t n = 0; n < kRowsOfB; ++n) {
        EXPECT_NEAR(result(*got, n), result(expected, n), most * 1e-6) << ring.Name();
      }
    }
    for (const auto& [warps, along_k, cluster] :
         {std::tuple{4, 2, 1}, std::tuple{2, 1, 1}, std::tuple{4, 4, 2}, std::tuple{2, 1, 2}}) {
      std::vector<std::byte> together;
      for (const int64_t apart : {0, 1}) {
        const IntegerCut cut = CutOf(warps, along_k, cluster, 2, apart, cluster);
        const Result<Buffers> got = RunCut(c, cut);
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        for (int64_t n = 0; n < kRowsOfB; ++n) {
          EXPECT_NEAR(result(*got, n), result(expected, n), most * 1e-6) << cut.Name();
        }
        if (apart == 0) together = got->back();
        EXPECT_EQ(got->back(), together) << cut.Name();
      }
    }
  }
}

// A row that is a power of two larger has exactly such results.
TEST(IntegerRows, OfEveryMagnitude) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const BlockFormat format : kSomeFormats) {
    std::vector<float> once;
    for (const int power : {0, -60, 80}) {
      Case c = RowTimesBlocks(format);
      for (int64_t k = 0; k < kElements; ++k) {
        SetElement(c, k, std::ldexp(static_cast<float>(k % 23 - 11) * 0.37f, power));
      }
      const std::vector<float> results = Results(c);
      ASSERT_EQ(results.size(), size_t{kRowsOfB});
      if (power == 0) once = results;
      for (int64_t n = 0; n < kRowsOfB; ++n) {
        EXPECT_EQ(results[n], std::ldexp(once[n], power)) << InfoOf(format).name << " " << power;
      }
    }
  }
}

// Groups whose largest elements differ widely do not disturb each other.
TEST(IntegerRows, OfGroupsOfDifferentMagnitude) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const BlockFormat format : kSomeFormats) {
    std::vector<float> sum(kRowsOfB, 0.0f), alone;
    for (const int part : {0, 1, 2}) {  // small groups, one large group, all of them
      Case c = RowTimesBlocks(format);
      for (int64_t k = 0; k < kElements; ++k) {
        const bool large = k / 32 == 5;
        const float x = static_cast<float>(k % 7 - 3) * (large ? 1024.0f : 1.0f);
        SetElement(c, k, part == 2 || large == (part == 1) ? x : 0.0f);
      }
      const std::vector<float> results = Results(c);
      ASSERT_EQ(results.size(), size_t{kRowsOfB});
      for (int64_t n = 0; n < kRowsOfB; ++n) {
        if (part < 2) sum[n] += results[n];
        const float most = std::abs(sum[n]) + 1e3f;
        if (part == 2) {
          EXPECT_NEAR(results[n], sum[n], most * 1e-5f) << InfoOf(format).name;
        }
      }
    }
  }
}

TEST(IntegerRows, OfZerosAndOfWhatIsNotFinite) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const BlockFormat format : kSomeFormats) {
    Case c = RowTimesBlocks(format);
    for (int64_t k = 0; k < kElements; ++k) SetElement(c, k, 0.0f);
    for (const float x : Results(c)) EXPECT_EQ(x, 0.0f);
    SetElement(c, 37, 1e-42f);  // subnormal: as if it were 0
    for (const float x : Results(c)) EXPECT_NEAR(x, 0.0f, 1e-35f);
    for (const float bad : {kInfinity, -kInfinity, std::nanf("")}) {
      SetElement(c, 37, bad);
      for (const float x : Results(c)) EXPECT_TRUE(std::isnan(x)) << InfoOf(format).name;
    }
  }
}

}  // namespace
}  // namespace aicf::conformance
