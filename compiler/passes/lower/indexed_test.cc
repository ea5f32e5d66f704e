// GatherElements, GatherND, ScatterElements, ScatterND, CumSum and CumProd against plain loops,
// over random shapes and attributes.
#include <algorithm>
#include <random>

#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Pick;
using testing::RandomShape;

Array Whole(std::mt19937& rng, const Dims& shape, int64_t low, int64_t high) {
  Array a(shape);
  for (double& v : a.data) v = static_cast<double>(Pick(rng, low, high));
  return a;
}

std::string Type(DType dtype, const Dims& shape) {
  return StrCat(DTypeName(dtype), testing::ShapeText(shape));
}

DType IndexType(std::mt19937& rng) { return Pick(rng, 0, 1) == 0 ? DType::kI64 : DType::kI32; }
DType DataType(std::mt19937& rng) {
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kI64, DType::kI8, DType::kF64};
  return kTypes[Pick(rng, 0, 4)];
}

/// An axis as a model may write it.
int64_t Written(std::mt19937& rng, int axis, int rank) {
  return Pick(rng, 0, 1) == 0 ? axis : axis - rank;
}

/// Every index within its axis, from either end.
Array Indices(std::mt19937& rng, const Dims& shape,
              const std::function<int64_t(const Dims&)>& extent) {
  return testing::Generate(shape, [&](const Dims& at) {
    const int64_t e = extent(at);
    return static_cast<double>(Pick(rng, -e, e - 1));
  });
}

int64_t FromStart(double index, int64_t extent) {
  return static_cast<int64_t>(index) + (index < 0 ? extent : 0);
}

constexpr std::string_view kReductions[] = {"none", "add", "mul", "min", "max"};

double Combined(std::string_view reduction, double old, double update) {
  if (reduction == "add") return old + update;
  if (reduction == "mul") return old * update;
  if (reduction == "min") return std::min(old, update);
  if (reduction == "max") return std::max(old, update);
  return update;
}

TEST(GatherElementsOp, EveryForm) {
  std::mt19937 rng(1);
  for (int i = 0; i < 30; ++i) {
    const Dims shape = RandomShape(rng, 1, 4, 5);
    const int axis = static_cast<int>(Pick(rng, 0, shape.rank() - 1));
    Dims index_shape = shape;
    for (int d = 0; d < shape.rank(); ++d) index_shape[d] = Pick(rng, 1, d == axis ? 6 : shape[d]);
    const DType dtype = DataType(rng), index_type = IndexType(rng);
    const Array data = Whole(rng, shape, -9, 9);
    const Array index = Indices(rng, index_shape, [&](const Dims&) { return shape[axis]; });
    const Array want = testing::Generate(index_shape, [&](Dims at) {
      at[axis] = FromStart(index[at], shape[axis]);
      return data[at];
    });
    testing::ExpectGraph(
        StrCat("graph \"g\" {\ninput %x: ", Type(dtype, shape),
               "\ninput %i: ", Type(index_type, index_shape), "\n%y: ", Type(dtype, index_shape),
               " = GatherElements(%x, %i) {axis=", Written(rng, axis, shape.rank()),
               "} \"n\"\noutput %y\n}"),
        {{"x", testing::ToTensor(data, dtype)}, {"i", testing::ToTensor(index, index_type)}}, want,
        0, 0);
  }
}

