// Host functions of the CUDA variants over random problems: no device needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/codegen/cuda_source.h"
#include "kernels/abi/kernel.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/gpu_cases.h"
#include "tests/conformance/options.h"
#include "tests/conformance/random.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;
using abi::MathMode;

constexpr uint64_t kSeeds = 150;

CaseOptions OptionsOf(uint64_t seed) {
  CaseOptions o;
  if (seed % 3 == 1) o.math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16, MathMode::kFp8};
  o.whole_numbers = seed % 2 == 0;
  return o;
}

class Variants : public testing::TestWithParam<int> {
 protected:
  Family family() const { return static_cast<Family>(GetParam()); }
  const abi::DeviceSpec device_ = *abi::FindDevice("cuda");
};

TEST_P(Variants, CasesAreValidAndEqualForEqualSeeds) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    const Status valid = abi::ValidateProblem(c.problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString() << "\n" << c.name;
    const Case again = RandomCase(family(), seed, OptionsOf(seed));
    ASSERT_EQ(c.name, again.name);
    ASSERT_EQ(c.buffers, again.buffers);
  }
}

TEST_P(Variants, SomeVariantTakesEveryProblem) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    bool taken = false;
    for (const KernelInfo& k : abi::KernelsOf(family())) {
      if (k.backend == abi::Backend::kCuda) taken = taken || k.supports(c.problem, device_).empty();
    }
    EXPECT_TRUE(taken) << c.name;
  }
}

void CheckLaunch(const KernelOption& o, const Case& c, const abi::DeviceSpec& device) {
  const abi::LaunchConfig& l = o.candidate.variant.launch;
  EXPECT_EQ(abi::CheckVariant(*o.kernel, c.problem, o.candidate.variant, device), "");
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    EXPECT_GE(l.grid[d], 1u);
    EXPECT_GE(l.block[d], 1u);
    EXPECT_EQ(l.grid[d] % l.cluster[d], 0u);
    threads *= l.block[d];
  }
  EXPECT_LE(l.grid[0], 2147483647u);
  EXPECT_LE(threads, 1024u);
  EXPECT_EQ(threads % 32, 0u) << "shuffles name every lane of a warp";
  EXPECT_LE(l.dynamic_shared_bytes, static_cast<uint32_t>(device.max_shared_bytes));
}

TEST_P(Variants, LaunchesAreLegalAndCostsAreNumbers) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    for (const KernelOption& o : DeviceOptions(c.problem, device_)) {
      SCOPED_TRACE(StrCat(o.Name(), " ", c.name));
      const double cost = o.candidate.cost_us;
      EXPECT_TRUE(std::isfinite(cost) && cost > 0) << cost;
      CheckLaunch(o, c, device_);
    }
  }
}

// Whatever a search may try: a set that the kernel's check takes has a launch within the limits,
// and anything that does not follow from it is refused.
TEST_P(Variants, ChangedParametersAreLegalOrRefused) {
  int legal = 0, refused = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    Random random(seed);
    for (const KernelOption& o : DeviceOptions(c.problem, device_)) {
      SCOPED_TRACE(StrCat(o.Name(), " ", c.name));
      const abi::Parameters& own = o.candidate.variant.parameters;
      std::vector<abi::Parameter> list(own.begin(), own.end());
      abi::Parameter& changed = list[static_cast<size_t>(random.Int(0, own.size() - 1))];
      changed.value = random.Int(0, 1) == 0 ? changed.value * 2 : random.Int(0, 40);
      const abi::Parameters parameters(list);
      if (!abi::CheckParameters(parameters, o.kernel->parameters).empty() ||
          !o.kernel->refuse(c.problem, parameters, device_).empty()) {
        ++refused;
        continue;
      }
      ++legal;
      KernelOption other = o;
      other.candidate.variant = o.kernel->variant(c.problem, parameters);
      CheckLaunch(other, c, device_);
      abi::Variant wrong = other.candidate.variant;
      wrong.launch.grid[0] += 1;
      EXPECT_NE(abi::CheckVariant(*o.kernel, c.problem, wrong, device_), "");
      wrong = other.candidate.variant;
      wrong.launch.dynamic_shared_bytes += 16;
      EXPECT_NE(abi::CheckVariant(*o.kernel, c.problem, wrong, device_), "");
      if (other.candidate.variant.workspace_bytes > 0) {
        wrong = other.candidate.variant;
        wrong.workspace_bytes -= 1;
        EXPECT_NE(abi::CheckVariant(*o.kernel, c.problem, wrong, device_), "");
      }
    }
  }
  EXPECT_GT(legal, 0);
  EXPECT_GT(refused, 0);
}

