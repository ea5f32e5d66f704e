// What the products on Hopper's own instructions refuse of operands of 8 bits, each rule broken
// once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kGemm = "cuda.gemm.hopper";
constexpr const char* kConv = "cuda.conv.hopper";

// [256, 2048] x [2048, 128], both along k; B in the model's order with `across`.
Problem ByteGemm(DType a, DType b, MathMode math = MathMode::kFp32, bool across = false) {
  const Dims order = across ? Dims{128, 1} : Dims{1, 2048};
  Problem p = ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                        {DenseView(a, {256, 2048}), {b, {2048, 128}, order, 0}},
                        {DenseView(IsFloat(a) ? DType::kF32 : DType::kI32, {256, 128})});
  p.math = math;
  return p;
}

// A window of 3 x 3 over [2, 64, 16, 16], channels and weights along the input's channels, or with
// the output's channels innermost.
Problem ByteConv(DType x, DType w, bool outputs_innermost = false) {
  const auto last = [](DType dtype, const Dims& s) {
    return View{dtype, s, {s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]}, 0};
  };
  ConvAttrs a;
  a.strides = a.dilations = a.pads_begin = a.pads_end = {1, 1};
  View weights = last(w, {128, 64, 3, 3});
  if (outputs_innermost) weights.strides = {1, 128, 3 * 64 * 128, 64 * 128};
  return ProblemOf(Family::kConv, a, 2, {last(x, {2, 64, 16, 16}), weights},
                   {last(DType::kI32, {2, 128, 16, 16})});
}

TEST(CudaRefusals, OfTheHopperProductOfBytes) {
  using enum MathMode;
  for (const DType a : {DType::kI8, DType::kU8}) {
    for (const DType b : {DType::kI8, DType::kU8})
      EXPECT_EQ(Unsupported(kGemm, ByteGemm(a, b)), "");
  }
  EXPECT_EQ(Unsupported(kGemm, ByteGemm(DType::kF8E4M3FN, DType::kF8E4M3FN, kFp8)), "");
  EXPECT_EQ(Unsupported(kGemm, ByteGemm(DType::kF8E5M2, DType::kF8E5M2, kFp8)), "");
  const char* types = "f8e4m3fn and f8e5m2 in fp8, and integers of 8 bits";
  ExpectUnsupported(kGemm, ByteGemm(DType::kI8, DType::kI4), types);
  ExpectUnsupported(kGemm, ByteGemm(DType::kU16, DType::kU8), types);
  ExpectUnsupported(kGemm, ByteGemm(DType::kF8E4M3FN, DType::kF8E4M3FN, kFp32), types);
  ExpectUnsupported(kGemm, ByteGemm(DType::kF8E4M3FNUZ, DType::kF8E4M3FNUZ, kFp8), types);
  ExpectUnsupported(kGemm, ByteGemm(DType::kU8, DType::kI8, kFp32, true),
                    "operand 1 is i8 and not contiguous along k");
}

TEST(CudaRefusals, OfTheHopperProductsSumsInParts) {
  Edits base = HopperProductTile();
  for (Parameter& p : base) p.value = p.name == "tile_k" ? 128 : p.value;
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  const Problem floats = ByteGemm(DType::kF8E4M3FN, DType::kF8E4M3FN, MathMode::kFp8);
  const auto three = [&](int64_t n, int64_t promote) {
    return with({{"tile_m", 192}, {"tile_n", n}, {"consumers", 3}, {"promote", promote}});
  };
  EXPECT_EQ(Refused(kGemm, floats, with({{"promote", 1}})), "");
  EXPECT_EQ(Refused(kGemm, floats, with({{"tile_n", 192}, {"promote", 1}})), "");
  EXPECT_EQ(Refused(kGemm, floats, with({{"tile_m", 256}, {"promote", 1}})), "");
  EXPECT_EQ(Refused(kGemm, floats, three(128, 1)), "");
  ExpectParametersRefused(
      kGemm, floats,
      {{"256 sums of a thread are above 192", with({{"tile_n", 256}, {"promote", 1}})},
       {"160 sums of a thread are above 128", three(160, 1)},
       {"128 sums of a thread are above 96", three(256, 0)},
       {"takes 128 bytes along k, not 64", with({{"tile_k", 64}})}});
  const Problem integers = ByteGemm(DType::kU8, DType::kI8);
  EXPECT_EQ(Refused(kGemm, integers, base), "");
  ExpectParametersRefused(kGemm, integers,
                          {{"sums of float8 alone are added in parts", with({{"promote", 1}})}});
}

TEST(CudaRefusals, OfTheHopperConvolutionOfBytes) {
  const Problem p = ByteConv(DType::kU8, DType::kI8);
  const Edits base = {{"tile_m", 64}, {"tile_n", 64},   {"tile_k", 64}, {"tile_w", 8},
                      {"tile_h", 8},  {"tile_b", 1},    {"flat", 0},    {"stages", 5},
                      {"split", 1},   {"consumers", 1}, {"swap", 0},    {"ping_pong", 0},
                      {"vector", 8},  {"blocks", 16}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  EXPECT_EQ(Refused(kConv, p, base), "");
  EXPECT_EQ(Refused(kConv, p, with({{"tile_m", 112}, {"tile_h", 14}, {"swap", 1}})), "");
  // The tensor cores have no integer products of 56 columns.
  ExpectParametersRefused(
      kConv, p, {{"56 columns are none", with({{"tile_m", 56}, {"tile_h", 7}, {"swap", 1}})}});
  ExpectUnsupported(kConv, ByteConv(DType::kU8, DType::kI8, true),
                    "i8 weights are not contiguous along k");
  ExpectUnsupported(kConv, ByteConv(DType::kI16, DType::kI8), "and integers of 8 bits");
}

}  // namespace
}  // namespace aicf
