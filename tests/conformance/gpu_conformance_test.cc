// Every family's variants on the GPU against the reference kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/checked.h"
#include "kernels/abi/attention.h"
#include "kernels/cuda/blockgemm/packed.h"
#include "kernels/cuda/common/space.h"
#include "kernels/cuda/common/tiles.h"
#include "tests/conformance/conversion_cases.h"
#include "tests/conformance/gpu_cases.h"
#include "tests/conformance/gpu_jobs.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;

std::string FamilyOf(const testing::TestParamInfo<int>& i) {
  return std::string(abi::FamilyName(static_cast<Family>(i.param)));
}

class Conformance : public testing::TestWithParam<int> {
 protected:
  Family family() const { return static_cast<Family>(GetParam()); }
};

// What the GPU will be given, asked where there is none: a family or a kernel without cases would
// pass there unseen.
class GivenCases : public Conformance {};

TEST_P(GivenCases, MeetEveryKernelOfTheFamily) {
  const std::vector<KernelCase> random = GpuRandomCases(family(), *abi::FindDevice("cuda"));
  EXPECT_GE(random.size(), 100u);
  EXPECT_FALSE(LayoutCases(family()).empty());
  std::set<std::string_view> met;
  for (const KernelCase& c : random) met.insert(c.option.kernel->key);
  for (const KernelInfo& k : abi::KernelsOf(family())) {
    EXPECT_TRUE(k.backend != abi::Backend::kCuda || met.contains(k.key)) << k.key;
  }
}

TEST(RandomAttention, MeetsEveryNumberOfGroupsThatShareKeys) {
  std::set<int64_t> met;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kAttention, *abi::FindDevice("cuda"))) {
    met.insert(c.option.candidate.variant.parameters["key_warps"]);
  }
  EXPECT_EQ(met, (std::set<int64_t>{0, 1, 2, 4, 8}));  // 0: the kernel without them
}

// Keys that the copy engine fetches page by page: several pages to a tile of keys, one, and parts
// of one, with a warpgroup that asks for them and without, and lengths that end anywhere.
TEST(RandomAttention, MeetsPagesOfTheCopyEngine) {
  std::set<std::string> ways;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kAttention, *abi::FindDevice("cuda"))) {
    if (c.option.kernel->key != "cuda.attention.hopper") continue;
    const abi::AttentionShape s = abi::AttentionShapeOf(c.item.problem);
    const abi::Parameters& set = c.option.candidate.variant.parameters;
    const int64_t keys = set["tile_keys"];
    const char* pages = s.page == 0      ? "none"
                        : s.page < keys  ? "several"
                        : s.page == keys ? "one"
                                         : "part";
    ways.insert(
        StrCat(pages, set["producer"] != 0 ? "" : " at once", s.lengths < 0 ? "" : " to a length"));
  }
  std::set<std::string> wanted;
  for (const std::string pages : {"none", "several", "one", "part"}) {
    for (const std::string roles : {"", " at once"}) {
      for (const std::string lengths : {"", " to a length"}) wanted.insert(pages + roles + lengths);
    }
  }
  EXPECT_EQ(ways, wanted);
}

// Blocks that share out the k of a product: few and many of them, and every kind of tile.
TEST(RandomProducts, MeetSharedSums) {
  std::set<int64_t> splits;
  int shared = 0, swapped = 0;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kGemm, *abi::FindDevice("cuda"))) {
    const abi::Parameters& set = c.option.candidate.variant.parameters;
    if (!set.Has("split") || c.option.kernel->key != "cuda.gemm.hopper") continue;
    splits.insert(set["split"]);
    shared += set["split"] > 1 ? 1 : 0;
    swapped += set["split"] > 1 && set["swap"] != 0 ? 1 : 0;
  }
  EXPECT_GE(shared, 20);
  EXPECT_GE(swapped, 5);
  EXPECT_TRUE(std::ranges::includes(splits, std::set<int64_t>{1, 2, 4, 8}))
      << testing::PrintToString(splits);
}

