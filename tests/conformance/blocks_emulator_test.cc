// cuda.blockgemm.gemv and cuda.blockgemm.decode with every format, type of A and math mode, however
// their work is cut; and the tiles with every format.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compiler/codegen/images.h"
#include "compiler/codegen/nvrtc.h"
#include "kernels/abi/choice.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"
#include "tests/conformance/gpu_jobs.h"

namespace aicf::conformance {
namespace {

using abi::KernelInfo;
using abi::MathMode;

constexpr std::string_view kGemv = "cuda.blockgemm.gemv";
constexpr std::string_view kDecodeBlocks = "cuda.blockgemm.decode";
constexpr std::string_view kTensor = "cuda.blockgemm.tensor";
constexpr std::string_view kTiled = "cuda.blockgemm.tiled";
constexpr std::string_view kPanels = "cuda.dequantize.panels";

struct BlockRun {
  const KernelInfo* kernel;
  abi::Parameters parameters;
  Case item;
};

/// What a case shows: each pair of format and type of A, and of format and math mode.
std::set<std::string> FactsOfBlocks(const Case& c) {
  const std::string format(InfoOf(c.problem.as<abi::BlockGemmAttrs>().format).name);
  return {StrCat(format, " of ", DTypeName(c.problem.inputs[0].dtype)),
          StrCat(format, " in ", abi::MathModeName(c.problem.math))};
}

int64_t RowsOf(const Case& c) {
  const Dims& shape = c.problem.outputs[0].shape;
  return ElementCount(shape).value_or(0) / shape.back();
}

/// Few cases that the kernel takes and that together show all of it: reals, so that a wrong scale
/// or a lost digit shows.
std::vector<Case> CasesOfAllFormats(const KernelInfo& kernel, bool whole) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::set<std::string> met;
  std::vector<Case> cases;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CaseOptions o;
    o.whole_numbers = whole;
    if (seed % 4 >= 2) o.math = {MathMode::kFp16, MathMode::kBf16};
    if (seed % 3 == 0) o.rows = 1;
    if (seed % 5 == 4) o.rows = 27;
    Case c = RandomCase(abi::Family::kBlockGemm, seed, o);
    if (!kernel.supports(c.problem, device).empty()) continue;
    const size_t before = met.size();
    met.merge(FactsOfBlocks(c));
    if (met.size() > before) cases.push_back(std::move(c));
  }
  return cases;
}

void ExpectBlocksAsReference(const std::vector<BlockRun>& runs) {
  std::vector<std::string> failures(runs.size());
  OnAllCores(runs.size(), [&](size_t i) {
    const BlockRun& r = runs[i];
    const abi::Variant variant = r.kernel->variant(r.item.problem, r.parameters);
    const Result<Buffers> got = EmulatedBuffers(*r.kernel, r.item, variant);
    failures[i] =
        got.ok() ? Difference(r.item, *got, RunReference(r.item)) : got.status().ToString();
  });
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(failures[i], "") << abi::VariantName(runs[i].kernel->key, runs[i].parameters) << "\n"
                               << runs[i].item.name;
  }
}

/// Warps and blocks that share out k, panels that are walked in several turns, rings of all
/// lengths; for kDecodeBlocks each of them with and without batches and early stages.
const std::vector<abi::Parameters>& Cuts(std::string_view key) {
  const auto cut = [](int64_t warps, int64_t along_k, int64_t stages, int64_t cluster,
                      int64_t blocks, int64_t ahead) -> abi::Parameters {
    return {{"warps", warps},     {"along_k", along_k}, {"stages", stages},
            {"cluster", cluster}, {"blocks", blocks},   {"ahead", ahead}};
  };
  static const std::vector<abi::Parameters> cuts = {
      cut(4, 1, 3, 1, 1, 0), cut(8, 8, 2, 1, 2, 1), cut(4, 2, 4, 2, 4, 0), cut(2, 1, 2, 4, 4, 1),
      cut(6, 3, 3, 1, 1, 0), cut(1, 1, 5, 1, 3, 0), cut(2, 2, 3, 2, 2, 1)};
  static const std::vector<abi::Parameters> decode_cuts = [] {
    std::vector<abi::Parameters> all;
    for (const abi::Parameters& c : cuts) {
      for (const int64_t form : {0, 2}) {
        std::vector<abi::Parameter> list(c.begin(), c.end());
        list.push_back({"integers", 0});  // integer_rows_test.cc has these
        list.push_back({"batch", 1 + form});
        list.push_back({"early", form});
        all.emplace_back(std::move(list));
      }
    }
    return all;
  }();
  return key == kDecodeBlocks ? decode_cuts : cuts;
}