TEST_P(Variants, SourcesAreReproducibleAndNamed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    for (const KernelOption& o : DeviceOptions(c.problem, device_)) {
      const abi::Variant& v = o.candidate.variant;
      const std::string text = WriteCudaSource(*o.kernel, c.problem, v);
      EXPECT_EQ(text, WriteCudaSource(*o.kernel, c.problem, v));
      EXPECT_NE(text.find(abi::InstanceSymbol(o.kernel->key, c.problem, v)), std::string::npos);
    }
  }
}

TEST_P(Variants, EveryVariantIsMet) {
  std::map<std::string_view, int> met;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    for (const KernelInfo& k : abi::KernelsOf(family())) {
      if (k.backend != abi::Backend::kCpu)
        met[k.key] += k.supports(c.problem, device_).empty() ? 1 : 0;
    }
  }
  for (const auto& [key, count] : met) EXPECT_GT(count, 0) << key << " refused all the cases";
}

int CountAxes(const abi::View& v) {
  return static_cast<int>(
      std::ranges::count_if(v.shape, [](int64_t extent) { return extent > 1; }));
}

// Outputs do not repeat: each element has a place of its own.
TEST_P(Variants, EveryOperandIsDrawnInEveryLayout) {
  LayoutCount count;
  std::map<std::string, int> operands;  // and the most axes that they have
  for (uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    const Case c = RandomCase(family(), seed, OptionsOf(seed));
    count.Add("any", c, false);
    for (size_t k = 0; k < c.problem.inputs.size() + c.problem.outputs.size(); ++k) {
      const abi::View& v = k < c.problem.inputs.size()
                               ? c.problem.inputs[k]
                               : c.problem.outputs[k - c.problem.inputs.size()];
      if (abi::ElementsOf(v) < 2) continue;
      int& axes = operands[OperandName(c.problem, k)];
      axes = std::max(axes, CountAxes(v));
    }
  }
  for (const auto& [operand, axes] : operands) {
    for (int i = 0; i < kLayoutCount; ++i) {
      const auto layout = static_cast<Layout>(i);
      if (layout == Layout::kPermuted && axes < 2) continue;
      // A row of blocks is whole in memory, so two axes have one order.
      const bool blocks = family() == Family::kBlockGemm && operand == "x1";
      if (layout == Layout::kPermuted && blocks) continue;
      if (layout == Layout::kRepeated && operand[0] == 'y') continue;
      const std::string fact = StrCat("any / ", operand, " / ", LayoutName(layout), " / narrow");
      EXPECT_GT(count.Met(fact), 0) << operand << " is never " << LayoutName(layout);
    }
  }
}

// A kernel may ask for a layout of its first operand and its outputs, which the compiler arranges;
// the other operands come as they are. What no case shows a kernel, wide where it has vectors at
// all, is not proven.
TEST_P(Variants, SourcesMeetTheOtherOperandsInEveryLayout) {
  const abi::DeviceSpec small = SmallDevice();
  LayoutCount count;
  std::map<std::string_view, bool> is_wide;
  std::map<std::string_view, int> axes;  // the most axes of results, which further operands follow
  CaseOptions o;
  o.max_elements = family() == Family::kCopy ? 100000 : 3000;
  const uint64_t seeds = family() == Family::kConv ? 6000 : 12 * kSeeds;  // as LayoutCases
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Case c = RandomCase(family(), seed, o);
    for (const KernelOption& option : DeviceOptions(c.problem, small)) {
      const std::string_view source = option.kernel->source;
      const bool wide = WidthOf(option, c.problem) > 1;
      is_wide[source] = is_wide[source] || wide;
      axes[source] = std::max(axes[source], CountAxes(c.problem.outputs[0]));
      count.Add(source, c, wide);
    }
  }
  const bool two_matrices = family() == Family::kGemm || family() == Family::kConv;
  std::vector<std::string> operands;
  if (two_matrices) operands.push_back("x1");
  const bool extras =
      abi::HasEpilogue(family()) && family() != Family::kElementwise && family() != Family::kCopy;
  if (extras) operands.push_back("extra");
  for (const auto& [source, wide] : is_wide) {
    for (const std::string& operand : operands) {
      for (int i = 0; i < kLayoutCount; ++i) {
        const bool one_axis = operand == "extra" && axes[source] < 2;
        if (static_cast<Layout>(i) == Layout::kPermuted && one_axis) continue;
        const std::string fact =
            StrCat(source, " / ", operand, " / ", LayoutName(static_cast<Layout>(i)),
                   wide ? " / wide" : " / narrow");
        EXPECT_GT(count.Met(fact), 0) << fact;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Variants, testing::Range(0, abi::kFamilyCount),
                         [](const testing::TestParamInfo<int>& i) {
                           return std::string(abi::FamilyName(static_cast<Family>(i.param)));
                         });

}  // namespace
}  // namespace aicf::conformance
