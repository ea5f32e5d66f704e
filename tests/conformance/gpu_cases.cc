#include "tests/conformance/gpu_cases.h"

#include <algorithm>
#include <map>

#include "compiler/costs/fit.h"
#include "kernels/abi/packing.h"
#include "kernels/cuda/conv/hopper.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::MathMode;

struct Share {
  uint64_t seeds;
  size_t variants;  ///< of each case
  CaseOptions options;
  bool shared_sums = false;      ///< gemm: only variants whose blocks share out the sum (k)
  bool small_device = false;     ///< with variants for SmallDevice(): few blocks take many tiles
  std::string_view kernel = {};  ///< only variants of this one
};

// Products that normalise their rows, of which there are `rows`, in every math mode.
CaseOptions RowNorms(int64_t rows) {
  return {.whole_numbers = false,
          .max_elements = 8000,
          .math = {MathMode::kFp32, MathMode::kTf32, MathMode::kFp16, MathMode::kBf16},
          .rows = rows,
          .row_norm = true};
}

// Products of one row in reduced modes, whose weights may stream through shared memory.
CaseOptions OneRow(int64_t length) {
  return {.whole_numbers = false,
          .max_elements = 8000,
          .math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16},
          .rows = 1,
          .length = length};
}

// Products of one row that becomes integers, with several panels of blocks.
CaseOptions OneIntegerRow(int64_t halves, bool row_norm) {
  return {.whole_numbers = !row_norm,
          .math = {MathMode::kFp16, MathMode::kBf16},
          .rows = 1,
          .halves = halves,
          .columns = 150,
          .row_norm = row_norm};
}

// Products of 16-bit operands whose epilogue sees the moments of rows of `length` terms.
CaseOptions Moments(int64_t length, int64_t halves = 0, bool parts = false) {
  return {.whole_numbers = false,
          .max_elements = 8000,
          .math = {MathMode::kFp16, MathMode::kBf16},
          .length = length,
          .halves = halves,
          .moments = true,
          .parts = parts};
}

// Products that store the moments of parts of their results.
CaseOptions StoredParts(int64_t length) {
  return {.max_elements = 8000,
          .math = {MathMode::kFp16, MathMode::kBf16},
          .length = length,
          .parts = true};
}

// Products with few rows that read the moments of parts of their rows, or store those of their
// results.
CaseOptions FewRowsOfParts(bool reads) {
  return {.whole_numbers = !reads,
          .math = {MathMode::kFp16, MathMode::kBf16},
          .few_rows = true,
          .moments = reads,
          .parts = true};
}

// Products of float8 whose blocks have scales, with sums of `length` terms.
CaseOptions BlockScales(int64_t length) {
  return {.max_elements = 8000, .length = length, .eight_bits = true, .block_scales = true};
}