/// The first cut from number `turn` on that the kernel takes for the case, if possible one that is
/// not among `used`.
const abi::Parameters* NextCut(const KernelInfo& kernel, const Case& c, size_t turn,
                               const std::set<size_t>& used = {}) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const std::vector<abi::Parameters>& cuts = Cuts(kernel.key);
  const abi::Parameters* any = nullptr;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const size_t number = (turn + i) % cuts.size();
    if (!kernel.refuse(c.problem, cuts[number], device).empty()) continue;
    if (!used.contains(number)) return &cuts[number];
    if (any == nullptr) any = &cuts[number];
  }
  return any;
}

class EmulatedBlocks : public testing::TestWithParam<std::tuple<std::string_view, bool>> {};

TEST_P(EmulatedBlocks, OfEveryFormatHoweverTheyAreCut) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const auto [key, whole] = GetParam();
  const KernelInfo& kernel = *abi::FindKernel(key);
  const std::vector<abi::Parameters>& cuts = Cuts(key);
  std::vector<BlockRun> runs;
  std::set<size_t> used;
  for (Case& c : CasesOfAllFormats(kernel, whole)) {
    const abi::Parameters* cut = NextCut(kernel, c, runs.size(), used);
    if (cut == nullptr) continue;
    used.insert(static_cast<size_t>(cut - cuts.data()));
    runs.push_back({&kernel, *cut, std::move(c)});
  }
  EXPECT_EQ(used.size(), cuts.size());
  const size_t formats = key == kDecodeBlocks ? kBlockFormatCount - 3 : kBlockFormatCount;
  EXPECT_GE(runs.size(), 3u * formats);
  ExpectBlocksAsReference(runs);
}

INSTANTIATE_TEST_SUITE_P(Numbers, EmulatedBlocks,
                         testing::Combine(testing::Values(kGemv, kDecodeBlocks), testing::Bool()),
                         [](const testing::TestParamInfo<std::tuple<std::string_view, bool>>& i) {
                           return StrCat(std::get<0>(i.param) == kGemv ? "Gemv" : "Decode",
                                         std::get<1>(i.param) ? "Whole" : "Reals");
                         });

// Every number of rows, which a fragment's columns share out in four ways, of groups of 32 elements
// with and without minimums, of groups of 16, and of short chunks.
TEST(EmulatedDecodeOfBlocks, OfEveryNumberOfRows) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const KernelInfo& kernel = *abi::FindKernel(kDecodeBlocks);
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::set<BlockFormat> wanted = {BlockFormat::kQ4_0, BlockFormat::kQ4_K, BlockFormat::kQ6_K,
                                  BlockFormat::kQ2_K, BlockFormat::kQ8_0};
  std::vector<BlockRun> runs;
  for (int64_t rows = 1; rows <= 8; ++rows) {
    std::set<BlockFormat> left = wanted;
    for (uint64_t seed = 0; seed < 500 && !left.empty(); ++seed) {
      CaseOptions o;
      o.whole_numbers = false;
      o.rows = rows;
      Case c = RandomCase(abi::Family::kBlockGemm, seed, o);
      const BlockFormat format = c.problem.as<abi::BlockGemmAttrs>().format;
      if (!kernel.supports(c.problem, device).empty() || RowsOf(c) != rows) continue;
      if (left.erase(format) == 0) continue;
      const abi::Parameters* cut = NextCut(kernel, c, runs.size());
      ASSERT_NE(cut, nullptr);
      runs.push_back({&kernel, *cut, std::move(c)});
    }
    EXPECT_TRUE(left.empty()) << rows;
  }
  ExpectBlocksAsReference(runs);
}

// Gated activations, and norms in the product: with every format, of one row and of several.
TEST(EmulatedDecodeOfBlocks, OfTwoHalvesAndOfNormalisedRows) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const KernelInfo& kernel = *abi::FindKernel(kDecodeBlocks);
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::vector<BlockRun> runs;
  for (const bool norm : {false, true}) {
    std::set<std::string> met;
    for (uint64_t seed = 0; seed < 600; ++seed) {
      CaseOptions o;
      o.whole_numbers = false;
      o.halves = norm ? 0 : 2;
      o.row_norm = norm;
      if (seed % 2 == 0) o.rows = 1;
      if (seed % 3 == 0) o.math = {MathMode::kFp16, MathMode::kBf16};
      Case c = RandomCase(abi::Family::kBlockGemm, seed, o);
      if (!kernel.supports(c.problem, device).empty()) continue;
      const std::string fact =
          StrCat(InfoOf(c.problem.as<abi::BlockGemmAttrs>().format).name, RowsOf(c) > 1);
      if (!met.insert(fact).second) continue;
      const abi::Parameters* cut = NextCut(kernel, c, runs.size());
      ASSERT_NE(cut, nullptr);
      runs.push_back({&kernel, *cut, std::move(c)});
    }
    EXPECT_EQ(met.size(), 2u * (kBlockFormatCount - 3));
  }
  ExpectBlocksAsReference(runs);
}