// Rings of cuda.gemm.stream: products of one half and of two, rows as they are and normalised,
// operands that are asked for early and late, and columns with a rest beside whole steps.
TEST(RandomProducts, MeetRings) {
  std::set<std::string> ways;
  int met = 0;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kGemm, *abi::FindDevice("cuda"))) {
    if (c.option.kernel->key != "cuda.gemm.stream") continue;
    const abi::Problem& p = c.item.problem;
    ++met;
    ways.insert(abi::SumInputs(p) == 2 ? "halves" : "whole");
    ways.insert(abi::NormalizesRows(p) ? "normalised" : "as it is");
    ways.insert(c.option.candidate.variant.parameters["ahead"] != 0 ? "ahead" : "later");
    ways.insert(p.inputs[0].shape.back() % 1024 == 0 ? "steps" : "rest");
  }
  EXPECT_GE(met, 12);
  EXPECT_GE(ways.size(), 7u) << testing::PrintToString(ways);
}

// Forms of cuda.gemm.stream_rows: products of one half and of two, of few and many rows, in one
// tile and in several; tiles that the tensor cores' rows fill and others (common/hopper_stage.cuh,
// kCutsRows), with one block of 64 of these rows and with several; k divided and whole; a ring of
// stages that is filled once and one that is filled again; and B asked for early and late.
TEST(RandomProducts, MeetStreamedRows) {
  std::set<std::string> ways;
  int met = 0;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kGemm, *abi::FindDevice("cuda"))) {
    if (c.option.kernel->key != "cuda.gemm.stream_rows") continue;
    const abi::Problem& p = c.item.problem;
    const abi::Parameters& set = c.option.candidate.variant.parameters;
    const cuda::ProductShape s = cuda::ProductOf(p);
    const int64_t line = s.length * DTypeBytes(p.inputs[1].dtype) / 128;
    ++met;
    ways.insert(s.halves == 2 ? "halves" : "whole");
    ways.insert(s.rows > 8 ? "many rows" : "few rows");
    ways.insert(s.columns > set["tile_n"] ? "tiles" : "one tile");
    ways.insert(set["tile_n"] % 64 != 0 ? "cut" : "full");
    ways.insert(set["tile_n"] > 64 ? "blocks of rows" : "one block of rows");
    ways.insert(set["split"] > 1 ? "divided" : "undivided");
    ways.insert(line / set["split"] > set["stages"] ? "ring" : "one filling");
    ways.insert(set["ahead"] != 0 ? "ahead" : "later");
  }
  EXPECT_GE(met, 50);
  EXPECT_EQ(ways.size(), 16u) << testing::PrintToString(ways);
}

// Rings of cuda.blockgemm.stream: products of one half and of two, rows as they are and normalised,
// rings that are filled once and again, panels of one stage and of several, and weights that are
// asked for early and late.
TEST(RandomProducts, MeetRingsOfBlocks) {
  std::set<std::string> ways;
  int met = 0;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kBlockGemm, *abi::FindDevice("cuda"))) {
    if (c.option.kernel->key != "cuda.blockgemm.stream") continue;
    const abi::Problem& p = c.item.problem;
    const abi::Parameters& set = c.option.candidate.variant.parameters;
    const int64_t steps = CeilDiv(cuda::ChunksOf(p), set["warps"]);
    const bool again = cuda::PanelsOf(p) / set["blocks"] * steps > set["stages"];
    ++met;
    ways.insert(abi::SumInputs(p) == 2 ? "halves" : "whole");
    ways.insert(abi::NormalizesRows(p) ? "normalised" : "as it is");
    ways.insert(StrCat(again ? "ring" : "one filling", steps > 1 ? " of panels in parts" : ""));
    ways.insert(set["ahead"] != 0 ? "ahead" : "later");
  }
  EXPECT_GE(met, 12);
  EXPECT_GE(ways.size(), 9u) << testing::PrintToString(ways);
}

