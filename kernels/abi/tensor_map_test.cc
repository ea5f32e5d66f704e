#include "kernels/abi/tensor_map.h"

#include <gtest/gtest.h>

#include <functional>

namespace aicf::abi {
namespace {

/// A product of bf16 matrices whose A is 70 rows of 96 elements, 128 apart.
Problem StridedProduct() {
  Problem p;
  p.family = Family::kGemm;
  p.attrs = GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {{DType::kBF16, {70, 96}, {128, 1}, 16}, DenseView(DType::kBF16, {96, 64})};
  p.outputs = {DenseView(DType::kF32, {70, 64})};
  return p;
}

TensorMap MapOfA() { return {0, {96, 70}, {1, 128}, {64, 64}, {1, 1}, 16, Swizzle::k128}; }

TEST(TensorMap, ABoxOfTheOperandIsLegal) {
  EXPECT_EQ(CheckTensorMap(MapOfA(), StridedProduct()), "");
  EXPECT_EQ(BoxBytes(MapOfA(), DType::kBF16), 64 * 64 * 2);
  TensorMap output = {2, {64, 70}, {1, 64}, {32, 8}, {1, 1}, 0, Swizzle::k128};
  EXPECT_EQ(CheckTensorMap(output, StridedProduct()), "");
}

TEST(TensorMap, WhatTheEngineOrTheOperandDoesNotAllowIsRefused) {
  struct Fault {
    std::string_view sentence;
    std::function<void(TensorMap&)> edit;
  };
  const Fault faults[] = {
      {"operand 3 is not there", [](TensorMap& m) { m.operand = 3; }},
      {"0 axes", [](TensorMap& m) { m.extents = m.strides = m.box = m.steps = {}; }},
      {"not of one length", [](TensorMap& m) { m.box.push_back(1); }},
      {"extent 0", [](TensorMap& m) { m.extents[1] = 0; }},
      {"extent 4294967297", [](TensorMap& m) { m.extents[1] = (int64_t{1} << 32) + 1; }},
      {"a box of 257", [](TensorMap& m) { m.box[1] = 257; }},
      {"a box of 0", [](TensorMap& m) { m.box[1] = 0; }},
      {"step 9", [](TensorMap& m) { m.steps[1] = 9; }},
      {"innermost axis is not contiguous", [](TensorMap& m) { m.strides[0] = 2; }},
      {"stride 127", [](TensorMap& m) { m.strides[1] = 127; }},
      {"stride -128", [](TensorMap& m) { m.strides[1] = -128; }},
      {"offset 15", [](TensorMap& m) { m.offset = 15; }},
      {"offset -16", [](TensorMap& m) { m.offset = -16; }},
      {"not a multiple of 16", [](TensorMap& m) { m.box[0] = 60; }},
      {"the swizzle allows 64", [](TensorMap& m) { m.swizzle = Swizzle::k64; }},
      {"spans bytes", [](TensorMap& m) { m.offset = 0; }},
      {"spans bytes", [](TensorMap& m) { m.extents[1] = 71; }},
      {"spans bytes", [](TensorMap& m) { m.extents[0] = 97; }},
      {"rounds f32 alone", [](TensorMap& m) { m.tf32 = true; }},
      {"an unknown mode", [](TensorMap& m) { m.swizzle = Swizzle::kCount; }},
      {"an unknown mode", [](TensorMap& m) { m.fill = BoxFill::kCount; }},
      {"6 axes",
       [](TensorMap& m) { m.extents = m.strides = m.box = m.steps = {1, 1, 1, 1, 1, 1}; }},
      {"not of one length", [](TensorMap& m) { m.strides.push_back(128); }},
      {"not of one length", [](TensorMap& m) { m.steps.push_back(1); }},
      {"step 0", [](TensorMap& m) { m.steps[1] = 0; }},
      {"stride 9223372036854775800", [](TensorMap& m) { m.strides[1] = INT64_MAX - 7; }},
      {"stride 549755813888", [](TensorMap& m) { m.strides[1] = int64_t{1} << 39; }},
      {"offset 9223372036854775800", [](TensorMap& m) { m.offset = INT64_MAX - 7; }},
      {"last element is out of range",
       [](TensorMap& m) {
         m.extents[1] = int64_t{1} << 32;
         m.strides[1] = int64_t{1} << 38;
       }},
      {"last element is out of range",
       [](TensorMap& m) {
         m.extents[1] = (int64_t{1} << 24) + 1;
         m.strides[1] = int64_t{1} << 38;
       }},
  };
  for (const Fault& fault : faults) {
    TensorMap m = MapOfA();
    fault.edit(m);
    const std::string refusal = CheckTensorMap(m, StridedProduct());
    EXPECT_NE(refusal.find(fault.sentence), std::string::npos) << fault.sentence << ": " << refusal;
  }
}

TEST(TensorMap, OperandsThatTheEngineDoesNotMoveAreRefused) {
  Problem p = StridedProduct();
  p.inputs[0].dtype = DType::kI16;
  TensorMap m = MapOfA();
  EXPECT_EQ(CheckTensorMap(m, p), "");
  m.fill = BoxFill::kNan;
  EXPECT_EQ(CheckTensorMap(m, p), "fills integers with NaN");
  p.inputs[0].offset = -1;
  EXPECT_NE(CheckTensorMap(MapOfA(), p).find("leaves the buffer's range"), std::string::npos);
}

// Sums and products that wrap would be within the operand, or legal strides.
TEST(TensorMap, NothingWraps) {
  Problem p = StridedProduct();
  p.inputs[0] = DenseView(DType::kF32, {1024});
  const TensorMap stride = {0, {4, 2},        {1, (int64_t{1} << 62) + 4}, {4, 2}, {1, 1},
                            0, Swizzle::kNone};
  EXPECT_NE(CheckTensorMap(stride, p).find("is not a multiple of 16 bytes below"),
            std::string::npos);
  p.inputs[0] = DenseView(DType::kU8, {1024});
  const int64_t far = int64_t{1} << 38, many = (1 << 24) + 1;
  const TensorMap sum = {0, {16, many, many}, {1, far, far}, {16, 1, 1}, {1, 1, 1},
                         0, Swizzle::kNone};
  EXPECT_EQ(CheckTensorMap(sum, p), "its last element is out of range");
}

// The last of 2^63 bytes: one more would be no number.
TEST(TensorMap, TheEndOfTheLastElementIsANumber) {
  Problem p = StridedProduct();
  p.inputs[0] = DenseView(DType::kU8, {128});
  const TensorMap m = {0,
                       {16, int64_t{1} << 30, int64_t{1} << 29},
                       {1, int64_t{1} << 33, 16},
                       {16, 1, 1},
                       {1, 1, 1},
                       0,
                       Swizzle::kNone};
  EXPECT_EQ(CheckTensorMap(m, p), "its last element is out of range");
}

}  // namespace
}  // namespace aicf::abi
