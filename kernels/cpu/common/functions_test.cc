#include "kernels/cpu/functions.h"
#include "kernels/abi/choice.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/cpu/common/host.h"

namespace aicf::cpu {
namespace {

template <class F>
void ForEachCpuRow(F&& f) {
  for (int family = 0; family < abi::kFamilyCount; ++family) {
    for (const abi::KernelInfo& info : abi::KernelsOf(static_cast<abi::Family>(family))) {
      if (info.backend == abi::Backend::kCpu) f(static_cast<abi::Family>(family), info);
    }
  }
}

TEST(Functions, EveryCpuKeyHasAFunctionAndHostFunctions) {
  std::set<std::string> keys;
  ForEachCpuRow([&](abi::Family family, const abi::KernelInfo& info) {
    EXPECT_NE(FindFunction(info.key), nullptr) << info.key;
    EXPECT_TRUE(keys.insert(std::string(info.key)).second) << info.key << " twice";
    EXPECT_EQ(info.family, family) << info.key;
    const std::string prefix = StrCat("cpu.", abi::FamilyName(family), ".");
    EXPECT_EQ(info.key.substr(0, prefix.size()), prefix);
    EXPECT_NE(info.supports, nullptr) << info.key;
    EXPECT_NE(info.workspace_bytes, nullptr) << info.key;
    EXPECT_NE(info.in_place, nullptr) << info.key;
    EXPECT_TRUE(info.deterministic) << info.key;
    EXPECT_EQ(info.derive, nullptr) << info.key;
  });
  EXPECT_GE(keys.size(), 20u);
}

TEST(Functions, TheReferenceIsLastInEveryFamily) {
  for (int family = 0; family < abi::kFamilyCount; ++family) {
    std::string_view last;
    ForEachCpuRow([&](abi::Family f, const abi::KernelInfo& info) {
      if (static_cast<int>(f) == family) last = info.key;
    });
    EXPECT_EQ(last, abi::ReferenceKey(static_cast<abi::Family>(family)));
  }
}

TEST(Functions, UnknownKeysHaveNone) {
  for (std::string_view key :
       {"", "cpu.", "cpu.elementwise", "cpu.elementwise.avx1024", "cuda.copy"}) {
    EXPECT_EQ(FindFunction(key), nullptr) << key;
  }
}

abi::Problem AddProblem(int64_t n) {
  abi::Problem p;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {n}), abi::DenseView(DType::kF32, {n})};
  p.outputs = {abi::DenseView(DType::kF32, {n})};
  p.core_inputs = 2;
  abi::ExprBuilder b;
  p.epilogue =
      b.Finish({b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  return p;
}

TEST(Functions, VariantsRefuseADeviceWithoutTheirInstructions) {
  const abi::Problem p = AddProblem(10);
  const abi::DeviceSpec baseline = *abi::FindDevice("cpu:baseline");
  const abi::DeviceSpec avx2 = *abi::FindDevice("cpu:avx2");
  const abi::DeviceSpec avx512 = *abi::FindDevice("cpu:avx512");
  const auto refusal = [&](std::string_view key, const abi::DeviceSpec& device) {
    return abi::FindKernel(key)->supports(p, device);
  };
  EXPECT_EQ(refusal("cpu.elementwise.avx512", avx512), "");
  EXPECT_EQ(refusal("cpu.elementwise.avx512", avx2),
            "needs AVX-512, which the device does not have");
  EXPECT_EQ(refusal("cpu.elementwise.avx2", avx2), "");
  EXPECT_EQ(refusal("cpu.elementwise.avx2", baseline),
            "needs AVX2, which the device does not have");
  EXPECT_EQ(refusal("cpu.elementwise.baseline", baseline), "");
  EXPECT_EQ(refusal("cpu.elementwise.ref", baseline), "");
}

TEST(Functions, PredictedCostsPreferTheFasterVariantAndGrow) {
  const abi::DeviceSpec device = *abi::FindDevice("cpu:avx512");
  const auto cost = [&](std::string_view key, int64_t n) {
    return abi::BestCandidate(*abi::FindKernel(key), AddProblem(n), device)->cost_us;
  };
  EXPECT_LE(cost("cpu.elementwise.avx512", 100000), cost("cpu.elementwise.avx2", 100000));
  EXPECT_LE(cost("cpu.elementwise.avx2", 100000), cost("cpu.elementwise.baseline", 100000));
  EXPECT_LT(cost("cpu.elementwise.baseline", 100000), cost("cpu.elementwise.ref", 100000));
  EXPECT_LT(cost("cpu.elementwise.avx512", 1000), cost("cpu.elementwise.avx512", 1000000));
}

TEST(Functions, RunSerialAdds) {
  float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, c[3] = {};
  void* buffers[] = {a, b, c};
  RunSerial("cpu.elementwise.baseline", AddProblem(3), buffers);
  EXPECT_EQ(c[0], 11);
  EXPECT_EQ(c[2], 33);
}

}  // namespace
}  // namespace aicf::cpu
