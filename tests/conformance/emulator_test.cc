// The device sources executed on this machine: every family's variants against the reference
// kernels.
#include "tests/conformance/emulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>

#include "kernels/abi/packing.h"

#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/conversion_cases.h"
#include "tests/conformance/gpu_cases.h"
#include "tests/conformance/gpu_jobs.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;
using abi::MathMode;

Result<Buffers> Emulate(const KernelOption& option, const Case& c) {
  return EmulatedBuffers(*option.kernel, c, option.candidate.variant);
}

// The emulated kernel's results are those of the reference.
void ExpectAsReference(const KernelOption& option, const Case& c) {
  const Result<Buffers> got = Emulate(option, c);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(Difference(c, *got, RunReference(c)), "")
      << option.Name() << " " << ToString(c.problem);
}

// What the emulator can run: it has no bulk tensor copy engine.
std::vector<KernelOption> Supporting(const Case& c) {
  std::vector<KernelOption> options = DeviceOptions(c.problem, *abi::FindDevice("cuda"));
  std::erase_if(options,
                [](const KernelOption& o) { return !o.candidate.variant.tensor_maps.empty(); });
  return options;
}

KernelOption Best(std::string_view key, const Case& c) {
  const KernelInfo* kernel = abi::FindKernel(key);
  return {kernel, *abi::BestCandidate(*kernel, c.problem, *abi::FindDevice("cuda"))};
}

class Emulated : public testing::TestWithParam<int> {};

TEST_P(Emulated, AgreesWithTheReference) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const auto family = static_cast<Family>(GetParam());
  const bool product =
      family == Family::kGemm || family == Family::kConv || family == Family::kAttention;
  std::map<std::string, int> runs;
  for (uint64_t seed = 0; seed < (product ? 6 : 3); ++seed) {
    CaseOptions o;
    o.max_elements = 1500;
    if (seed % 3 == 1) o.math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16};
    const Case c = RandomCase(family, seed, o);
    const Buffers want = RunReference(c);
    // The least used variants next, so that a few cases meet all of them.
    std::vector<KernelOption> options = Supporting(c);
    const auto count = [&](const KernelOption& x) -> int& {
      return runs[StrCat(x.candidate.row, Packs(x, c.problem) ? " packed" : "")];
    };
    std::ranges::stable_sort(options, {}, [&](const KernelOption& x) { return count(x); });
    options.resize(std::min<size_t>(options.size(), 2));
    for (const KernelOption& option : options) {
      ++count(option);
      const Result<Buffers> got = Emulate(option, c);
      ASSERT_TRUE(got.ok()) << option.Name() << "\n" << c.name << "\n" << got.status().ToString();
      EXPECT_EQ(Difference(c, *got, want), "") << option.Name() << "\n" << c.name;
    }
  }
}

// A product by cuda.gemm.gemv, with what it may read before its wait where `ahead`.
KernelOption FewRows(const Case& c, bool ahead) {
  KernelOption o = Best("cuda.gemm.gemv", c);
  if (!ahead) return o;
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const abi::Parameters wanted = abi::WithAhead(*o.kernel, o.candidate.variant.parameters);
  if (o.kernel->refuse(c.problem, wanted, device).empty()) {
    o.candidate.variant = o.kernel->variant(c.problem, wanted);
  }
  return o;
}

// Rows that the product normalises, and columns that take one turn of loads or many.
TEST(EmulatedProduct, OfFewRowsNormalisedOrLong) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const KernelInfo& gemv = *abi::FindKernel("cuda.gemm.gemv");
  std::vector<Case> cases;
  for (const int64_t rows : {1, 3, 8}) {
    for (const int64_t length : {0, 700, 2600}) {
      for (const bool row_norm : {true, false}) {
        const CaseOptions options = {
            .whole_numbers = false,
            .max_elements = 1500,
            .math = {MathMode::kFp32, MathMode::kTf32, MathMode::kFp16, MathMode::kBf16},
            .rows = rows,
            .length = length,
            .row_norm = row_norm};
        for (uint64_t seed = 0; seed < 4; ++seed) {
          const Case c = RandomCase(Family::kGemm, 100 + seed, options);
          if (gemv.supports(c.problem, device).empty()) cases.push_back(c);
        }
      }
    }
  }
  ASSERT_GT(cases.size(), 24u);
  std::vector<std::string> failures(cases.size());
  OnAllCores(cases.size(), [&](size_t i) {
    const Result<Buffers> got = Emulate(FewRows(cases[i], i % 2 == 1), cases[i]);
    failures[i] =
        got.ok() ? Difference(cases[i], *got, RunReference(cases[i])) : got.status().ToString();
  });
  for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(failures[i], "") << cases[i].name;
}

