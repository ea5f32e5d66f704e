// Appends where they run: both caches are changed in place, by every kernel, and nothing of them
// but the new rows.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/abi/append.h"
#include "kernels/cpu/functions.h"
#include "tests/conformance/aligned_memory.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"
#include "tests/conformance/options.h"

namespace aicf::conformance {
namespace {

/// A random case whose caches lie before as they lie afterwards.
Case AppendCase(uint64_t seed) {
  Case c = RandomCase(abi::Family::kAppend, seed, {.max_elements = 1500});
  for (size_t state : {abi::kAppendKeys, abi::kAppendValues}) {
    c.problem.inputs[state] = c.problem.outputs[state - abi::kAppendKeys];
  }
  const std::vector<std::byte> places = c.buffers[abi::kAppendPlaces];
  Random random(seed + 99);
  FillBuffers(random, c, true);
  c.buffers[abi::kAppendPlaces] = places;
  for (size_t state : {abi::kAppendKeys, abi::kAppendValues}) {
    c.buffers[c.problem.inputs.size() + state - abi::kAppendKeys] = c.buffers[state];
  }
  return c;
}

/// The buffers after `run` had both caches as operands and outputs: outputs hold what it made.
template <class Run>
Buffers InPlaceRun(const Case& c, const Run& run) {
  std::vector<AlignedMemory> memory;
  std::vector<void*> addresses;
  for (const auto& buffer : c.buffers) {
    memory.push_back(AlignedCopy(buffer));
    addresses.push_back(memory.back().get());
  }
  const size_t outputs = c.problem.inputs.size();
  addresses[outputs + abi::kNextKeys] = addresses[abi::kAppendKeys];
  addresses[outputs + abi::kNextValues] = addresses[abi::kAppendValues];
  run(addresses);
  Buffers got = c.buffers;
  for (size_t k = outputs; k < got.size(); ++k) {
    std::memcpy(got[k].data(), addresses[k], got[k].size());
  }
  return got;
}

bool ChangesBothInPlace(const abi::KernelInfo& kernel, const abi::Problem& p) {
  for (int input = 0; input < static_cast<int>(p.inputs.size()); ++input) {
    const bool cache = input == abi::kAppendKeys || input == abi::kAppendValues;
    if (kernel.in_place(p, input) != cache) return false;
  }
  return true;
}

TEST(AppendInPlace, CpuKernelsWriteTheNewRows) {
  const abi::DeviceSpec device = *abi::FindDevice("cpu");
  int runs = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = AppendCase(seed);
    const Buffers want = RunReference(c);
    for (const abi::KernelInfo& kernel : abi::KernelsOf(abi::Family::kAppend)) {
      if (kernel.backend != abi::Backend::kCpu) continue;
      if (!kernel.supports(c.problem, device).empty()) continue;
      ++runs;
      EXPECT_TRUE(ChangesBothInPlace(kernel, c.problem)) << kernel.key << "\n" << c.name;
      const Buffers got = InPlaceRun(c, [&](std::vector<void*>& addresses) {
        cpu::RunSerial(kernel.key, c.problem, addresses.data());
      });
      EXPECT_EQ(Difference(c, got, want), "") << kernel.key << "\n" << c.name;
    }
  }
  EXPECT_GT(runs, 300);
}

TEST(AppendInPlace, CudaKernelsWriteTheNewRows) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Case c = AppendCase(seed);
    const Buffers want = RunReference(c);
    for (const KernelOption& option : DeviceOptions(c.problem, *abi::FindDevice("cuda"))) {
      EXPECT_TRUE(ChangesBothInPlace(*option.kernel, c.problem)) << option.Name();
      auto kernel = EmulatedKernel::Make(*option.kernel, c.problem, option.candidate.variant);
      ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
      const Buffers got = InPlaceRun(c, [&](std::vector<void*>& addresses) {
        const Status ran = (*kernel)->Run(addresses);
        EXPECT_TRUE(ran.ok()) << ran.ToString();
      });
      EXPECT_EQ(Difference(c, got, want), "") << option.Name() << "\n" << c.name;
    }
  }
}

// Caches of other views, or of another element size, are no places for the new ones.
TEST(AppendInPlace, OnlyOfEqualViews) {
  for (const abi::KernelInfo& kernel : abi::KernelsOf(abi::Family::kAppend)) {
    abi::Problem p = AppendCase(3).problem;
    ASSERT_TRUE(ChangesBothInPlace(kernel, p));
    p.inputs[abi::kAppendValues].offset += 1;
    EXPECT_TRUE(kernel.in_place(p, abi::kAppendKeys)) << kernel.key;
    EXPECT_FALSE(kernel.in_place(p, abi::kAppendValues)) << kernel.key;
    p.inputs[abi::kAppendKeys].offset += 1;
    EXPECT_FALSE(kernel.in_place(p, abi::kAppendKeys)) << kernel.key;
  }
}

}  // namespace
}  // namespace aicf::conformance