TEST(GatherNDOp, EveryForm) {
  std::mt19937 rng(2);
  for (int i = 0; i < 30; ++i) {
    const Dims shape = RandomShape(rng, 1, 4, 5);
    const int batch = static_cast<int>(Pick(rng, 0, shape.rank() - 1));
    const int n = static_cast<int>(Pick(rng, 1, shape.rank() - batch));
    Dims index_shape, out;
    for (int d = 0; d < batch; ++d) index_shape.push_back(shape[d]);
    for (int64_t k = Pick(rng, 0, 2); k > 0; --k) index_shape.push_back(Pick(rng, 1, 4));
    out = index_shape;
    index_shape.push_back(n);
    const int leading = out.rank();
    for (int d = batch + n; d < shape.rank(); ++d) out.push_back(shape[d]);
    const DType dtype = DataType(rng);
    const Array data = Whole(rng, shape, -9, 9);
    const Array index = Indices(rng, index_shape, [&](const Dims& at) {
      return shape[batch + static_cast<int>(at.back())];
    });
    const Array want = testing::Generate(out, [&](const Dims& at) {
      Dims from = shape, where(at.span().first(static_cast<size_t>(leading)));
      where.push_back(0);
      for (int d = 0; d < batch; ++d) from[d] = at[d];
      for (int k = 0; k < n; ++k) {
        where[leading] = k;
        from[batch + k] = FromStart(index[where], shape[batch + k]);
      }
      for (int d = batch + n; d < shape.rank(); ++d) from[d] = at[leading + d - batch - n];
      return data[from];
    });
    testing::ExpectGraph(
        StrCat("graph \"g\" {\ninput %x: ", Type(dtype, shape),
               "\ninput %i: ", Type(DType::kI64, index_shape), "\n%y: ", Type(dtype, out),
               " = GatherND(%x, %i) {batch_dims=", batch, "} \"n\"\noutput %y\n}"),
        {{"x", testing::ToTensor(data, dtype)}, {"i", testing::ToTensor(index, DType::kI64)}}, want,
        0, 0);
  }
}

TEST(ScatterElementsOp, EveryForm) {
  std::mt19937 rng(3);
  for (int i = 0; i < 40; ++i) {
    const Dims shape = RandomShape(rng, 1, 3, 5);
    const int axis = static_cast<int>(Pick(rng, 0, shape.rank() - 1));
    Dims index_shape = shape;
    for (int d = 0; d < shape.rank(); ++d) index_shape[d] = Pick(rng, 1, d == axis ? 6 : shape[d]);
    const std::string_view reduction = kReductions[i % 5];
    // Every fourth starts from equal elements, which are stored as one.
    Array want = i % 4 == 0 ? Whole(rng, shape, 3, 3) : Whole(rng, shape, -3, 3);
    const Array data = want, updates = Whole(rng, index_shape, -2, 2);
    const Array index = Indices(rng, index_shape, [&](const Dims&) { return shape[axis]; });
    testing::ForEach(index_shape, [&](const Dims& at) {
      Dims to = at;
      to[axis] = FromStart(index[at], shape[axis]);
      want[to] = Combined(reduction, want[to], updates[at]);
    });
    const DType dtype = i % 2 == 0 ? DType::kF32 : DType::kI32;
    testing::RunOptions options;
    if (i % 4 == 0) options.constants.emplace("x", testing::ToTensor(data, dtype));
    testing::ExpectGraph(
        StrCat("graph \"g\" {\ninput %x: ", Type(dtype, shape),
               "\ninput %i: ", Type(DType::kI64, index_shape),
               "\ninput %u: ", Type(dtype, index_shape), "\n%y: ", Type(dtype, shape),
               " = ScatterElements(%x, %i, %u) {axis=", Written(rng, axis, shape.rank()),
               ", reduction=", Quote(reduction), "} \"n\"\noutput %y\n}"),
        {{"x", testing::ToTensor(data, dtype)},
         {"i", testing::ToTensor(index, DType::kI64)},
         {"u", testing::ToTensor(updates, dtype)}},
        want, 0, 0, options);
  }
}

