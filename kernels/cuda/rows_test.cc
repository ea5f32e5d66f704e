// What must hold of every CUDA row, and of what device and host code spell twice.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/block_format.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/kernel.h"
#include "kernels/cuda/common/enums.cuh"
#include "kernels/cuda/common/host.h"
#include "kernels/cuda/embedded.h"

namespace aicf {
namespace {

template <class E>
constexpr bool Equal(int device, E host) {
  return device == static_cast<int>(host);
}
using abi::CoordinateMode;
using abi::MathMode;
using abi::NearestMode;
using abi::NormalizeKind;
using abi::PoolKind;
using abi::ReduceKind;
using abi::ResizeMode;
static_assert(Equal(kFp32, MathMode::kFp32) && Equal(kFp8, MathMode::kFp8) &&
              Equal(kInt8, MathMode::kInt8));
static_assert(Equal(kTf32, MathMode::kTf32) && Equal(kBf16, MathMode::kBf16));
static_assert(Equal(kReduceSum, ReduceKind::kSum) && Equal(kReduceProd, ReduceKind::kProd));
static_assert(Equal(kReduceMin, ReduceKind::kMin) && Equal(kReduceMax, ReduceKind::kMax));
static_assert(Equal(kReduceMean, ReduceKind::kMean) && Equal(kReduceArgMin, ReduceKind::kArgMin));
static_assert(Equal(kReduceArgMax, ReduceKind::kArgMax));
static_assert(Equal(kPoolMax, PoolKind::kMax) && Equal(kPoolAverage, PoolKind::kAverage));
static_assert(Equal(kPoolLp, PoolKind::kLp));
static_assert(Equal(kSoftmax, NormalizeKind::kSoftmax) &&
              Equal(kLogSoftmax, NormalizeKind::kLogSoftmax));
static_assert(Equal(kLayerNorm, NormalizeKind::kLayerNorm) &&
              Equal(kRmsNorm, NormalizeKind::kRmsNorm));
static_assert(Equal(kNearest, ResizeMode::kNearest) && Equal(kCubic, ResizeMode::kCubic));
static_assert(Equal(kLinear, ResizeMode::kLinear) && Equal(kHalfPixel, CoordinateMode::kHalfPixel));
static_assert(Equal(kPytorchHalfPixel, CoordinateMode::kPytorchHalfPixel));
static_assert(Equal(kAlignCorners, CoordinateMode::kAlignCorners));
static_assert(Equal(kAsymmetric, CoordinateMode::kAsymmetric));
static_assert(Equal(kHalfPixelSymmetric, CoordinateMode::kHalfPixelSymmetric));
static_assert(Equal(kTfHalfPixelForNN, CoordinateMode::kTfHalfPixelForNN));
static_assert(Equal(kRoundPreferFloor, NearestMode::kRoundPreferFloor));
static_assert(Equal(kRoundPreferCeil, NearestMode::kRoundPreferCeil));
static_assert(Equal(kFloor, NearestMode::kFloor) && Equal(kCeil, NearestMode::kCeil));

using abi::GatherKind;
using abi::RoiKind;
using abi::RowOrigin;
using abi::SamplePadding;
using abi::ScanKind;
using abi::ScatterKind;
using abi::ScatterReduction;
static_assert(Equal(kGatherTake, GatherKind::kTake) &&
              Equal(kGatherElements, GatherKind::kElements) &&
              Equal(kGatherPoints, GatherKind::kPoints));
static_assert(Equal(kScatterElements, ScatterKind::kElements) &&
              Equal(kScatterPoints, ScatterKind::kPoints));
static_assert(Equal(kScatterNone, ScatterReduction::kNone) &&
              Equal(kScatterAdd, ScatterReduction::kAdd) &&
              Equal(kScatterMul, ScatterReduction::kMul) &&
              Equal(kScatterMin, ScatterReduction::kMin) &&
              Equal(kScatterMax, ScatterReduction::kMax));
static_assert(Equal(kScanSum, ScanKind::kSum) && Equal(kScanProd, ScanKind::kProd));
static_assert(Equal(kPadZeros, SamplePadding::kZeros) &&
              Equal(kPadBorder, SamplePadding::kBorder) &&
              Equal(kPadReflection, SamplePadding::kReflection));
static_assert(Equal(kRoiAlignAverage, RoiKind::kAlignAverage) &&
              Equal(kRoiAlignMax, RoiKind::kAlignMax) && Equal(kRoiPoolMax, RoiKind::kPoolMax));

static_assert(Equal(kRowsFixed, RowOrigin::kFixed) &&
              Equal(kRowsAtLastKeys, RowOrigin::kLastKeys) &&
              Equal(kRowsByOperand, RowOrigin::kOperand));

using abi::CellActivation;
using abi::CellKind;
using abi::Direction;
static_assert(Equal(kCellRnn, CellKind::kRnn) && Equal(kCellGru, CellKind::kGru) &&
              Equal(kCellLstm, CellKind::kLstm));
static_assert(Equal(kForwardDirection, Direction::kForward) &&
              Equal(kReverseDirection, Direction::kReverse) &&
              Equal(kBothDirections, Direction::kBidirectional));
static_assert(Equal(kTanhFunction, CellActivation::kTanh) &&
              Equal(kSigmoidFunction, CellActivation::kSigmoid) &&
              Equal(kReluFunction, CellActivation::kRelu) &&
              Equal(kAffineFunction, CellActivation::kAffine) &&
              Equal(kLeakyReluFunction, CellActivation::kLeakyRelu) &&
              Equal(kThresholdedReluFunction, CellActivation::kThresholdedRelu) &&
              Equal(kScaledTanhFunction, CellActivation::kScaledTanh) &&
              Equal(kHardSigmoidFunction, CellActivation::kHardSigmoid) &&
              Equal(kEluFunction, CellActivation::kElu) &&
              Equal(kSoftsignFunction, CellActivation::kSoftsign) &&
              Equal(kSoftplusFunction, CellActivation::kSoftplus));

#define AICF_BLOCK_FORMAT(id, ggml, name, elements, bytes) \
  static_assert(Equal(block_format::id, BlockFormat::id));
#include "base/block_format.def"
#undef AICF_BLOCK_FORMAT

std::vector<const abi::KernelInfo*> CudaRows() {
  std::vector<const abi::KernelInfo*> rows;
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    for (const abi::KernelInfo& k : abi::KernelsOf(static_cast<abi::Family>(f))) {
      if (k.backend == abi::Backend::kCuda) rows.push_back(&k);
    }
  }
  return rows;
}

TEST(CudaRows, KeysAreUniqueAndSourcesAreEmbedded) {
  std::set<std::string_view> keys, sources;
  for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) sources.insert(s.name);
  for (const abi::KernelInfo* k : CudaRows()) {
    EXPECT_TRUE(keys.insert(k->key).second) << k->key;
    EXPECT_TRUE(sources.contains(k->source)) << k->key << " names " << k->source;
    const std::string prefix = StrCat("cuda.", abi::FamilyName(k->family), ".");
    EXPECT_TRUE(k->key.starts_with(prefix)) << k->key;
    EXPECT_NE(k->derive, nullptr) << k->key;
    EXPECT_FALSE(k->parameters.empty()) << k->key;
  }
}

