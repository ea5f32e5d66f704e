// One-hot, diagonals, maxima, dropout and reversed sequences, element by element.
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::ExpectRun;
using testing::Generate;
using testing::Random;
using testing::ToArray;

TEST(OneHot, EveryAxisAndNegativeIndices) {
  uint32_t seed = 1;
  for (const Dims& shape : {Dims{}, Dims{4}, Dims{2, 3}, Dims{2, 0}, Dims{2, 3, 2}}) {
    for (int axis = -shape.rank() - 1; axis <= shape.rank(); ++axis) {
      const DType types[] = {DType::kI64, DType::kI32, DType::kF32, DType::kU8};
      const DType type = types[seed % 4];
      const ir::Tensor indices = Random(type, shape, seed++, type == DType::kU8 ? 0 : -7, 7);
      Array given = ToArray(indices);
      if (type == DType::kF32) {
        for (double& v : given.data) v = std::trunc(v);
      }
      const ir::Tensor values = Random(DType::kF32, {2}, seed);
      const int at_axis = axis < 0 ? axis + shape.rank() + 1 : axis;
      Dims out = shape;
      out.insert(at_axis, 5);
      CompositeCase c("OneHot");
      c.Input("i", indices).Input("depth", testing::Ints({5}), true).Input("v", values);
      c.Attr("axis", StrCat(axis)).Output("y");
      const Array v = ToArray(values);
      ExpectRun(c, Generate(out, [&](Dims at) {
                  const int64_t k = at[at_axis];
                  at.erase(at_axis);
                  const double index = given[at] < 0 ? given[at] + 5 : given[at];
                  return v[{index == static_cast<double>(k) ? 1 : 0}];
                }));
    }
  }
}

TEST(OneHot, DepthMustBeKnown) {
  CompositeCase c("OneHot");
  c.Input("i", testing::Ints({1})).Input("depth", testing::Ints({5}));
  c.Input("v", Random(DType::kF32, {2}, 1)).Output("y");
  const Status refusal = testing::Refusal(c);
  EXPECT_EQ(refusal.code(), Code::kUnsupported);
  EXPECT_NE(refusal.message().find("--bind=depth"), std::string::npos) << refusal.message();
}

TEST(EyeLike, EveryDiagonal) {
  for (const Dims& shape : {Dims{3, 3}, Dims{2, 5}, Dims{5, 2}, Dims{0, 3}}) {
    for (int64_t k : {-6, -2, -1, 0, 1, 3, 100}) {
      CompositeCase c("EyeLike");
      c.Input("x", Random(DType::kI32, shape, 1)).Attr("k", StrCat(k)).Output("y");
      ExpectRun(c, Generate(shape, [&](const Dims& at) { return at[1] - at[0] == k ? 1 : 0; }));
    }
  }
}

TEST(Hardmax, TheFirstMaximumWins) {
  for (int axis = -3; axis < 3; ++axis) {
    const ir::Tensor x = Random(DType::kI32, {4, 3, 5}, static_cast<uint32_t>(axis + 9), 0, 3);
    const ir::Tensor floats = testing::ToTensor(ToArray(x), DType::kF32);
    const Array a = ToArray(x);
    CompositeCase c("Hardmax");
    c.Input("x", floats).Attr("axis", StrCat(axis)).Output("y");
    const int along = axis < 0 ? axis + 3 : axis;
    ExpectRun(c, Generate(a.shape, [&](const Dims& at) {
                Dims other = at;
                for (other[along] = 0; other[along] < a.shape[along]; ++other[along]) {
                  if (a[other] > a[at] || (a[other] == a[at] && other[along] < at[along])) return 0;
                }
                return 1;
              }));
  }
}

// Before opset 13 everything from the axis on is one line.
TEST(Hardmax, OlderFormsHaveOneMaximumOverAllFurtherAxes) {
  for (int axis = 0; axis < 3; ++axis) {
    const ir::Tensor x = Random(DType::kF32, {4, 3, 5}, static_cast<uint32_t>(axis + 1));
    const Array a = ToArray(x);
    CompositeCase c("Hardmax");
    c.Input("x", x).Attr("axis", StrCat(axis)).Attr("legacy_flatten", "1").Output("y");
    ExpectRun(c, Generate(a.shape, [&](const Dims& at) {
                bool first = true;
                testing::ForEach(a.shape, [&](const Dims& other) {
                  bool same_line = true;
                  for (int i = 0; i < axis; ++i) same_line = same_line && other[i] == at[i];
                  if (same_line && a[other] > a[at]) first = false;
                });
                return first ? 1 : 0;
              }));
  }
}

TEST(Dropout, KeepsEverythingAndSaysSo) {
  const ir::Tensor x = Random(DType::kF32, {3, 4}, 1);
  CompositeCase c("Dropout");
  c.Input("x", x).Output("y").Output("mask");
  ExpectRun(c, ToArray(x));
  ExpectRun(c, Generate({3, 4}, [](const Dims&) { return 1; }), 1);
}

TEST(Dropout, TrainingIsRefusedUnlessNothingIsDropped) {
  const ir::Tensor x = Random(DType::kF32, {3}, 1);
  const ir::Tensor yes =
      testing::ToTensor(Generate({}, [](const Dims&) { return 1; }), DType::kBool);
  for (double ratio : {0.0, 0.5}) {
    const ir::Tensor r =
        testing::ToTensor(Generate({}, [&](const Dims&) { return ratio; }), DType::kF32);
    CompositeCase c("Dropout");
    c.Input("x", x).Input("ratio", r, true).Input("training", yes, true).Output("y");
    if (ratio == 0) {
      ExpectRun(c, ToArray(x));
    } else {
      EXPECT_EQ(testing::Refusal(c).code(), Code::kUnsupported);
    }
  }
}

TEST(ReverseSequence, BothLayouts) {
  uint32_t seed = 1;
  for (int batch_axis : {0, 1}) {
    for (const Dims& shape : {Dims{4, 4}, Dims{3, 5}, Dims{5, 3, 2}, Dims{2, 4, 1, 3}}) {
      const int time_axis = 1 - batch_axis;
      const ir::Tensor x = Random(DType::kF32, shape, seed++);
      const ir::Tensor lengths = Random(DType::kI64, {shape[batch_axis]}, seed++, 0,
                                        static_cast<double>(shape[time_axis]) + 1);
      const Array a = ToArray(x), n = ToArray(lengths);
      CompositeCase c("ReverseSequence");
      c.Input("x", x).Input("n", lengths).Attr("batch_axis", StrCat(batch_axis));
      c.Attr("time_axis", StrCat(time_axis)).Output("y");
      ExpectRun(c, Generate(shape, [&](const Dims& at) {
                  const auto length = static_cast<int64_t>(n[{at[batch_axis]}]);
                  Dims from = at;
                  if (at[time_axis] < length) from[time_axis] = length - 1 - at[time_axis];
                  return a[from];
                }));
    }
  }
}

}  // namespace
}  // namespace aicf
