#include "compiler/codegen/cuda_source.h"
#include "kernels/abi/choice.h"

#include <gtest/gtest.h>

#include <string>

namespace aicf {
namespace {

abi::Problem Scaled(const abi::View& in, const abi::View& out) {
  abi::Problem p;
  p.family = abi::Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {in};
  p.outputs = {out};
  p.core_inputs = 1;
  abi::ExprBuilder b;
  p.epilogue =
      b.Finish({b.Binary(abi::ExprOp::kMul, b.Input(0, DType::kF32), b.Const(2, DType::kF32))});
  return p;
}

std::string SourceOf(std::string_view key, const abi::Problem& p) {
  EXPECT_TRUE(abi::ValidateProblem(p).ok()) << abi::ValidateProblem(p).ToString();
  const abi::KernelInfo* kernel = abi::FindKernel(key);
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  EXPECT_EQ(kernel->supports(p, device), "");
  return WriteCudaSource(*kernel, p, abi::BestCandidate(*kernel, p, device)->variant);
}

std::string SymbolOf(std::string_view key, const abi::Problem& p) {
  const abi::KernelInfo* kernel = abi::FindKernel(key);
  const abi::Variant variant = abi::BestCandidate(*kernel, p, *abi::FindDevice("cuda"))->variant;
  return abi::InstanceSymbol(key, p, variant);
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CudaSource, NamesTheInstanceAndItsFamily) {
  const abi::View v = abi::DenseView(DType::kF32, {512, 512});
  const abi::Problem p = Scaled(v, v);
  const std::string text = SourceOf("cuda.elementwise.map", p);
  EXPECT_TRUE(Has(text, SymbolOf("cuda.elementwise.map", p) + "(")) << text;
  EXPECT_TRUE(Has(text, "#include \"elementwise/map.cuh\"")) << text;
  EXPECT_TRUE(Has(text, "// " + ToString(p))) << text;
  EXPECT_EQ(text, SourceOf("cuda.elementwise.map", p));
}

TEST(CudaSource, DenseOperandsAreWalkedByOneStrideInVectors) {
  const abi::View v = abi::DenseView(DType::kF32, {512, 1024});
  const std::string text = SourceOf("cuda.elementwise.map", Scaled(v, v));
  EXPECT_TRUE(Has(text, "constexpr int kVector = 4;")) << text;
  EXPECT_TRUE(Has(text, "o += i0 * static_cast<index_t>(1ll);")) << text;
}

TEST(CudaSource, BroadcastOperandIsLoadedOncePerVector) {
  abi::View in = abi::DenseView(DType::kF32, {1024, 1024});
  in.strides = {1, 0};
  const std::string text =
      SourceOf("cuda.elementwise.map", Scaled(in, abi::DenseView(DType::kF32, {1024, 1024})));
  EXPECT_TRUE(Has(text, "kRun = 1, kSame = 16;")) << text;
}

TEST(CudaSource, IndexTypeFollowsTheReach) {
  EXPECT_TRUE(Has(SourceOf("cuda.elementwise.map", Scaled(abi::DenseView(DType::kF32, {4}),
                                                          abi::DenseView(DType::kF32, {4}))),
                  "typedef int index_t"));
  abi::View far = abi::DenseView(DType::kF32, {4});
  far.offset = int64_t{1} << 31;
  EXPECT_TRUE(Has(SourceOf("cuda.elementwise.map", Scaled(far, abi::DenseView(DType::kF32, {4}))),
                  "typedef long long index_t"));
}

TEST(CudaSource, AttributesBecomeConstants) {
  abi::Problem p;
  p.family = abi::Family::kPool;
  abi::PoolAttrs a;
  a.kind = abi::PoolKind::kAverage;
  a.kernel = {3, 2};
  a.strides = {2, 1};
  a.dilations = {1, 1};
  a.pads_begin = {1, 0};
  a.pads_end = {1, 0};
  p.attrs = a;
  p.inputs = {abi::DenseView(DType::kF16, {1, 4, 9, 9})};
  p.outputs = {abi::DenseView(DType::kF16, {1, 4, 5, 8})};
  p.core_inputs = 1;
  const std::string text = SourceOf("cuda.pool.window", p);
  EXPECT_TRUE(Has(text, "constexpr int attr_kind = 1;")) << text;
  EXPECT_TRUE(
      Has(text, "attr_kernel(int d) { return static_cast<i64>(d == 0 ? 3ll : d == 1 ? 2ll : 0); }"))
      << text;
  EXPECT_TRUE(Has(text, "constexpr bool attr_count_include_pad = false;")) << text;
  EXPECT_TRUE(Has(text, "typedef float raw_t;")) << text;
}

TEST(CudaSource, ProblemsThatDifferGiveDifferentSymbols) {
  const abi::View v = abi::DenseView(DType::kF32, {64});
  abi::View shifted = v;
  shifted.offset = 4;
  EXPECT_NE(SymbolOf("cuda.elementwise.map", Scaled(v, v)),
            SymbolOf("cuda.elementwise.map", Scaled(shifted, v)));
}

TEST(CudaSource, EmptyExtentsDivideByNothing) {
  abi::View in = abi::DenseView(DType::kF32, {3, 0, 5});
  in.strides = {7, 2, 1};
  abi::View out = in;
  const std::string text = SourceOf("cuda.elementwise.map", Scaled(in, out));
  EXPECT_FALSE(Has(text, "(0ll);\n      r /=")) << text;
  EXPECT_FALSE(Has(text, "/ static_cast<uindex_t>(0ll)")) << text;
  EXPECT_FALSE(Has(text, "/= static_cast<uindex_t>(0ll)")) << text;
}

}  // namespace
}  // namespace aicf
