// What a step may record about how its kernel runs it, beyond what the verifier's tests break.
#include <gtest/gtest.h>

#include "kernels/abi/choice.h"
#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

const DeviceSpec& Device() {
  static const DeviceSpec device = *FindDevice("cuda");
  return device;
}

Problem Fp16Product() {
  Problem p = ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                        {DenseView(DType::kF16, {256, 64}), DenseView(DType::kF16, {64, 128})},
                        {DenseView(DType::kF16, {256, 128})});
  p.math = MathMode::kFp16;
  return p;
}

TEST(CheckVariant, AWorkspaceMayBeLargerNotSmaller) {
  const Problem sum = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {1}, false}, 1,
                                {F32({4, 4096})}, {F32({4, 1})});
  const KernelInfo& kernel = *FindKernel("cuda.reduce.rows");
  Variant v = kernel.variant(
      sum, {{"lanes", 256}, {"results_per_block", 1}, {"cluster", 2}, {"blocks", 8}});
  ASSERT_GT(v.workspace_bytes, 0u);
  EXPECT_EQ(CheckVariant(kernel, sum, v, Device()), "");
  v.workspace_bytes += 1;
  EXPECT_EQ(CheckVariant(kernel, sum, v, Device()), "");
  v.workspace_bytes -= 2;
  EXPECT_NE(CheckVariant(kernel, sum, v, Device()).find("bytes, it needs"), std::string::npos);
}

TEST(CheckVariant, ALibrarysWorkspaceIsBounded) {
  const KernelInfo& kernel = *FindKernel("cublaslt.matmul");
  Variant v;
  v.workspace_bytes = kernel.workspace_bytes(Fp16Product(), Device());
  EXPECT_EQ(CheckVariant(kernel, Fp16Product(), v, Device()), "");
  v.workspace_bytes += 1;
  EXPECT_NE(CheckVariant(kernel, Fp16Product(), v, Device()).find("the library may use"),
            std::string::npos);
}

// A host function that gives an illegal map is found by the map's own rules.
TEST(CheckVariant, ItsOwnTensorMapsAreChecked) {
  KernelInfo kernel = *FindKernel("cuda.gemm.hopper");
  const Parameters parameters = BestCandidate(kernel, Fp16Product(), Device())->variant.parameters;
  EXPECT_EQ(
      CheckVariant(kernel, Fp16Product(), kernel.variant(Fp16Product(), parameters), Device()), "");
  kernel.derive = [](const Problem& p, const Parameters& c) {
    DerivedVariant derived = FindKernel("cuda.gemm.hopper")->derive(p, c);
    derived.tensor_maps[1].extents[0] += 8;
    return derived;
  };
  const Variant v = kernel.variant(Fp16Product(), parameters);
  EXPECT_NE(CheckVariant(kernel, Fp16Product(), v, Device()).find("tensor map 1: it spans bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace aicf::abi