TEST(CudaRows, EveryFamilyHasOne) {
  std::set<abi::Family> families;
  for (const abi::KernelInfo* k : CudaRows()) families.insert(k->family);
  EXPECT_EQ(families.size(), static_cast<size_t>(abi::kFamilyCount));
}

TEST(CudaRows, DeviceSourcesHoldNoHostCodeAndNoSystemHeaders) {
  // One thin function per instruction; every other file is portable C++.
  const std::set<std::string_view> kWrappers = {"common/cluster.cuh", "common/mbarrier.cuh",
                                                "common/ptx.cuh",     "common/rounded_pair.cuh",
                                                "common/tma.cuh",     "common/shared_words.cuh",
                                                "common/wgmma.cuh",   "common/wgmma_bytes.cuh"};
  for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) {
    EXPECT_EQ(s.text.find("#include <"), std::string_view::npos) << s.name;
    EXPECT_NE(s.text.find("#pragma once"), std::string_view::npos) << s.name;
    const bool assembly = s.text.find("asm") != std::string_view::npos;
    EXPECT_EQ(assembly, kWrappers.contains(s.name)) << s.name;
  }
}

TEST(CudaRows, ProductKernelsConsiderTheirTiles) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.math = abi::MathMode::kTf32;
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF32, {64, 96}), abi::DenseView(DType::kF32, {96, 80})};
  p.outputs = {abi::DenseView(DType::kF32, {64, 80})};
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::set<std::string> rows;
  for (const char* key : {"cuda.gemm.tiled", "cuda.gemm.tensor"}) {
    for (const abi::Candidate& c : CandidatesOf(*abi::FindKernel(key), p, device)) {
      EXPECT_TRUE(rows.insert(c.row).second) << c.row;
      EXPECT_EQ(CheckVariant(*abi::FindKernel(key), p, c.variant, device), "");
    }
  }
  EXPECT_TRUE(rows.contains("cuda.gemm.tiled_64x32"));
  EXPECT_TRUE(rows.contains("cuda.gemm.tensor_128x128"));
}

