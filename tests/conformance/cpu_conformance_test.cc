// Every CPU variant against the reference kernels, on the cases that the GPU's variants meet too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/functions.h"
#include "tests/conformance/aligned_memory.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;

// Inputs that the variant packs are handed over packed.
Buffers RunVariant(const KernelInfo& kernel, const Case& c) {
  const Buffers buffers = WithPackedInputs(kernel, {}, c);
  std::vector<AlignedMemory> memory;
  std::vector<void*> addresses;
  for (size_t k = 0; k < buffers.size(); ++k) {
    memory.push_back(AlignedCopy(buffers[k]));
    addresses.push_back(memory.back().get());
  }
  cpu::RunSerial(kernel.key, c.problem, addresses.data());
  Buffers got = c.buffers;
  for (size_t k = c.problem.inputs.size(); k < got.size(); ++k) {
    std::memcpy(got[k].data(), addresses[k], got[k].size());
  }
  return got;
}

class CpuConformance : public testing::TestWithParam<int> {};

TEST_P(CpuConformance, VariantsAgreeWithTheReference) {
  const auto family = static_cast<Family>(GetParam());
  const Result<abi::DeviceSpec> device = abi::FindDevice("cpu");
  ASSERT_TRUE(device.ok());
  int runs = 0;
  // Attention has more ways to differ than the others: operands, masks, caches.
  const uint64_t seeds = family == Family::kAttention ? 500 : 60;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    CaseOptions o;
    o.whole_numbers = seed % 4 != 3;
    const Case c = RandomCase(family, seed, o);
    const Buffers want = RunReference(c);
    for (const KernelInfo& k : abi::KernelsOf(family)) {
      if (k.backend != abi::Backend::kCpu || !k.supports(c.problem, *device).empty()) continue;
      ++runs;
      EXPECT_EQ(Difference(c, RunVariant(k, c), want), "") << k.key << "\n" << c.name;
    }
  }
  EXPECT_GE(runs, 60);
}

INSTANTIATE_TEST_SUITE_P(Families, CpuConformance, testing::Range(0, abi::kFamilyCount),
                         [](const testing::TestParamInfo<int>& i) {
                           return std::string(abi::FamilyName(static_cast<Family>(i.param)));
                         });

}  // namespace
}  // namespace aicf::conformance