TEST_P(Emulated, TakesEveryOperandInEveryLayout) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const auto family = static_cast<Family>(GetParam());
  const std::vector<KernelCase> cases = LayoutCases(family);
  ASSERT_FALSE(cases.empty());
  std::vector<std::string> failures(cases.size());
  OnAllCores(cases.size(), [&](size_t i) {
    const Case& c = cases[i].item;
    if (!cases[i].option.candidate.variant.tensor_maps.empty()) return;  // not emulated
    const Result<Buffers> got = Emulate(cases[i].option, c);
    failures[i] = got.ok() ? Difference(c, *got, RunReference(c)) : got.status().ToString();
  });
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(failures[i], "") << cases[i].option.Name() << "\n" << cases[i].item.name;
  }
  RecordProperty("cases", static_cast<int>(cases.size()));
}

INSTANTIATE_TEST_SUITE_P(Families, Emulated, testing::Range(0, abi::kFamilyCount),
                         [](const testing::TestParamInfo<int>& i) {
                           return std::string(abi::FamilyName(static_cast<Family>(i.param)));
                         });

TEST(EmulatedConversion, MatchesBitForBit) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (const Case& c : ConversionCases()) {
    ASSERT_TRUE(abi::ValidateProblem(c.problem).ok());
    const Result<Buffers> got = Emulate(Best("cuda.elementwise.map", c), c);
    ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
  }
}

// Functions whose results end in 16 bits are others than those of f32; all their values.
TEST(EmulatedFunctions, OfSixteenBitsAreWithinOneUnitInTheLastPlace) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  using enum abi::ExprOp;
  for (abi::ExprOp op : {kExp, kSigmoid, kTanh, kErf}) {
    for (DType dtype : {DType::kF16, DType::kBF16}) {
      const Case c = Function16Case(op, dtype);
      const Result<Buffers> got = Emulate(Best("cuda.elementwise.map", c), c);
      ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
      EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
    }
  }
}

// A sum over many blocks of a cluster, through the workspace.
TEST(EmulatedCluster, SumsInPieces) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  Case c;
  abi::ReduceAttrs a;
  a.axes = {1};
  c.problem.family = Family::kReduce;
  c.problem.attrs = a;
  c.problem.inputs = {abi::DenseView(DType::kF32, {2, 70001})};
  c.problem.outputs = {abi::DenseView(DType::kF32, {2, 1})};
  c.problem.core_inputs = 1;
  Random random(5);
  FillBuffers(random, c, true);
  const KernelOption option = Best("cuda.reduce.rows", c);
  ASSERT_GT(option.candidate.variant.launch.cluster[0], 1u);
  const Result<Buffers> got = Emulate(option, c);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(Difference(c, *got, RunReference(c)), "");
}

// A row over many blocks of a cluster, and several rows one after the other in the same cluster.
TEST(EmulatedCluster, SharesRows) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const KernelInfo* kernel = abi::FindKernel("cuda.normalize.rows");
  for (abi::NormalizeKind kind : {abi::NormalizeKind::kSoftmax, abi::NormalizeKind::kLogSoftmax,
                                  abi::NormalizeKind::kLayerNorm, abi::NormalizeKind::kRmsNorm}) {
    for (DType dtype : {DType::kF32, DType::kF16, DType::kF64}) {
      Case c;
      abi::NormalizeAttrs a;
      a.kind = kind;
      a.axes = {1};
      a.epsilon = 1e-5;
      c.problem.family = Family::kNormalize;
      c.problem.attrs = a;
      c.problem.inputs = c.problem.outputs = {abi::DenseView(dtype, {3, 5000})};
      c.problem.core_inputs = 1;
      c.tolerance = {2, 4e-6};
      Random random(7);
      FillBuffers(random, c, false);
      const abi::Parameters shared = {
          {"lanes", 256}, {"rows_per_block", 1}, {"blocks", 4}, {"cluster", 4}};
      const KernelOption option{kernel, {kernel->variant(c.problem, shared), 1}};
      ExpectAsReference(option, c);
    }
  }
}

