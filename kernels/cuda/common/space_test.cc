#include "kernels/cuda/common/space.h"

#include <gtest/gtest.h>

namespace aicf::cuda {
namespace {

using abi::View;

View With(DType dtype, Dims shape, Dims strides, int64_t offset = 0) {
  return {dtype, shape, strides, offset};
}

abi::Problem Pooled(const View& x, const View& y) {
  abi::Problem p;
  p.family = abi::Family::kPool;
  abi::PoolAttrs a;
  a.kernel = a.strides = a.dilations = {1, 1};
  a.pads_begin = a.pads_end = {0, 0};
  p.attrs = a;
  p.inputs = {x};
  p.outputs = {y};
  p.core_inputs = 1;
  return p;
}

TEST(Space, AxesAreOrderedByTheOutputsStrides) {
  const View nhwc = With(DType::kF32, {2, 8, 3, 5}, {120, 1, 40, 8});
  const Space s = SpacesOf("", Pooled(nhwc, nhwc)).output;
  ASSERT_EQ(s.groups.size(), 1u);
  EXPECT_EQ(s.groups[0], (Dims{0, 2, 3, 1}));
  EXPECT_EQ(s.Count(0), 240);
  const Walk walk = WalkOf(nhwc, s.groups[0]);
  EXPECT_EQ(walk.extents, Dims{240});
  EXPECT_EQ(walk.strides, Dims{1});
}

TEST(Space, LinesAreWalkedAcrossGroupsAndBatchesFirst) {
  abi::Problem p;
  p.family = abi::Family::kNormalize;
  abi::NormalizeAttrs a;
  a.axes = {2, 3, 4};
  p.attrs = a;
  // [batch, group, channel of the group, height, width], channels innermost.
  const View pixels = With(DType::kF16, {2, 4, 10, 5, 7}, {1400, 10, 1, 280, 40});
  p.inputs = p.outputs = {pixels};
  p.core_inputs = 1;
  const Space s = SpacesOf("cuda.normalize.lines", p).domain;
  ASSERT_EQ(s.groups.size(), 2u);
  EXPECT_EQ(s.groups[0], (Dims{1, 2}));
  EXPECT_EQ(s.groups[1], (Dims{0, 3, 4}));
  EXPECT_EQ(WalkOf(pixels, s.groups[0]).extents, Dims{40});
  EXPECT_EQ(RunOf(pixels, s), 16);
  // Batches between the lines come before them all the same.
  p.inputs[0].strides = {280, 10, 1, 560, 40};
  EXPECT_EQ(SpacesOf("cuda.normalize.lines", p).domain.groups[1], (Dims{0, 3, 4}));
  // Channels that follow their positions: the whole group is a run.
  p.inputs[0] = abi::DenseView(DType::kF16, {2, 4, 10, 5, 7});
  EXPECT_EQ(SpacesOf("cuda.normalize.lines", p).domain.groups[0], (Dims{0, 1, 2, 3, 4}));
}

TEST(Space, AxesOfOneElementAreNotWalked) {
  const View v = With(DType::kF32, {1, 8, 1, 5}, {40, 5, 99, 1});
  EXPECT_EQ(SpacesOf("", Pooled(v, v)).output.groups[0], (Dims{1, 3}));
}

TEST(Space, WalkMergesOnlyWhatOneStrideReaches) {
  const View padded = With(DType::kF32, {4, 6, 8}, {96, 16, 1});
  const Walk walk = WalkOf(padded, {0, 1, 2});
  EXPECT_EQ(walk.extents, (Dims{24, 8}));
  EXPECT_EQ(walk.strides, (Dims{16, 1}));
  const View repeated = With(DType::kF32, {4, 6, 8}, {0, 0, 1});
  EXPECT_EQ(WalkOf(repeated, {0, 1, 2}).extents, (Dims{24, 8}));
}

TEST(Space, RunNeedsStrideOneAlignmentAndWholeRows) {
  const Space rows{{4, 6}, {{1}, {0}}};
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {8, 1}), rows), 16);  // one merged axis: to its end
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {6, 1}), rows), 2);   // rows start at multiples of 2
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {8, 1}, 4), rows), 16);
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {8, 1}, 2), rows), 2);
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {8, 1}, 1), rows), 1);
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {12, 2}), rows), 1);
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {8, -1}, 5), rows), 1);
  const Space flat{{4, 6}, {{0, 1}}};
  EXPECT_EQ(RunOf(With(DType::kF32, {4, 6}, {8, 1}), flat), 2);   // 6 elements, then a gap
  EXPECT_EQ(RunOf(With(DType::kF16, {4, 6}, {6, 1}), flat), 16);  // dense
}

