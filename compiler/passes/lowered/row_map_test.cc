// Maps of copies against executing them.
#include "compiler/passes/lowered/row_map.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

ir::LoweredStep Copy(const std::vector<abi::View>& pieces, const std::vector<Dims>& starts,
                     const Dims& shape) {
  ir::LoweredStep step;
  step.problem.family = abi::Family::kCopy;
  step.problem.attrs = abi::CopyAttrs{starts, false, 0};
  step.problem.inputs = pieces;
  step.problem.outputs = {abi::DenseView(DType::kF32, shape)};
  step.problem.core_inputs = static_cast<int>(pieces.size());
  step.inputs.assign(pieces.size(), 0);
  step.outputs = {1};
  return step;
}

// Rows of four: the last one first.
ir::LoweredStep Rolled() {
  return Copy({{DType::kF32, {1, 4}, {4, 1}, 8}, {DType::kF32, {2, 4}, {4, 1}, 0}},
              {{0, 0}, {1, 0}}, {3, 4});
}

TEST(RowMap, FollowsEveryPiece) {
  const auto map = MapOf(Rolled(), 12);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(*map, (ElementMap{8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7}));
  const RowMap rows = *RowsOf(*map, 12, 1);
  EXPECT_EQ(rows.row, 4);
  EXPECT_EQ(rows.rows, (std::vector<int32_t>{2, 0, 1}));
}

TEST(RowMap, RefusesACopyThatLeavesElementsOut) { EXPECT_FALSE(MapOf(Rolled(), 16).has_value()); }

TEST(RowMap, ComposesInOrder) {
  const ElementMap roll = *MapOf(Rolled(), 12);
  // Twice rolled is rolled by two.
  const RowMap rows = *RowsOf(Compose(roll, roll), 12, 1);
  EXPECT_EQ(rows.rows, (std::vector<int32_t>{1, 2, 0}));
  // The first half of what is rolled: a part of the source.
  const ElementMap half = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(RowsOf(Compose(roll, half), 12, 1)->rows, (std::vector<int32_t>{2, 0}));
}

TEST(RowMap, RowsAreAsLongAsPossible) {
  // All in place: one row. A transposed matrix: single elements. Repeated rows of the source.
  const ElementMap same = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(RowsOf(same, 6, 1)->row, 6);
  const auto transposed = MapOf(Copy({{DType::kF32, {3, 2}, {1, 3}, 0}}, {{0, 0}}, {3, 2}), 6);
  EXPECT_EQ(RowsOf(*transposed, 6, 1)->row, 1);
  const auto repeated = MapOf(Copy({{DType::kF32, {2, 6}, {0, 1}, 0}}, {{0, 0}}, {2, 6}), 12);
  const RowMap rows = *RowsOf(*repeated, 6, 1);
  EXPECT_EQ(rows.row, 6);
  EXPECT_EQ(rows.rows, (std::vector<int32_t>{0, 0}));
  // Rows begin where they do in the source, too: from element 2 on, twos.
  EXPECT_EQ(RowsOf({2, 3, 4, 5}, 8, 1)->row, 2);
}

TEST(RowMap, ShorterRowsAreNone) {
  const ElementMap twos = {2, 3, 0, 1};
  EXPECT_EQ(RowsOf(twos, 4, 2)->rows, (std::vector<int32_t>{1, 0}));
  EXPECT_FALSE(RowsOf(twos, 4, 3).has_value());
  // The buffers' lengths alone leave no longer ones.
  EXPECT_FALSE(RowsOf({0, 1, 2}, 4, 2).has_value());
}

}  // namespace
}  // namespace aicf