// Groups that alternate in memory over a cluster's blocks, more of them than the clusters take at
// once.
TEST(EmulatedCluster, SharesGroupsThatAlternate) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const KernelInfo* kernel = abi::FindKernel("cuda.normalize.interleaved");
  for (abi::NormalizeKind kind : {abi::NormalizeKind::kSoftmax, abi::NormalizeKind::kLayerNorm,
                                  abi::NormalizeKind::kRmsNorm}) {
    for (DType dtype : {DType::kF32, DType::kF16}) {
      Case c;
      abi::NormalizeAttrs a;
      a.kind = kind;
      a.axes = {1, 2};
      a.epsilon = 1e-5;
      c.problem.family = Family::kNormalize;
      c.problem.attrs = a;
      c.problem.inputs = c.problem.outputs = {{dtype, {6, 10, 333}, {10, 1, 60}, 0}};
      c.problem.core_inputs = 1;
      c.tolerance = {2, 4e-6};
      Random random(7);
      FillBuffers(random, c, false);
      const abi::Parameters shared = {{"groups", 2}, {"lanes", 5},  {"lines", 16},
                                      {"vector", 2}, {"blocks", 8}, {"cluster", 4}};
      const KernelOption option{kernel, {kernel->variant(c.problem, shared), 1}};
      ExpectAsReference(option, c);
    }
  }
}

// Vectors that begin and end inside of groups, or have several, over a cluster's blocks of which
// not all have the same number of lines; what is kept in registers, and what is read again.
TEST(EmulatedCluster, SharesLinesOfGroups) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const KernelInfo* kernel = abi::FindKernel("cuda.normalize.lines");
  struct Walk {
    int64_t run, lines;  // of the problem
    abi::Parameters shared;
  };
  const auto with = [](int64_t groups, int64_t lines, int64_t vector, int64_t cluster) {
    return abi::Parameters{
        {"groups", groups}, {"lines", lines}, {"vector", vector}, {"cluster", cluster}};
  };
  for (const Walk& walk : {Walk{10, 77, with(4, 32, 8, 1)}, Walk{10, 333, with(4, 32, 8, 4)},
                           Walk{3, 50, with(8, 32, 8, 2)}, Walk{2, 70, with(8, 32, 8, 2)},
                           Walk{16, 2000, with(2, 16, 8, 2)}, Walk{1, 3, with(8, 32, 4, 8)}}) {
    for (abi::NormalizeKind kind : {abi::NormalizeKind::kLayerNorm, abi::NormalizeKind::kRmsNorm}) {
      for (DType dtype : {DType::kF32, DType::kF16}) {
        Case c;
        abi::NormalizeAttrs a;
        a.kind = kind;
        a.axes = {2, 3};
        a.epsilon = 1e-5;
        c.problem.family = Family::kNormalize;
        c.problem.attrs = a;
        const int64_t line = 8 * walk.run;
        c.problem.inputs = c.problem.outputs = {
            {dtype, {2, 8, walk.run, walk.lines}, {walk.lines * line, walk.run, 1, line}, 0}};
        c.problem.core_inputs = 1;
        c.tolerance = {2, 4e-6};
        Random random(7);
        FillBuffers(random, c, false);
        ASSERT_EQ(kernel->refuse(c.problem, walk.shared, *abi::FindDevice("cuda:sm_90a")), "");
        const KernelOption option{kernel, {kernel->variant(c.problem, walk.shared), 1}};
        ExpectAsReference(option, c);
      }
    }
  }
}