// Convolutions whose blocks hold the weights: operands of 8 and of more bits, weights along k and
// across it, swapped operands, several tiles of columns, and weights that are asked for early.
TEST(RandomProducts, MeetHeldWeights) {
  std::set<std::string> ways;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kConv, *abi::FindDevice("cuda"))) {
    const abi::Problem& p = c.item.problem;
    const abi::Parameters& set = c.option.candidate.variant.parameters;
    if (c.option.kernel->key != "cuda.conv.hopper" || set["held_b"] == 0) continue;
    ways.insert(DTypeBytes(p.inputs[0].dtype) == 1 ? "bytes" : "wide");
    ways.insert(p.inputs[1].strides[1] == 1 ? "along" : "across");
    ways.insert(set["swap"] != 0 ? "swapped" : "as they are");
    ways.insert(p.outputs[0].shape[1] > set["tile_n"] ? "columns" : "one tile of columns");
    ways.insert(set["ahead"] != 0 ? "ahead" : "later");
    ways.insert(set["ping_pong"] != 0 ? "turns" : "no turns");
  }
  EXPECT_EQ(ways, (std::set<std::string>{"bytes", "wide", "along", "across", "swapped",
                                         "as they are", "columns", "one tile of columns", "ahead",
                                         "later", "turns", "no turns"}));
}

// Products of two halves by the copy engine: every row of its candidates, B along k and across it,
// and results that are contiguous along rows and along columns, with shared sums and without.
TEST(RandomProducts, MeetTwoHalves) {
  std::set<std::string> rows, ways;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kGemm, *abi::FindDevice("cuda"))) {
    const abi::Problem& p = c.item.problem;
    if (c.option.kernel->key != "cuda.gemm.hopper" || abi::SumInputs(p) < 2) continue;
    const abi::Variant& variant = c.option.candidate.variant;
    const bool shared = variant.parameters["split"] > 1;
    if (!shared) rows.insert(c.option.candidate.row);
    ways.insert(StrCat(variant.tensor_maps[1].extents.size() == 5 ? "along" : "across",
                       variant.parameters["swap"] != 0 ? " swapped" : "",
                       cuda::RowsInner(p) ? " rows" : " columns", shared ? " shared" : ""));
  }
  constexpr size_t kRows = 0
#define AICF_HOPPER_TILE(...) +1
#include "kernels/cuda/gemm/hopper.def"
#undef AICF_HOPPER_TILE
      ;
  EXPECT_EQ(rows.size(), kRows) << testing::PrintToString(rows);
  EXPECT_EQ(ways.size(), 12u) << testing::PrintToString(ways);
}

// Every row of the kernel's candidates, heads packed and not; and blocks that take many tiles, in
// order and folded.
TEST(RandomAttention, MeetsEveryWayOfTheCopyEngine) {
  std::set<std::string> rows;
  std::set<int64_t> packs, folds;
  for (const KernelCase& c : GpuRandomCases(abi::Family::kAttention, *abi::FindDevice("cuda"))) {
    if (c.option.kernel->key != "cuda.attention.hopper") continue;
    const abi::Parameters& parameters = c.option.candidate.variant.parameters;
    rows.insert(c.option.candidate.row);
    packs.insert(parameters["pack"]);
    if (parameters["query_stages"] > 1) folds.insert(parameters["fold"]);
  }
  constexpr size_t kRows = 0
#define AICF_HOPPER_ATTENTION(...) +1
#include "kernels/cuda/attention/hopper.def"
#undef AICF_HOPPER_ATTENTION
      ;
  EXPECT_EQ(rows.size(), kRows);
  EXPECT_EQ(packs, (std::set<int64_t>{0, 1}));
  EXPECT_EQ(folds, (std::set<int64_t>{0, 1}));
}

