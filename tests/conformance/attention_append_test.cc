// Attention that appends a row of each request: cuda.attention.decode executed on this machine
// against the reference, with pools of their own for what it stores, and in place.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/abi/attention.h"
#include "tests/conformance/aligned_memory.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

using abi::MathMode;

constexpr const char* kAppendingKernel = "cuda.attention.decode";

// Blocks alone and in clusters; rings that turn often, and rings that hold all keys. Pools and
// places are read before the wait for the preceding kernel, or after it.
const abi::Parameters kAppendingVariants[] = {
    {{"split", 1}, {"warps", 1}, {"stages", 2}, {"tile_keys", 16}, {"ahead", 0}},
    {{"split", 2}, {"warps", 2}, {"stages", 3}, {"tile_keys", 16}, {"ahead", 1}},
    {{"split", 4}, {"warps", 4}, {"stages", 2}, {"tile_keys", 32}, {"ahead", 1}},
    {{"split", 1}, {"warps", 8}, {"stages", 4}, {"tile_keys", 16}, {"ahead", 0}}};

Case AppendingCase(uint64_t seed) {
  CaseOptions options;
  options.math = {MathMode::kFp16, MathMode::kBf16};
  options.appends = true;
  return RandomCase(abi::Family::kAttention, seed, options);
}

class EmulatedAppendingDecode : public testing::TestWithParam<size_t> {
 protected:
  // The cases from `seed` on that the kernel takes with this variant's parameters.
  template <class Run>
  void ForCases(uint64_t seed, int count, const Run& run) {
    const abi::DeviceSpec device = *abi::FindDevice("cuda");
    const abi::KernelInfo& kernel = *abi::FindKernel(kAppendingKernel);
    const abi::Parameters& parameters = kAppendingVariants[GetParam()];
    for (int met = 0; met < count; ++seed) {
      const Case c = AppendingCase(seed);
      if (!kernel.supports(c.problem, device).empty()) continue;
      if (!kernel.refuse(c.problem, parameters, device).empty()) continue;
      ++met;
      run(c, kernel, kernel.variant(c.problem, parameters));
    }
  }
};

TEST_P(EmulatedAppendingDecode, AgreesWithTheReference) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  ForCases(100 * GetParam(), 5,
           [](const Case& c, const abi::KernelInfo& kernel, const abi::Variant& variant) {
             const Result<Buffers> got = EmulatedBuffers(kernel, c, variant);
             ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
             EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
           });
}

// In a plan the pools are a state, which the step changes in place.
TEST_P(EmulatedAppendingDecode, ChangesPoolsInPlace) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  ForCases(100 * GetParam() + 50, 3,
           [](Case c, const abi::KernelInfo& kernel, const abi::Variant& variant) {
             const size_t outputs = c.problem.inputs.size();
             for (size_t pool : {1, 2}) {
               c.problem.outputs[pool] = c.problem.inputs[pool];
               c.buffers[outputs + pool] = c.buffers[pool];
               EXPECT_TRUE(kernel.in_place(c.problem, static_cast<int>(pool)));
             }
             const Buffers want = RunReference(c);
             std::vector<AlignedMemory> memory;
             std::vector<void*> addresses;
             for (const auto& buffer : c.buffers) {
               memory.push_back(AlignedCopy(buffer));
               addresses.push_back(memory.back().get());
             }
             for (size_t pool : {1, 2}) addresses[outputs + pool] = addresses[pool];
             auto emulated = EmulatedKernel::Make(kernel, c.problem, variant);
             ASSERT_TRUE(emulated.ok()) << emulated.status().ToString();
             const Status ran = (*emulated)->Run(addresses);
             ASSERT_TRUE(ran.ok()) << ran.ToString();
             Buffers got = c.buffers;
             for (size_t k = outputs; k < got.size(); ++k) {
               std::memcpy(got[k].data(), addresses[k], got[k].size());
             }
             EXPECT_EQ(Difference(c, got, want), "") << c.name;
           });
}

INSTANTIATE_TEST_SUITE_P(Variants, EmulatedAppendingDecode,
                         testing::Range<size_t>(0, std::size(kAppendingVariants)));

}  // namespace
}  // namespace aicf::conformance