TEST(ScatterNDOp, EveryForm) {
  std::mt19937 rng(4);
  for (int i = 0; i < 40; ++i) {
    const Dims shape = RandomShape(rng, 1, 3, 5);
    const int n = static_cast<int>(Pick(rng, 1, shape.rank()));
    Dims index_shape, update_shape;
    for (int64_t k = Pick(rng, 0, 2); k > 0; --k) index_shape.push_back(Pick(rng, 1, 5));
    update_shape = index_shape;
    const int leading = index_shape.rank();
    index_shape.push_back(n);
    for (int d = n; d < shape.rank(); ++d) update_shape.push_back(shape[d]);
    const std::string_view reduction = kReductions[i % 5];
    Array want = Whole(rng, shape, -3, 3);
    const Array data = want, updates = Whole(rng, update_shape, -2, 2);
    const Array index = Indices(rng, index_shape,
                                [&](const Dims& at) { return shape[static_cast<int>(at.back())]; });
    testing::ForEach(update_shape, [&](const Dims& at) {
      Dims to = shape, where(at.span().first(static_cast<size_t>(leading)));
      where.push_back(0);
      for (int k = 0; k < n; ++k) {
        where[leading] = k;
        to[k] = FromStart(index[where], shape[k]);
      }
      for (int d = n; d < shape.rank(); ++d) to[d] = at[leading + d - n];
      want[to] = Combined(reduction, want[to], updates[at]);
    });
    const DType dtype = i % 2 == 0 ? DType::kF32 : DType::kI64;
    testing::ExpectGraph(
        StrCat("graph \"g\" {\ninput %x: ", Type(dtype, shape),
               "\ninput %i: ", Type(DType::kI64, index_shape),
               "\ninput %u: ", Type(dtype, update_shape), "\n%y: ", Type(dtype, shape),
               " = ScatterND(%x, %i, %u) {reduction=", Quote(reduction), "} \"n\"\noutput %y\n}"),
        {{"x", testing::ToTensor(data, dtype)},
         {"i", testing::ToTensor(index, DType::kI64)},
         {"u", testing::ToTensor(updates, dtype)}},
        want, 0, 0);
  }
}

TEST(CumulativeOps, EveryForm) {
  std::mt19937 rng(5);
  for (int i = 0; i < 60; ++i) {
    const bool product = i % 2 == 0, exclusive = Pick(rng, 0, 1) == 0,
               reverse = Pick(rng, 0, 1) == 0;
    const Dims shape = RandomShape(rng, 1, 3, 5);
    const int axis = static_cast<int>(Pick(rng, 0, shape.rank() - 1));
    const Array data = Whole(rng, shape, -2, 2);
    const Array want = testing::Generate(shape, [&](const Dims& at) {
      double total = product ? 1 : 0;
      Dims from = at;
      for (int64_t k = 0; k < shape[axis]; ++k) {
        const bool before = reverse ? k > at[axis] : k < at[axis];
        if (!before && (exclusive || k != at[axis])) continue;
        from[axis] = k;
        total = product ? total * data[from] : total + data[from];
      }
      return total;
    });
    const DType dtype = i % 3 == 0 ? DType::kI32 : DType::kF32;
    testing::ExpectGraph(
        StrCat("graph \"g\" {\ninput %x: ", Type(dtype, shape), "\nconst %a: i64[] = [",
               Written(rng, axis, shape.rank()), "]\n%y: ", Type(dtype, shape), " = ",
               product ? "CumProd" : "CumSum", "(%x, %a) {exclusive=", exclusive ? 1 : 0,
               ", reverse=", reverse ? 1 : 0, "} \"n\"\noutput %y\n}"),
        {{"x", testing::ToTensor(data, dtype)}}, want, 0, 0);
  }
}

TEST(IndexedOps, WrongFormsAreRefused) {
  const std::string head =
      "graph \"g\" {\ninput %x: f32[2x3]\ninput %i: i64[2x4]\ninput %u: f32[2x3]\n"
      "input %f: f32[2x3]\ninput %h: f16[2x4]\n%y: f32 = ";
  for (const char* node :
       {"GatherElements(%x, %i) {axis=0}", "GatherElements(%x, %i) {axis=2}",
        "GatherElements(%x, %f) {axis=1}", "GatherND(%x, %i)", "GatherND(%x, %i) {batch_dims=2}",
        "ScatterElements(%x, %i, %u) {axis=1}", "ScatterElements(%x, %i, %h) {axis=1}",
        "ScatterND(%x, %i, %u)", "CumSum(%x, %i)"}) {
    const auto run = testing::RunGraph(head + node + " \"n\"\noutput %y\n}", {});
    EXPECT_FALSE(run.ok()) << node;
  }
}

}  // namespace
}  // namespace aicf