// The cases of a family. Some families also have products on tensor cores, and large cases of reals
// in which the rounding of a sum shows.
std::vector<Share> SharesOf(Family family) {
  const std::vector<MathMode> reduced = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16};
  switch (family) {
    case Family::kGemm:
      return {{80, 1, {.max_elements = 8000}},
              {30, 2, {.max_elements = 8000, .rows = 1}},
              {60, 1, {.max_elements = 8000, .math = reduced}},
              {160, 1, {.max_elements = 8000, .math = reduced, .length = 1400}, true},
              {200, 1, {.max_elements = 8000, .math = reduced, .length = 600}, true},
              {200, 1, {.max_elements = 8000, .math = reduced, .length = 200}, true},
              {80, 1, {.max_elements = 8000, .math = reduced, .halves = 2}},
              {80, 1, {.max_elements = 8000, .math = reduced, .length = 600, .halves = 2}, true},
              {120, 1, {.max_elements = 8000, .eight_bits = true}},
              {80, 1, {.max_elements = 8000, .length = 1040, .eight_bits = true}},
              {80, 1, {.max_elements = 8000, .length = 2800, .eight_bits = true}, true},
              {40, 1, {.max_elements = 8000, .halves = 2, .eight_bits = true}},
              {20, 1, {.max_elements = 8000, .length = 8336, .eight_bits = true}},
              {80, 1, BlockScales(0)},
              {80, 1, BlockScales(1040)},
              {60, 1, OneRow(0), false, true},
              {40, 1, OneRow(2056), false, true},
              {160, 1, {.math = reduced, .few_rows = true}, false, true, "cuda.gemm.stream_rows"},
              {60, 1, FewRowsOfParts(true), false, true, "cuda.gemm.stream_rows"},
              {60, 1, FewRowsOfParts(false), false, true, "cuda.gemm.stream_rows"},
              {60, 1, RowNorms(1)},
              {40, 1, RowNorms(3)},
              {40, 1, RowNorms(8)},
              {100, 1, Moments(0, 1)},
              {40, 1, Moments(0, 2)},
              {60, 1, Moments(1400)},
              {40, 1, Moments(0), false, true},
              {60, 1, Moments(0, 1, true)},
              {20, 1, Moments(0, 2, true)},
              {40, 1, Moments(1536, 1, true)},
              {60, 1, StoredParts(0)},
              {60, 1, StoredParts(600)},
              {20, 1, {.whole_numbers = false, .max_elements = 8000}},
              {20, 1, {.whole_numbers = false, .math = reduced}}};
    case Family::kConv:
      return {{100, 1, {}},
              {50, 1, {.math = reduced}},
              {90, 1, {.eight_bits = true}},
              {90, 1, {.max_elements = 120000, .math = reduced}, false, true},
              {60, 1, {.max_elements = 120000, .eight_bits = true}, false, true},
              {20, 1, {.whole_numbers = false, .math = reduced}}};
    case Family::kAttention:
      return {{220, 1, {}},
              {220, 1, {.math = reduced}},
              {60, 1, {.whole_numbers = false}},
              {100, 1, {.math = {MathMode::kFp16, MathMode::kBf16}}, false, true},
              {100, 1, {.math = {MathMode::kFp16, MathMode::kBf16}, .appends = true}},
              {60, 1, {.math = {MathMode::kFp16, MathMode::kBf16}, .appends = true}, false, true}};
    case Family::kBlockGemm:
      return {{80, 1, {}},
              {30, 2, {.rows = 1}},
              {40, 1, {.math = {MathMode::kFp16, MathMode::kBf16}}},
              {40, 1, {.rows = 2, .halves = 2}},
              {40, 1, RowNorms(1)},
              {20, 1, RowNorms(3)},
              {60, 1, OneIntegerRow(1, false), false, false, "cuda.blockgemm.stream"},
              {60, 1, OneIntegerRow(2, false), false, false, "cuda.blockgemm.stream"},
              {60, 1, OneIntegerRow(1, true), false, false, "cuda.blockgemm.stream"},
              {30, 1, {.whole_numbers = false}},
              {20, 1, {.whole_numbers = false, .math = reduced}}};
    case Family::kReduce:
    case Family::kNormalize:
    case Family::kExcite:
      return {{80, 1, {}}, {30, 1, {.whole_numbers = false, .max_elements = 60000}}};
    default:
      return {{80, 1, {}}, {20, 1, {.whole_numbers = false}}};
  }
}

// If the kernel can read constant operands before it waits for its predecessors, makes it do so. In
// a test every operand is constant.
void ReadAhead(KernelOption& o, const abi::Problem& p, const abi::DeviceSpec& device) {
  if (o.kernel->reads_ahead == nullptr) return;
  const abi::Parameters ahead = abi::WithAhead(*o.kernel, o.candidate.variant.parameters);
  if (o.kernel->refuse(p, ahead, device).empty()) {
    o.candidate.variant = o.kernel->variant(p, ahead);
  }
}

// Makes the blocks of a convolution that have several tiles each hold the weights, where there is
// room for them. Candidates do so for fewer kinds of tiles.
void HoldWeights(KernelOption& o, const abi::Problem& p, const abi::DeviceSpec& device) {
  const abi::Parameters& set = o.candidate.variant.parameters;
  if (!set.Has("held_b") || cuda::ConvHopperTiles(p, set) <= set["blocks"]) return;
  std::vector<abi::Parameter> list(set.begin(), set.end());
  for (abi::Parameter& parameter : list) {
    if (parameter.name == "held_b") parameter.value = cuda::ConvHopperWeightTiles(p, set);
  }
  const abi::Parameters holding(std::move(list));
  if (o.kernel->refuse(p, holding, device).empty()) {
    o.candidate.variant = o.kernel->variant(p, holding);
  }
}

