// How taps are folded, by numbers: lines, groups of rows, and what cannot be folded. What the
// folded convolution computes is checked by tests/passes/fold-taps.test.
#include "compiler/passes/lowered/folded_taps.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ir/views.h"

namespace aicf {
namespace {

// The first convolution of ResNet-50, of so many pictures.
abi::Problem FirstConvolution(DType dtype, int64_t pictures) {
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.attrs = abi::ConvAttrs{{2, 2}, {1, 1}, {3, 3}, {3, 3}, 1, false};
  p.inputs = {abi::DenseView(dtype, {pictures, 3, 224, 224}), abi::DenseView(dtype, {64, 3, 7, 7})};
  p.outputs = {abi::DenseView(dtype, {pictures, 64, 112, 112})};
  p.core_inputs = 2;
  return p;
}

TEST(FoldedTaps, FillLinesOfFewPictures) {
  const Folded halves = FoldedOf(FirstConvolution(DType::kF16, 1), 8, true);
  EXPECT_EQ(halves.rows, 1);
  EXPECT_EQ(halves.length, 32);  // eight taps of four channels instead of seven
  EXPECT_EQ(halves.groups, 7);
  EXPECT_EQ(halves.height, 0);  // the convolution adds its padding of zeros by itself
  const Folded codes = FoldedOf(FirstConvolution(DType::kU8, 1), 16, false);
  EXPECT_EQ(codes.length, 64);  // of eight channels, so that windows are 16 bytes apart
  EXPECT_EQ(codes.height, 229);
  EXPECT_EQ(codes.first_group, 3);
}

TEST(FoldedTaps, OfManyPicturesHaveGroupsOfRows) {
  const Folded halves = FoldedOf(FirstConvolution(DType::kF16, 32), 8, true);
  EXPECT_EQ(halves.rows, 2);
  EXPECT_EQ(halves.apart, 2);
  EXPECT_EQ(halves.length, 64);
  EXPECT_EQ(halves.groups, 4);
  const Folded codes = FoldedOf(FirstConvolution(DType::kU8, 32), 16, false);
  EXPECT_EQ(codes.rows, 4);
  EXPECT_EQ(codes.apart, 2);
  EXPECT_EQ(codes.Dilation(), 2);
  EXPECT_EQ(codes.length, 128);
  EXPECT_EQ(codes.groups, 2);
  EXPECT_EQ(codes.height, 114);
}

TEST(FoldedTaps, StoreEachRowOnceForEachGroupItIsIn) {
  const abi::Problem p = FirstConvolution(DType::kU8, 32);
  const abi::Problem copy = StoringCopy(p, FoldedOf(p, 16, false), 7);
  ASSERT_EQ(copy.inputs.size(), 2u);
  EXPECT_EQ(copy.outputs[0].shape, (Dims{32, 4, 114, 4, 230}));
  EXPECT_EQ(copy.as<abi::CopyAttrs>().fill, 7);
  EXPECT_EQ(abi::ValidateProblem(copy).ToString(), OkStatus().ToString());
}

TEST(FoldedTaps, RefuseWhatWouldOverflow) {
  abi::Problem p = FirstConvolution(DType::kF16, 1);
  EXPECT_EQ(RefuseFolding(p), "");
  for (int64_t huge : {int64_t{1} << 40, INT64_MAX}) {
    abi::ConvAttrs a = p.as<abi::ConvAttrs>();
    a.strides[1] = huge;
    abi::Problem far = p;
    far.attrs = a;
    EXPECT_EQ(RefuseFolding(far), "pattern: the window reaches too far");
  }
}

}  // namespace
}  // namespace aicf