TEST(CudaRows, OtherDevicesAreRefusedWithASentence) {
  abi::Problem p;
  p.family = abi::Family::kTopK;
  p.attrs = abi::TopKAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {4})};
  p.outputs = {abi::DenseView(DType::kF32, {1}), abi::DenseView(DType::kI64, {1})};
  p.core_inputs = 1;
  const abi::KernelInfo* k = abi::FindKernel("cuda.topk.select");
  EXPECT_EQ(k->supports(p, *abi::FindDevice("cuda")), "");
  EXPECT_NE(k->supports(p, *abi::FindDevice("cpu")), "");
  abi::DeviceSpec other = *abi::FindDevice("cuda");
  other.sm = 75;
  EXPECT_NE(k->supports(p, other), "");
  other = *abi::FindDevice("cuda");
  other.backend = abi::Backend::kCpu;
  EXPECT_NE(k->supports(p, other), "");
}

// A product, a convolution or an attention that the Hopper kernels take.
abi::Problem ForWarpgroups(abi::Family family) {
  abi::Problem p;
  p.family = family;
  p.math = abi::MathMode::kFp16;
  p.core_inputs = 2;
  const auto f16 = [](const Dims& shape) { return abi::DenseView(DType::kF16, shape); };
  if (family == abi::Family::kGemm) {
    p.attrs = abi::GemmAttrs{};
    p.inputs = {f16({128, 64}), f16({64, 128})};
    p.outputs = {f16({128, 128})};
  } else if (family == abi::Family::kAttention) {
    p.attrs = abi::AttentionAttrs{};
    p.core_inputs = 3;
    p.inputs.assign(3, f16({1, 2, 64, 64}));
    p.outputs = {f16({1, 2, 64, 64})};
  } else {
    p.attrs = abi::ConvAttrs{{1, 1}, {1, 1}, {0, 0}, {0, 0}};
    const abi::View pixels{DType::kF16, {1, 64, 8, 8}, {4096, 1, 512, 64}, 0};
    p.inputs = {pixels, {DType::kF16, {64, 64, 1, 1}, {64, 1, 64, 64}, 0}};
    p.outputs = {pixels};
  }
  return p;
}

TEST(CudaRows, WarpgroupsAreRefusedWhereThereAreNone) {
  for (const auto& [key, family] : {std::pair{"cuda.gemm.hopper", abi::Family::kGemm},
                                    std::pair{"cuda.conv.hopper", abi::Family::kConv},
                                    std::pair{"cuda.attention.hopper", abi::Family::kAttention}}) {
    const abi::KernelInfo& kernel = *abi::FindKernel(key);
    const abi::Problem p = ForWarpgroups(family);
    EXPECT_EQ(kernel.supports(p, *abi::FindDevice("cuda")), "") << key;
    EXPECT_NE(kernel.supports(p, *abi::FindDevice("cuda:sm_100a")).find("warpgroups (wgmma)"),
              std::string::npos)
        << key;
  }
}

