#include "compiler/ir/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "compiler/ir/coverage.h"

namespace aicf::ir {
namespace {

using abi::View;

// Offsets of all elements in row-major order of the view.
std::vector<int64_t> Offsets(const View& v) {
  std::vector<int64_t> out;
  if (abi::ElementsOf(v) == 0) return out;
  Dims at = Dims::Filled(v.shape.rank(), 0);
  for (;;) {
    int64_t offset = v.offset;
    for (int i = 0; i < at.rank(); ++i) offset += at[i] * v.strides[i];
    out.push_back(offset);
    int i = at.rank() - 1;
    while (i >= 0 && ++at[i] == v.shape[i]) at[i--] = 0;
    if (i < 0) return out;
  }
}

class Source {
 public:
  explicit Source(uint32_t seed) : rng_(seed) {}

  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }

  Dims Shape(int max_rank) {
    Dims out;
    for (int64_t rank = Int(0, max_rank); out.rank() < rank;) out.push_back(Int(1, 4));
    return out;
  }

  Dims Order(int rank) {
    std::vector<int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), rng_);
    return Dims(axes);
  }

  // A dense block in a random order of axes, perhaps with gaps, an offset and reversed axes.
  View Block(const Dims& shape) {
    Dims padded = shape;
    for (int64_t& e : padded) e += Int(0, 3) == 0 ? 1 : 0;
    View v{DType::kF32, shape, StridesInOrder(padded, Order(shape.rank())), Int(0, 5)};
    for (int i = 0; i < shape.rank(); ++i) {
      if (Int(0, 4) > 0) continue;
      v.offset += v.strides[i] * (shape[i] - 1);
      v.strides[i] = -v.strides[i];
    }
    return v;
  }

  // A random window of v, permuted, perhaps broadcast.
  View Look(const View& v) {
    Dims starts, extents, steps;
    for (int64_t e : v.shape) {
      const int64_t start = Int(0, e - 1);
      const int64_t extent = Int(1, e - start);
      const int64_t step = extent > 2 && Int(0, 2) == 0 ? 2 : 1;
      starts.push_back(start);
      extents.push_back((extent + step - 1) / step);
      steps.push_back(step);
    }
    View out = Permute(WindowOf(v, starts, extents, steps), Order(v.shape.rank()));
    if (out.shape.rank() < kMaxRank && Int(0, 2) == 0) {
      out.shape.insert(0, 3);
      out.strides.insert(0, 0);
    }
    return out;
  }

 private:
  std::mt19937 rng_;
};

TEST(Views, ReshapeKeepsTheOrderOfElements) {
  Source random(1);
  int expressed = 0;
  for (int i = 0; i < 4000; ++i) {
    const View v = random.Block(random.Shape(4));
    // A random factorisation of the same count.
    int64_t left = abi::ElementsOf(v);
    Dims shape;
    while (left > 1 && shape.rank() < 6) {
      int64_t factor = random.Int(1, left);
      while (left % factor != 0) --factor;
      shape.push_back(factor);
      left /= factor;
    }
    shape.push_back(left);
    const auto reshaped = Reshape(v, shape);
    if (!reshaped) continue;
    ++expressed;
    ASSERT_EQ(reshaped->shape, shape);
    ASSERT_EQ(Offsets(*reshaped), Offsets(v)) << i;
  }
  EXPECT_GT(expressed, 1000);
}

TEST(Views, ReshapeSucceedsWhereStridesAllow) {
  const View dense = abi::DenseView(DType::kF32, {2, 3, 4});
  for (const Dims& shape :
       {Dims{24}, Dims{6, 4}, Dims{2, 12}, Dims{3, 8}, Dims{2, 3, 2, 2}, Dims{1, 24, 1}}) {
    EXPECT_TRUE(Reshape(dense, shape).has_value()) << ToString(shape);
  }
  EXPECT_FALSE(Reshape(Permute(dense, {0, 2, 1}), {2, 12}).has_value());
  EXPECT_TRUE(Reshape(Permute(dense, {0, 2, 1}), {2, 2, 2, 3}).has_value());
  EXPECT_TRUE(Reshape(abi::DenseView(DType::kF32, {0, 3}), {5, 0}).has_value());
}