// Gives cuda.blockgemm.stream one block with two warps and a ring of `stages`, which is then filled
// again and again. Candidates for cases as small as these fill theirs once.
void ShortenRing(KernelOption& o, const abi::Problem& p, const abi::DeviceSpec& device,
                 int64_t stages) {
  if (o.kernel->key != "cuda.blockgemm.stream") return;
  const abi::Parameters ring = {
      {"warps", 2}, {"stages", stages}, {"flight", stages - 1}, {"blocks", 1}, {"ahead", 0}};
  if (o.kernel->refuse(p, ring, device).empty()) o.candidate.variant = o.kernel->variant(p, ring);
}

}  // namespace

std::vector<KernelOption> VariantsOf(const Case& c, const abi::DeviceSpec& device, size_t most,
                                     size_t turn) {
  std::vector<KernelOption> fit = DeviceOptions(c.problem, device);
  const tune::FitTable& predicted = tune::BuiltInFit(device);
  std::ranges::stable_sort(fit, {}, [&](const KernelOption& o) {
    return predicted.Predict(o.candidate, c.problem.math);
  });
  if (fit.size() <= most) return fit;
  if (most == 1) return {fit[turn % fit.size()]};
  std::vector<KernelOption> chosen = {fit[0]};
  for (size_t i = 0; chosen.size() < most; ++i) {
    chosen.push_back(fit[1 + (turn + i) % (fit.size() - 1)]);
  }
  return chosen;
}

std::vector<KernelCase> GpuRandomCases(Family family, const abi::DeviceSpec& device) {
  std::vector<KernelCase> cases;
  std::map<std::string, int> met;  // cases by row of candidates, and by variant
  for (const Share& share : SharesOf(family)) {
    for (uint64_t seed = 1000; seed < 1000 + share.seeds; ++seed) {
      const Case c = RandomCase(family, seed, share.options);
      // Of the variants that take the case, those that have run least are chosen. Otherwise a
      // kernel that refuses many cases might never run.
      std::vector<KernelOption> fit =
          VariantsOf(c, share.small_device ? SmallDevice() : device, 1000, 0);
      if (share.shared_sums) {
        std::erase_if(fit, [](const KernelOption& o) {
          return o.kernel->key != "cuda.gemm.hopper" || o.candidate.variant.parameters["split"] < 2;
        });
      }
      if (!share.kernel.empty()) {
        std::erase_if(fit, [&](const KernelOption& o) { return o.kernel->key != share.kernel; });
      }
      const auto row = [&](const KernelOption& o) -> int& {
        const abi::Parameters& set = o.candidate.variant.parameters;
        const int64_t split = set.Has("split") ? set["split"] : 1;
        return met[StrCat(o.candidate.row, Packs(o, c.problem) ? " packed" : "",
                          set["held_b"] != 0 ? " held" : "", " ", split, " ",
                          abi::RawInputs(c.problem))];
      };
      std::ranges::stable_sort(
          fit, {}, [&](const KernelOption& o) { return std::pair(row(o), met[o.Name()]); });
      fit.resize(std::min(fit.size(), share.variants));
      for (KernelOption& o : fit) {
        ++row(o);
        ++met[o.Name()];
        if (seed % 4 < 2) HoldWeights(o, c.problem, device);
        if (seed % 4 > 1) ShortenRing(o, c.problem, device, /*stages=*/2 + seed / 4 % 2);
        if (seed % 2 == 1) ReadAhead(o, c.problem, device);
        cases.push_back({std::move(o), c});
      }
    }
  }
  return cases;
}

abi::DeviceSpec SmallDevice() {
  abi::DeviceSpec device = *abi::FindDevice("cuda");
  device.sm_count = 1;
  return device;
}

std::vector<KernelCase> LayoutCases(Family family) {
  CaseOptions o;
  // The vectors of copies are chosen for a full-size device, so that only large copies have them.
  o.max_elements = family == Family::kCopy ? 100000 : 3000;
  // Few convolutions are depthwise, and few of those have channels for vectors.
  std::vector<KernelCase> cases =
      CasesOfAllLayouts(family, SmallDevice(), family == Family::kConv ? 6000 : 150, o);
  if (family != Family::kGemm && family != Family::kBlockGemm) return cases;
  o.math = {MathMode::kFp16, MathMode::kBf16};  // gemm: those with packed operands
  for (KernelCase& c : CasesOfAllLayouts(family, SmallDevice(), 150, o)) {
    const bool is_new = family == Family::kBlockGemm || Packs(c.option, c.item.problem);
    if (is_new) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace aicf::conformance
