// The other GPUs that plans are made for: what a device's specification allows is what its
// candidates use, their device code compiles, and executed on this machine it agrees with the
// reference.
#include <gtest/gtest.h>

#include <set>

#include "compiler/codegen/images.h"
#include "compiler/codegen/nvrtc.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"
#include "tests/conformance/options.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::MathMode;

const std::set<std::string_view> kHopperKernels = {
    "cuda.attention.hopper", "cuda.blockgemm.stream", "cuda.conv.hopper",
    "cuda.gemm.hopper",      "cuda.gemm.stream",      "cuda.gemm.stream_rows"};

CaseOptions MathOf(uint64_t seed) {
  CaseOptions o;
  if (seed % 2 == 1) o.math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16};
  return o;
}

std::string NameOfTarget(std::string_view arch) { return StrCat("cuda:", arch); }

class Target : public testing::TestWithParam<abi::CudaTarget> {
 protected:
  const abi::DeviceSpec device_ = *abi::FindDevice(NameOfTarget(GetParam().arch));
};

TEST_P(Target, EveryProblemIsTakenAndEveryCandidateIsLegal) {
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    for (uint64_t seed = 0; seed < 24; ++seed) {
      const Case c = RandomCase(static_cast<Family>(f), seed, MathOf(seed));
      const std::vector<KernelOption> options = DeviceOptions(c.problem, device_);
      EXPECT_FALSE(options.empty()) << c.name;
      for (const KernelOption& o : options) {
        const abi::Variant& v = o.candidate.variant;
        EXPECT_EQ(abi::CheckVariant(*o.kernel, c.problem, v, device_), "") << o.Name() << c.name;
        EXPECT_LE(v.launch.cluster[0], static_cast<uint32_t>(device_.max_cluster)) << o.Name();
        EXPECT_EQ(v.launch.cluster[1] * v.launch.cluster[2], 1u) << o.Name();
        EXPECT_LE(v.launch.dynamic_shared_bytes, static_cast<uint32_t>(device_.max_shared_bytes));
      }
    }
  }
}

// A long sum is shared out among blocks, and taken by fewer where the device has no clusters.
TEST_P(Target, ClustersAreAsLargeAsTheDeviceAllows) {
  abi::Problem p;
  p.family = Family::kReduce;
  p.attrs = abi::ReduceAttrs{.axes = {0}};
  p.core_inputs = 1;
  p.inputs = {abi::DenseView(DType::kF32, {int64_t{1} << 24})};
  p.outputs = {abi::DenseView(DType::kF32, {})};
  const abi::KernelInfo& rows = *abi::FindKernel("cuda.reduce.rows");
  const auto best = abi::BestCandidate(rows, p, device_);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->variant.launch.cluster[0], static_cast<uint32_t>(device_.max_cluster));
  const abi::DeviceSpec h200 = *abi::FindDevice("cuda");
  const abi::Variant large = abi::BestCandidate(rows, p, h200)->variant;
  const std::string refusal = abi::CheckVariant(rows, p, large, device_);
  const std::string limit = device_.max_cluster == 1 ? " has none" : " has at most 8";
  const bool same = device_.name == h200.name;
  EXPECT_EQ(refusal, same ? "" : StrCat("takes clusters of 16 blocks, ", device_.name, limit));
}

// Variants.EveryVariantIsMet shows that a device that lacks nothing takes them.
TEST_P(Target, HopperKernelsSayWhatTheDeviceLacks) {
  if (device_.warpgroup_products) return;
  const std::string lacks = StrCat(
      "multiplies by warpgroups (wgmma), which only sm_90a has, the device is ", device_.name);
  const std::string lacks_copies =
      StrCat("fills its ring by Hopper's bulk copies, the device is ", device_.name);
  for (const Family family :
       {Family::kGemm, Family::kConv, Family::kAttention, Family::kBlockGemm}) {
    int asked = 0;
    for (uint64_t seed = 1; seed < 40; seed += 2) {
      const Case c = RandomCase(family, seed, MathOf(seed));
      for (const abi::KernelInfo& k : abi::KernelsOf(family)) {
        if (!kHopperKernels.contains(k.key)) continue;
        const bool streams = k.key.ends_with(".stream");
        EXPECT_EQ(k.supports(c.problem, device_), streams ? lacks_copies : lacks) << k.key;
        asked += family != Family::kGemm || k.key.ends_with(".hopper") ? 1 : 0;
      }
    }
    EXPECT_EQ(asked, 20) << "one Hopper kernel in each of the families, and more for products";
  }
}