TEST(Views, RemapFollowsEveryElement) {
  Source random(2);
  int expressed = 0;
  for (int i = 0; i < 4000; ++i) {
    const Dims shape = random.Shape(4);
    const View from = random.Block(shape), to = random.Block(shape);
    const View v = random.Look(from);
    const auto mapped = Remap(v, from, to);
    if (!mapped) continue;
    ++expressed;
    std::map<int64_t, int64_t> pair;
    const std::vector<int64_t> a = Offsets(from), b = Offsets(to);
    for (size_t k = 0; k < a.size(); ++k) pair[a[k]] = b[k];
    std::vector<int64_t> want;
    for (int64_t offset : Offsets(v)) want.push_back(pair.at(offset));
    ASSERT_EQ(Offsets(*mapped), want) << i;
  }
  EXPECT_GT(expressed, 3500);
}

TEST(Views, RemapRefusesWhatIsOutsideOrNotLinear) {
  const View whole = abi::DenseView(DType::kF32, {4, 6});
  const View window = WindowOf(whole, {1, 1}, {2, 4});
  const View target = abi::DenseView(DType::kF32, {2, 4});
  EXPECT_TRUE(Remap(window, window, target).has_value());
  EXPECT_FALSE(Remap(whole, window, target).has_value());
  EXPECT_FALSE(Remap(WindowOf(whole, {0, 1}, {2, 4}), window, target).has_value());
  // Rows that are one run in the source are two strides in a transposed target.
  const View flat = abi::DenseView(DType::kF32, {24});
  const View transposed = Permute(abi::DenseView(DType::kF32, {6, 4}), {1, 0});
  EXPECT_FALSE(Remap(flat, whole, transposed).has_value());
  EXPECT_TRUE(Remap(flat, whole, abi::DenseView(DType::kF32, {4, 6})).has_value());
  // A broadcast source names one element several times.
  EXPECT_FALSE(
      Remap(flat, BroadcastTo(abi::DenseView(DType::kF32, {1, 6}), {4, 6}), whole).has_value());
}

TEST(Views, CoversWholeMeansEveryElementOnce) {
  Source random(3);
  int covering = 0;
  for (int i = 0; i < 2000; ++i) {
    View v = random.Block(random.Shape(3));
    if (random.Int(0, 1) == 0) v.offset = random.Int(0, 1);
    const int64_t count = random.Int(0, 2) == 0 ? random.Int(1, 30) : abi::ElementsOf(v);
    std::vector<int64_t> offsets = Offsets(v);
    std::sort(offsets.begin(), offsets.end());
    std::vector<int64_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    ASSERT_EQ(CoversWhole(v, count), offsets == all) << i;
    covering += offsets == all;
  }
  EXPECT_GT(covering, 200);
}

TEST(Coverage, MatchesMarkingEveryElement) {
  Source random(4);
  int covering = 0;
  for (int i = 0; i < 3000; ++i) {
    // Cut a dense block along random axes, several times over.
    std::vector<View> views{
        abi::DenseView(DType::kF32, {random.Int(1, 4), random.Int(1, 5), random.Int(1, 4)})};
    const int64_t count = abi::ElementsOf(views[0]);
    for (int64_t cuts = random.Int(0, 4); cuts > 0; --cuts) {
      const size_t which =
          static_cast<size_t>(random.Int(0, static_cast<int64_t>(views.size()) - 1));
      const int axis = static_cast<int>(random.Int(0, 2));
      const View v = views[which];
      const int64_t at = random.Int(0, v.shape[axis]);
      Dims start = Dims::Filled(3, 0), low = v.shape, high = v.shape;
      low[axis] = at;
      high[axis] = v.shape[axis] - at;
      views[which] = WindowOf(v, start, low);
      start[axis] = at;
      views.push_back(WindowOf(v, start, high));
    }
    if (random.Int(0, 3) == 0) views.pop_back();
    if (!views.empty() && random.Int(0, 3) == 0) views.push_back(views[0]);
    std::vector<int> marks(count, 0);
    for (const View& v : views) {
      for (int64_t o : Offsets(v)) ++marks[o];
    }
    const bool want = std::all_of(marks.begin(), marks.end(), [](int m) { return m == 1; });
    ASSERT_EQ(CoverOnce(views, count), want) << i;
    covering += want;
  }
  EXPECT_GT(covering, 1000);
}

}  // namespace
}  // namespace aicf::ir