TEST(EmulatedBlockTiles, OfEveryFormat) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::vector<BlockRun> runs;
  // Packed blocks and blocks anywhere are decoded by the same code for both kinds of tiles.
  for (const auto& [key, packed] : {std::pair{kTensor, 1}, std::pair{kTiled, 0}}) {
    const KernelInfo& kernel = *abi::FindKernel(key);
    for (Case& c : CasesOfAllFormats(kernel, /*whole=*/false)) {
      std::vector<abi::Candidate> all = abi::CandidatesOf(kernel, c.problem, device);
      std::erase_if(all, [packed](const abi::Candidate& candidate) {
        return candidate.variant.parameters["packed_b"] != packed;
      });
      if (all.empty()) continue;
      runs.push_back({&kernel, all[runs.size() % all.size()].variant.parameters, std::move(c)});
    }
  }
  EXPECT_GE(runs.size(), 2u * kBlockFormatCount);
  ExpectBlocksAsReference(runs);
}

// Panels and chunks that are whole and that are not, walked by few warps and by many.
TEST(EmulatedPanels, OfEveryFormat) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const KernelInfo& kernel = *abi::FindKernel(kPanels);
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::vector<BlockRun> runs;
  std::map<BlockFormat, int> met;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CaseOptions o;
    o.whole_numbers = false;
    Case c = RandomCase(abi::Family::kDequantize, seed, o);
    if (!kernel.supports(c.problem, device).empty()) continue;
    int& times = met[c.problem.as<abi::DequantizeAttrs>().format];
    if (++times > 3) continue;
    runs.push_back({&kernel, {{"threads", 32 << times}, {"blocks", times}}, std::move(c)});
  }
  EXPECT_EQ(met.size(), size_t{kBlockFormatCount - 3});
  ExpectBlocksAsReference(runs);
}

/// A decoder's product: `rows` requests, one row each.
abi::Problem BlockProduct(BlockFormat format, DType x, int64_t rows, int64_t k, int64_t n) {
  abi::Problem p;
  p.family = abi::Family::kBlockGemm;
  p.attrs = abi::BlockGemmAttrs{format};
  p.core_inputs = 2;
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(k)));
  p.inputs = {abi::DenseView(x, {rows, 1, k}), abi::DenseView(DType::kU8, {n, bytes})};
  p.outputs = {abi::DenseView(x, {rows, 1, n})};
  abi::ExprBuilder b;
  p.epilogue = b.Finish({b.Cast(b.Input(0, DType::kF32), DType::kF32)});
  return p;
}

TEST(Nvrtc, CompilesProductsWithEveryFormat) {
  if (const auto nvrtc = Nvrtc::Open(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::vector<std::unique_ptr<abi::Problem>> problems;
  std::vector<ImageRequest> requests;
  const DType types[] = {DType::kBF16, DType::kF32, DType::kF16};
  for (int f = 0; f < kBlockFormatCount; ++f) {
    const auto format = static_cast<BlockFormat>(f);
    for (const int64_t rows : {1, 8}) {
      problems.push_back(std::make_unique<abi::Problem>(
          BlockProduct(format, types[(f + rows / 8) % 3], rows, 2048, 2048)));
      ASSERT_EQ(abi::ValidateProblem(*problems.back()).message(), "");
      const KernelInfo& kernel = *abi::FindKernel(kGemv);
      const auto best = abi::BestCandidate(kernel, *problems.back(), device);
      ASSERT_TRUE(best.has_value());
      requests.push_back({&kernel, problems.back().get(), best->variant});
    }
  }
  ImageOptions options;
  options.cache_dir = "none";
  const auto images = CompileImages(requests, device, options);
  ASSERT_TRUE(images.ok()) << images.status().ToString();
  EXPECT_EQ(images->images.size(), requests.size());
}

}  // namespace
}  // namespace aicf::conformance