TEST(GivenPackedCases, AreAmongTheOthers) {
  const auto packed = [](const std::vector<KernelCase>& cases) {
    return std::ranges::count_if(
        cases, [](const KernelCase& c) { return Packs(c.option, c.item.problem); });
  };
  EXPECT_GE(packed(GpuRandomCases(Family::kGemm, *abi::FindDevice("cuda"))), 7);  // each tile
  EXPECT_GE(packed(LayoutCases(Family::kGemm)), 3);
}

class GpuConformance : public Conformance {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<JobRunner>> made = JobRunner::Make();
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    runner_ = *std::move(made);
  }

  // With AICF_TEST_KERNEL=KEY in the environment, the cases of that kernel alone.
  void Run(std::vector<KernelCase> cases, const JobRunner::Options& options) {
    if (const char* only = std::getenv("AICF_TEST_KERNEL"); only != nullptr) {
      ASSERT_NE(abi::FindKernel(only), nullptr) << "AICF_TEST_KERNEL names no kernel";
      std::erase_if(cases, [&](const KernelCase& c) { return c.option.kernel->key != only; });
      if (cases.empty()) GTEST_SKIP() << "no case of " << only;
    }
    std::vector<Job> jobs;
    const size_t step = static_cast<size_t>(std::max(1, SanitizedShare()));
    for (size_t i = 0; i < cases.size(); i += step) {
      Job job;
      job.item = std::make_shared<const Case>(std::move(cases[i].item));
      job.option = std::move(cases[i].option);
      jobs.push_back(std::move(job));
    }
    runner_->Run(jobs, options);
    for (const Job& job : jobs) {
      EXPECT_EQ(job.failure, "") << job.option.Name() << "\n" << job.item->name;
    }
    RecordProperty("runs", static_cast<int>(jobs.size()));
  }

  std::unique_ptr<JobRunner> runner_;
};

TEST_P(GpuConformance, RandomCases) { Run(GpuRandomCases(family(), runner_->device()), {}); }

TEST_P(GpuConformance, EveryOperandInEveryLayout) { Run(LayoutCases(family()), {}); }

INSTANTIATE_TEST_SUITE_P(Families, GivenCases, testing::Range(0, abi::kFamilyCount), FamilyOf);
INSTANTIATE_TEST_SUITE_P(GpuFamilies, GpuConformance, testing::Range(0, abi::kFamilyCount),
                         FamilyOf);

class GpuSin : public GpuConformance {};

TEST_P(GpuSin, OfScaledAndShifted) {
  std::vector<KernelCase> cases;
  for (uint64_t seed = 0; seed < 110; ++seed) {
    Case c = SinCase(seed);
    for (KernelOption& o : VariantsOf(c, runner_->device(), 1, seed)) {
      cases.push_back({std::move(o), c});
    }
  }
  ASSERT_GE(cases.size(), 100u);
  Run(std::move(cases), {});
}

INSTANTIATE_TEST_SUITE_P(GpuElementwise, GpuSin,
                         testing::Values(static_cast<int>(Family::kElementwise)), FamilyOf);

// The chip's own conversions, and the short forms of expressions.
TEST(GpuConversion, MatchesBitForBit) {
  Result<std::unique_ptr<JobRunner>> made = JobRunner::Make();
  if (!made.ok()) GTEST_SKIP() << made.status().message();
  std::vector<Job> jobs;
  for (Case& c : ConversionCases()) {
    const auto item = std::make_shared<Case>(std::move(c));
    for (KernelOption& option : (*made)->Variants(*item, 1, 0)) {
      Job job;
      job.item = item;
      job.option = std::move(option);
      jobs.push_back(std::move(job));
    }
  }
  (*made)->Run(jobs, {});
  for (const Job& job : jobs) EXPECT_EQ(job.failure, "") << job.item->name;
}

}  // namespace
}  // namespace aicf::conformance
