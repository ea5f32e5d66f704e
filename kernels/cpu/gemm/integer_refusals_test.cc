// What the kernels of integer products leave to the reference, each rule broken once.
#include <gtest/gtest.h>

#include "kernels/abi/kernel.h"
#include "kernels/abi/validate_faults.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

std::string RefusedIntegers(std::string_view key, const Problem& p) {
  static const DeviceSpec device = *FindDevice("cpu:baseline");
  EXPECT_EQ(ValidateProblem(p).message(), "") << key;
  return FindKernel(key)->supports(p, device);
}

void ExpectRefused(std::string_view key, const Problem& p, std::string_view sentence) {
  const std::string found = RefusedIntegers(key, p);
  EXPECT_NE(found.find(sentence), std::string::npos)
      << key << ", expected: " << sentence << "\nfound: " << found;
}

Problem Product(Family family, Attrs attrs, const View& x, const View& w, const Dims& y) {
  return ProblemOf(family, attrs, 2, {x, w}, {DenseView(DType::kI32, y)});
}

Problem Gemm(DType a, DType b) {
  return Product(Family::kGemm, GemmAttrs{}, DenseView(a, {4, 8}), DenseView(b, {8, 6}), {4, 6});
}

Problem IntegerConv(const Dims& x, const Dims& w, const Dims& y, ConvAttrs attrs) {
  return Product(Family::kConv, attrs, DenseView(DType::kU8, x), DenseView(DType::kI8, w), y);
}

const ConvAttrs kPlain = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, false};
const char* const kGemms[] = {"cpu.gemm.integer_baseline", "cpu.gemm.integer_panels_baseline"};

TEST(CpuRefusals, OfIntegerGemms) {
  for (const char* key : kGemms) {
    for (DType a : {DType::kU8, DType::kI8, DType::kI16}) {
      for (DType b : {DType::kU8, DType::kI8, DType::kI16})
        EXPECT_EQ(RefusedIntegers(key, Gemm(a, b)), "");
      ExpectRefused(key, Gemm(a, DType::kU16), "i8, u8 and i16 only");
      ExpectRefused(key, Gemm(DType::kU16, a), "i8, u8 and i16 only");
    }
    Problem p = Gemm(DType::kU8, DType::kI8);
    p.inputs.resize(2 + 13, DenseView(DType::kI32, {4, 6}));
    ExpectRefused(key, p, "more than 12 epilogue operands");
    p = Gemm(DType::kU8, DType::kI8);
    std::get<GemmAttrs>(p.attrs).halves = 2;
    p.inputs[1] = DenseView(DType::kI8, {8, 12});
    p.epilogue = *ParseExpr("(%0 = in 0 : i32; %1 = in 1 : i32; %2 = mul %0 %1 : i32) -> %2");
    ExpectRefused(key, p, "takes no product in two halves");
  }
}

TEST(CpuRefusals, OfIntegerConvolutions) {
  const char* key = "cpu.conv.integer_baseline";
  const Problem window = IntegerConv({1, 16, 9, 9}, {4, 16, 3, 3}, {1, 4, 9, 9}, kPlain);
  EXPECT_EQ(RefusedIntegers(key, window), "");
  Problem p = window;
  p.inputs[1].dtype = DType::kU16;
  ExpectRefused(key, p, "i8, u8 and i16 only");
  ExpectRefused(key,
                IntegerConv({1, 16, 4, 4}, {16, 4, 3, 3}, {1, 4, 30, 30},
                            {{9, 9}, {1, 1}, {0, 0}, {0, 0}, 1, true}),
                "phases");
  const int64_t many = int64_t{1} << 17;
  ExpectRefused(key, IntegerConv({1, many, 9, 9}, {4, many, 3, 3}, {1, 4, 9, 9}, kPlain), "cells");
}

TEST(CpuRefusals, OfIntegerDepthwiseConvolutions) {
  const char* key = "cpu.conv.depthwise_baseline";
  ConvAttrs grouped = kPlain;
  grouped.group = 8;
  const Problem window = IntegerConv({1, 8, 9, 9}, {8, 1, 3, 3}, {1, 8, 9, 9}, grouped);
  EXPECT_EQ(RefusedIntegers(key, window), "");
  Problem p = window;
  p.inputs.resize(2 + 13, DenseView(DType::kI32, {1, 8, 9, 9}));
  ExpectRefused(key, p, "more than 12 epilogue operands");
  p = window;
  p.inputs[1].dtype = DType::kI16;
  ExpectRefused(key, p, "may not be exact in f32");
  // 255 x 255 x 257 is below 2^24, and one tap more is not.
  grouped.pads_begin = grouped.pads_end = {0, 0};
  EXPECT_EQ(
      RefusedIntegers(key, IntegerConv({1, 8, 1, 300}, {8, 1, 1, 257}, {1, 8, 1, 44}, grouped)),
      "");
  ExpectRefused(key, IntegerConv({1, 8, 1, 300}, {8, 1, 1, 258}, {1, 8, 1, 43}, grouped),
                "may not be exact in f32");
}

}  // namespace
}  // namespace aicf