TEST(CudaRows, ParametersWhoseLaunchTheDeviceLacksAreRefused) {
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.gemm.hopper");
  const abi::Problem p = ForWarpgroups(abi::Family::kGemm);
  abi::DeviceSpec device = *abi::FindDevice("cuda");
  const abi::Parameters shared({{"tile_m", 64},
                                {"tile_n", 64},
                                {"tile_k", 64},
                                {"stages", 4},
                                {"cluster_m", 2},
                                {"cluster", 2},
                                {"consumers", 1},
                                {"group_m", 1},
                                {"swap", 0},
                                {"ping_pong", 0},
                                {"vector", 8},
                                {"blocks", 4},
                                {"split", 1},
                                {"ahead", 0}});
  EXPECT_EQ(kernel.refuse(p, shared, device), "");
  device.max_cluster = 1;
  EXPECT_NE(kernel.refuse(p, shared, device).find("takes clusters of 2 blocks"), std::string::npos);
}

// So that the compiler puts products and a softmax in the step's place.
TEST(CudaRows, AttentionThatFitsNoTileOfTheDeviceIsRefusedAtOnce) {
  abi::Problem p;
  p.family = abi::Family::kAttention;
  p.attrs = abi::AttentionAttrs{};
  p.core_inputs = 3;
  p.inputs.assign(3, abi::DenseView(DType::kF64, {1, 2, 16, 256}));
  p.outputs = {abi::DenseView(DType::kF64, {1, 2, 16, 256})};
  const abi::KernelInfo& general = *abi::FindKernel("cuda.attention.general");
  const abi::DeviceSpec small = *abi::FindDevice("cuda:sm_86");
  EXPECT_EQ(general.supports(p, *abi::FindDevice("cuda")), "");
  EXPECT_NE(general.supports(p, small).find("bytes of shared memory, there are 101376"),
            std::string::npos);
  EXPECT_TRUE(abi::CandidatesOf(general, p, small).empty()) << "it was right to refuse";
  p.inputs.assign(3, abi::DenseView(DType::kF64, {1, 2, 16, 160}));
  p.outputs = {abi::DenseView(DType::kF64, {1, 2, 16, 160})};
  EXPECT_EQ(general.supports(p, small), "");
  ASSERT_EQ(abi::CandidatesOf(general, p, small).size(), 1u);
  EXPECT_EQ(abi::CandidatesOf(general, p, small)[0].variant.parameters["tile_rows"], 8);
}

TEST(CudaRows, ALaunchFitsTheDeviceOrIsRefusedWithASentence) {
  const abi::DeviceSpec a100 = *abi::FindDevice("cuda:sm_80");
  const abi::DeviceSpec b200 = *abi::FindDevice("cuda:sm_100a");
  const auto most = static_cast<uint32_t>(a100.max_shared_bytes);
  EXPECT_EQ(cuda::RefuseLaunchOn(a100, {{4, 1, 1}, {32, 1, 1}, {1, 1, 1}, most}), "");
  EXPECT_EQ(cuda::RefuseLaunchOn(a100, {{4, 1, 1}, {32, 1, 1}, {1, 1, 1}, most + 1}),
            StrCat("needs ", most + 1, " bytes of shared memory, there are ", most));
  EXPECT_EQ(cuda::RefuseLaunchOn(a100, {{4, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0}),
            "takes clusters of 2 blocks, cuda:sm_80 has none");
  EXPECT_EQ(cuda::RefuseLaunchOn(b200, {{8, 1, 1}, {32, 1, 1}, {4, 2, 1}, 0}), "");
  EXPECT_EQ(cuda::RefuseLaunchOn(b200, {{16, 1, 1}, {32, 1, 1}, {8, 1, 2}, 0}),
            "takes clusters of 16 blocks, cuda:sm_100a has at most 8");
}

}  // namespace
}  // namespace aicf