// Whether to compile the kernel for this target. All are compiled for the oldest instructions and
// for the newest ones; for those in between, to save time, only kernels that use instructions of
// their own. nvcc_test.cc compiles every variant for the target that is measured.
bool IsCompiled(const abi::KernelInfo& kernel, const abi::CudaTarget& target) {
  if (kernel.backend != abi::Backend::kCuda || kHopperKernels.contains(kernel.key)) return false;
  const std::set<std::string_view> special = {"cuda.attention.tensor", "cuda.conv.tensor",
                                              "cuda.gemm.tensor", "cuda.normalize.rows",
                                              "cuda.reduce.rows"};
  return target.arch == "sm_80" || target.arch == "sm_120" || special.contains(kernel.key);
}

// One instance of each kernel.
TEST_P(Target, NvrtcCompilesItsKernels) {
  if (const auto nvrtc = Nvrtc::Open(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  if (GetParam().measured) return;
  std::set<std::string_view> missing;
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<ImageRequest> requests;
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    const auto family = static_cast<Family>(f);
    for (const abi::KernelInfo& k : abi::KernelsOf(family)) {
      if (IsCompiled(k, GetParam())) missing.insert(k.key);
    }
    for (uint64_t seed = 0; seed < 60; ++seed) {
      cases.push_back(std::make_unique<Case>(RandomCase(family, seed, MathOf(seed))));
      const abi::Problem& p = cases.back()->problem;
      for (const KernelOption& o : DeviceOptions(p, device_)) {
        if (missing.erase(o.kernel->key) == 0) continue;
        requests.push_back({o.kernel, &p, o.candidate.variant});
      }
    }
  }
  EXPECT_TRUE(missing.empty()) << "no case for " << *missing.begin();
  ImageOptions options;
  options.cache_dir = "none";
  const auto images = CompileImages(requests, device_, options);
  ASSERT_TRUE(images.ok()) << images.status().ToString();
  for (const CompiledImage& image : images->images) {
    EXPECT_EQ(image.arch, GetParam().arch);
    EXPECT_GT(image.cubin.size(), 1000u) << image.symbol;
  }
  const auto guard = CompileGuardImage(device_, options);
  ASSERT_TRUE(guard.ok()) << guard.status().ToString();
}

INSTANTIATE_TEST_SUITE_P(Cuda, Target, testing::ValuesIn(abi::CudaTargets()),
                         [](const testing::TestParamInfo<abi::CudaTarget>& i) {
                           return std::string(i.param.arch);
                         });

// The device whose limits differ most from the measured one: no clusters, little shared memory.
TEST(OtherTargets, TheirVariantsAgreeWithTheReference) {
  if (!CanEmulate()) {
    GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  }
  const abi::DeviceSpec device = *abi::FindDevice("cuda:sm_86");
  for (const Family family : {Family::kGemm, Family::kConv, Family::kAttention, Family::kReduce,
                              Family::kNormalize, Family::kRecurrent, Family::kNms}) {
    CaseOptions o = MathOf(1);
    o.max_elements = 1500;
    const Case c = RandomCase(family, 5, o);
    const std::vector<KernelOption> options = DeviceOptions(c.problem, device);
    ASSERT_FALSE(options.empty()) << c.name;
    const KernelOption& option = options.back();
    const Result<Buffers> got = EmulatedBuffers(*option.kernel, c, option.candidate.variant);
    ASSERT_TRUE(got.ok()) << option.Name() << "\n" << c.name << "\n" << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << option.Name() << "\n" << c.name;
  }
}

}  // namespace
}  // namespace aicf::conformance