TEST(Space, SameCountsRepeatedElements) {
  const Space flat{{4, 8}, {{0, 1}}};
  EXPECT_EQ(SameOf(With(DType::kF32, {4, 8}, {1, 0}), flat), 8);
  EXPECT_EQ(SameOf(With(DType::kF32, {4, 8}, {0, 0}), flat), 16);
  EXPECT_EQ(SameOf(With(DType::kF32, {4, 8}, {8, 1}), flat), 1);
}

TEST(Space, VectorsFitTheWidestElement) {
  const Space flat{{64}, {{0}}};
  const View f32 = abi::DenseView(DType::kF32, {64}), f16 = abi::DenseView(DType::kF16, {64});
  const View f64 = abi::DenseView(DType::kF64, {64});
  EXPECT_EQ(VectorOf({&f16}, flat), 8);
  EXPECT_EQ(VectorOf({&f16, &f32}, flat), 4);
  EXPECT_EQ(VectorOf({&f16, &f64}, flat), 2);
}

TEST(Space, WideIndicesFromTwoToThe31OnAndNotBefore) {
  const View small = abi::DenseView(DType::kF32, {1, 1, 4, 4});
  EXPECT_FALSE(NeedsWideIndex(Pooled(small, small)));
  View far = small;
  far.offset = int64_t{1} << 31;
  EXPECT_TRUE(NeedsWideIndex(Pooled(far, small)));
  View backwards = small;
  backwards.strides[2] = -(int64_t{1} << 30);
  backwards.offset = int64_t{3} << 30;
  EXPECT_TRUE(NeedsWideIndex(Pooled(backwards, small)));
  View empty = far;
  empty.shape[2] = 0;
  empty.offset = 0;
  empty.strides[3] = int64_t{1} << 40;
  EXPECT_FALSE(NeedsWideIndex(Pooled(empty, empty)));
}

TEST(Space, GemmRowsAreInnerWhereTheOutputIsTransposed) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {3, 4, 5}), abi::DenseView(DType::kF32, {3, 5, 6})};
  p.outputs = {abi::DenseView(DType::kF32, {3, 4, 6})};
  p.core_inputs = 2;
  EXPECT_FALSE(RowsInner(p));
  EXPECT_EQ(SpacesOf("", p).output.groups, (std::vector<Dims>{{2}, {1}, {0}}));
  EXPECT_EQ(OuterAxesOf(p), Dims{1});
  EXPECT_EQ(BatchAxesOf(p), Dims{0});
  p.outputs[0].strides = {24, 1, 4};
  EXPECT_TRUE(RowsInner(p));
  EXPECT_EQ(SpacesOf("", p).output.groups, (std::vector<Dims>{{1}, {2}, {0}}));
  EXPECT_EQ(OuterAxesOf(p), Dims{2});
}

TEST(Space, RowsInnerAreThoseOfTheRowAxes) {
  abi::Problem conv;
  conv.family = abi::Family::kConv;
  conv.attrs = abi::ConvAttrs{};
  conv.inputs = {abi::DenseView(DType::kF32, {2, 3, 4, 5}),
                 abi::DenseView(DType::kF32, {6, 3, 1, 1})};
  conv.outputs = {abi::DenseView(DType::kF32, {2, 6, 4, 5})};
  conv.core_inputs = 2;
  EXPECT_TRUE(RowsInner(conv));
  EXPECT_EQ(SpacesOf("", conv).output.groups, (std::vector<Dims>{{0, 2, 3}, {1}}));
  conv.outputs[0].strides = {120, 1, 30, 6};
  EXPECT_FALSE(RowsInner(conv));
  EXPECT_EQ(SpacesOf("", conv).output.groups, (std::vector<Dims>{{1}, {0, 2, 3}}));

  abi::Problem blocks;
  blocks.family = abi::Family::kBlockGemm;
  blocks.attrs = abi::BlockGemmAttrs{};
  blocks.outputs = {With(DType::kF32, {1, 4, 6}, {0, 1, 4})};
  EXPECT_TRUE(RowsInner(blocks));
  EXPECT_EQ(OuterAxesOf(blocks), Dims{2});
  blocks.outputs[0].strides = {0, 6, 1};
  EXPECT_FALSE(RowsInner(blocks));
  EXPECT_EQ(OuterAxesOf(blocks), Dims{1});  // an axis of one element is not walked
}

}  // namespace
}  // namespace aicf::cuda