// An operand of other lines than the results, beside one that lies as they do: whole tiles and
// parts.
TEST(EmulatedTranspose, TurnsTheFirstOperand) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (DType dtype : {DType::kF32, DType::kF16}) {
    for (int64_t vector : {1, 8}) {
      Case c;
      const Dims shape = {2, 72, 3, 45};
      const abi::View pixels = {dtype, shape, {72 * 3 * 45, 1, 72 * 45, 72}, 0};
      c.problem.family = Family::kElementwise;
      c.problem.inputs = {abi::DenseView(DType::kF32, shape), pixels};
      c.problem.outputs = {pixels};
      c.problem.core_inputs = 2;
      abi::ExprBuilder b;
      c.problem.epilogue =
          b.Finish({b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
      c.tolerance = {0, 0};
      Random random(7);
      FillBuffers(random, c, true);
      const KernelInfo* kernel = abi::FindKernel("cuda.elementwise.transpose");
      const abi::Parameters parameters = {{"vector", vector}, {"blocks", 5}};
      const KernelOption option{kernel, {kernel->variant(c.problem, parameters), 1}};
      const Result<Buffers> got = Emulate(option, c);
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << ToString(c.problem);
    }
  }
}

// Several vectors per thread and round, with whole rounds, whole vectors and single elements left.
TEST(EmulatedUnroll, LeavesNoElement) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  for (int64_t count : {1, 1023, 4096, 5001}) {
    Case c;
    c.problem.inputs = {abi::DenseView(DType::kF16, {count}), abi::DenseView(DType::kF32, {count})};
    c.problem.outputs = {abi::DenseView(DType::kF32, {count})};
    c.problem.core_inputs = 2;
    abi::ExprBuilder b;
    c.problem.epilogue =
        b.Finish({b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
    c.tolerance = {0, 0};
    Random random(static_cast<uint64_t>(count));
    FillBuffers(random, c, true);
    Case copy = c;
    copy.problem.family = Family::kCopy;
    copy.problem.attrs = abi::CopyAttrs{{{0}, {count}}, false, 0};
    copy.problem.inputs = {abi::DenseView(DType::kF16, {count}),
                           abi::DenseView(DType::kF16, {count + 9})};
    copy.problem.outputs = {abi::DenseView(DType::kF16, {2 * count + 9})};
    copy.problem.epilogue = {};
    FillBuffers(random, copy, true);
    const auto agrees = [](const Case& item, std::string_view key, const abi::Parameters& set) {
      const KernelInfo* kernel = abi::FindKernel(key);
      ASSERT_EQ(abi::ValidateProblem(item.problem).ToString(), OkStatus().ToString());
      const KernelOption option{kernel, {kernel->variant(item.problem, set), 1}};
      const Result<Buffers> got = Emulate(option, item);
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      EXPECT_EQ(Difference(item, *got, RunReference(item)), "") << option.Name();
    };
    agrees(c, "cuda.elementwise.map",
           {{"vector", 4}, {"threads", 64}, {"blocks", 3}, {"unroll", 4}});
    agrees(copy, "cuda.copy.pieces",
           {{"threads", 64}, {"vector", 16}, {"least_threads", 0}, {"unroll", 4}});
  }
}

// The comparison itself must see one wrong bit and one byte too many.
// A picture whose rows are stored in groups that overlap: [n, group, w, row, c] from two pieces. A
// vector holds several lines of four channels.
Case GroupsOfRows(DType dtype, bool converts, int64_t width) {
  Case c;
  c.problem.family = Family::kCopy;
  const Dims shape = {2, 4, 5, 4, width};  // n, c, group, row, w
  const abi::View stored = {dtype, shape, {5 * width * 16, 1, width * 16, 4, 16}, 0};
  const DType from = converts ? DType::kF32 : dtype;
  const auto rows = [&](int64_t offset) {
    return abi::View{from, {2, 3, 4, 2, width - 1}, {3 * 8 * 20, 8 * 20, 40, 20, 1}, offset};
  };
  c.problem.attrs = abi::CopyAttrs{{Dims{0, 0, 1, 0, 1}, Dims{0, 0, 0, 2, 1}}, true, 3};
  c.problem.inputs = {rows(0), rows(0)};
  c.problem.outputs = {stored};
  c.problem.core_inputs = 2;
  if (converts) {
    abi::ExprBuilder b;
    c.problem.epilogue = b.Finish({b.Cast(b.Input(0, DType::kF32), abi::ComputeDType(dtype))});
  }
  c.tolerance = {0, 0};
  Random random(static_cast<uint64_t>(width));
  FillBuffers(random, c, true);
  return c;
}

TEST(EmulatedCopy, VectorsHoldSeveralLines) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  for (DType dtype : {DType::kU8, DType::kF16, DType::kF32}) {
    for (bool converts : {false, true}) {
      const Case c = GroupsOfRows(dtype, converts, 7);
      ASSERT_EQ(abi::ValidateProblem(c.problem).ToString(), OkStatus().ToString());
      const KernelInfo* kernel = abi::FindKernel(converts ? "cuda.copy.convert" : "cuda.copy.fill");
      const int64_t most = 16 / DTypeBytes(dtype);
      for (int64_t vector = 1; vector <= most; vector *= 2) {
        const abi::Parameters set = {{"threads", 64}, {"blocks", 3}, {"vector", vector}};
        ASSERT_EQ(kernel->refuse(c.problem, set, device), "");
        ExpectAsReference({kernel, {kernel->variant(c.problem, set), 1}}, c);
      }
      EXPECT_NE(
          kernel->refuse(c.problem, {{"threads", 64}, {"blocks", 3}, {"vector", 2 * most}}, device),
          "");
    }
  }
}

TEST(Comparison, SeesAWrongElementAndAStrayWrite) {
  const Case c = RandomCase(Family::kReduce, 2);
  const Buffers want = RunReference(c);
  EXPECT_EQ(Difference(c, want, want), "");
  Buffers stray = want;
  stray.back().back() ^= std::byte{1};  // buffers end in 32 bytes that no element owns
  EXPECT_NE(Difference(c, stray, want), "");
  Buffers input = want;
  input.front().front() ^= std::byte{1};
  EXPECT_NE(Difference(c, input, want), "");
  EXPECT_NE(Difference(c, c.buffers, want), "") << "nothing was computed";
}

}  // namespace
}  // namespace aicf::conformance
