// CoverProver against marking every element.
#include "schema/verify_cover.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>

#include "schema/testing.h"

namespace aicf::schema {
namespace {

using abi::View;

std::vector<int64_t> Elements(const View& v) {
  std::vector<int64_t> out;
  if (abi::ElementsOf(v) == 0) return out;
  std::vector<int64_t> index(v.shape.rank(), 0);
  while (true) {
    int64_t at = v.offset;
    for (int d = 0; d < v.shape.rank(); ++d) at += index[d] * v.strides[d];
    out.push_back(at);
    int d = 0;
    for (; d < v.shape.rank() && ++index[d] == v.shape[d]; ++d) index[d] = 0;
    if (d == v.shape.rank()) return out;
  }
}

bool IsInjective(const View& v) {
  const auto all = Elements(v);
  return std::set<int64_t>(all.begin(), all.end()).size() == all.size();
}

struct Truth {
  bool disjoint = true;
  bool partition = false;
};

Truth Judge(int64_t elements, const std::vector<View>& views) {
  Truth truth;
  std::set<int64_t> seen;
  for (const View& v : views) {
    for (int64_t e : Elements(v)) truth.disjoint &= seen.insert(e).second;
  }
  truth.partition = truth.disjoint && static_cast<int64_t>(seen.size()) == elements;
  return truth;
}

std::vector<const View*> Pointers(const std::vector<View>& views) {
  std::vector<const View*> out;
  for (const View& v : views) out.push_back(&v);
  return out;
}

std::string Partition(CoverProver& prover, int64_t elements, const std::vector<View>& views) {
  std::vector<NamedElements> named;
  for (const View& v : views) {
    if (NamedElements one(v); !one.empty()) named.push_back(one);
  }
  std::vector<const NamedElements*> parts;
  for (const NamedElements& n : named) parts.push_back(&n);
  return prover.CheckPartition(elements, parts);
}

void ExpectAgreement(int64_t elements, const std::vector<View>& views) {
  const Truth truth = Judge(elements, views);
  CoverProver prover;
  const auto pointers = Pointers(views);
  std::string what;
  for (const View& v : views) {
    what += StrCat(ToString(v.shape), " ", ToListString(v.strides), "+", v.offset, "; ");
  }
  ASSERT_EQ(prover.Disjoint(elements, pointers), truth.disjoint) << elements << ": " << what;
  if (views.size() == 2) {
    ASSERT_EQ(prover.Disjoint(elements, views[0], views[1]), truth.disjoint)
        << elements << ": " << what;
  }
  ASSERT_EQ(Partition(prover, elements, views).empty(), truth.partition)
      << elements << ": " << what;
}

// Both questions about the first view and the others.
void ExpectPartAgreement(int64_t elements, const std::vector<View>& views) {
  std::map<int64_t, int> named;
  for (size_t i = 1; i < views.size(); ++i) {
    for (int64_t e : Elements(views[i])) ++named[e];
  }
  bool covered = true, apart = true;
  for (int64_t e : Elements(views[0])) {
    const auto found = named.find(e);
    covered &= found != named.end() && found->second == 1;
    apart &= found == named.end();
  }
  std::vector<const View*> others = Pointers(views);
  others.erase(others.begin());
  std::string what;
  for (const View& v : views) {
    what += StrCat(ToString(v.shape), " ", ToListString(v.strides), "+", v.offset, "; ");
  }
  CoverProver prover;
  ASSERT_EQ(prover.Covers(elements, views[0], others), covered) << elements << ": " << what;
  ASSERT_EQ(prover.Apart(elements, views[0], others), apart) << elements << ": " << what;
}

// A random window of a row-major buffer, its axes permuted, merged or reversed at random.
View RandomWindow(std::mt19937& rng, const Dims& shape) {
  const Dims strides = RowMajorStrides(shape);
  View v;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t begin = rng() % 2 == 0 ? 0 : static_cast<int64_t>(rng() % shape[d]);
    const int64_t length =
        rng() % 2 == 0 ? shape[d] - begin : 1 + static_cast<int64_t>(rng() % (shape[d] - begin));
    const int64_t step = rng() % 4 == 0 ? 2 : 1;
    v.offset += begin * strides[d];
    v.shape.push_back((length + step - 1) / step);
    v.strides.push_back(strides[d] * step);
    if (rng() % 4 == 0) {
      v.offset += (v.shape[d] - 1) * v.strides[d];
      v.strides[d] = -v.strides[d];
    }
  }
  if (v.shape.rank() == 2 && rng() % 2 == 0) {
    std::swap(v.shape[0], v.shape[1]);
    std::swap(v.strides[0], v.strides[1]);
  }
  return v;
}

TEST(VerifyCoverTest, AgreesWithMarkingOnRandomWindows) {
  std::mt19937 rng(7);
  int disjoint = 0;
  for (int round = 0; round < 10000; ++round) {
    Dims shape;
    const int rank = 1 + static_cast<int>(rng() % 3);
    for (int d = 0; d < rank; ++d) shape.push_back(1 + static_cast<int64_t>(rng() % 6));
    std::vector<View> views;
    for (int i = 0, n = 1 + static_cast<int>(rng() % 3); i < n; ++i) {
      views.push_back(RandomWindow(rng, shape));
    }
    ExpectAgreement(*ElementCount(shape), views);
    ExpectPartAgreement(*ElementCount(shape), views);
    disjoint += views.size() > 1 && Judge(*ElementCount(shape), views).disjoint;
  }
  EXPECT_GT(disjoint, 500);
}

TEST(VerifyCoverTest, AgreesWithMarkingOnRandomStrides) {
  std::mt19937 rng(8);
  int tried = 0;
  for (int round = 0; round < 15000; ++round) {
    std::vector<View> views;
    int64_t elements = 1;
    for (int i = 0; i < 2; ++i) {
      View v;
      v.offset = static_cast<int64_t>(rng() % 6);
      for (int d = 0, rank = 1 + static_cast<int>(rng() % 3); d < rank; ++d) {
        v.shape.push_back(1 + static_cast<int64_t>(rng() % 4));
        v.strides.push_back(1 + static_cast<int64_t>(rng() % 12));
      }
      for (int64_t e : Elements(v)) elements = std::max(elements, e + 1);
      views.push_back(v);
    }
    if (!IsInjective(views[0]) || !IsInjective(views[1])) continue;
    ++tried;
    ExpectAgreement(elements, views);
    ExpectPartAgreement(elements, views);
  }
  EXPECT_GT(tried, 2500);
}

std::vector<int64_t> Sorted(std::vector<int64_t> elements) {
  std::sort(elements.begin(), elements.end());
  return elements;
}

std::vector<int64_t> Elements(const NamedElements& named) {
  View v{DType::kF32, {}, {}, named.offset()};
  for (const NamedElements::Axis& a : named.axes()) {
    v.shape.push_back(a.extent);
    v.strides.push_back(a.stride);
  }
  return Sorted(Elements(v));
}

TEST(VerifyCoverTest, JoinedViewsNameWhatBothDid) {
  std::mt19937 rng(9);
  int joined = 0;
  for (int round = 0; round < 20000; ++round) {
    Dims shape;
    for (int d = 0; d < 3; ++d) shape.push_back(1 + static_cast<int64_t>(rng() % 4));
    // The same window, mostly, and what comes after it along an axis.
    const View one = RandomWindow(rng, shape);
    View other = rng() % 8 == 0 ? RandomWindow(rng, shape) : one;
    const int axis = static_cast<int>(rng() % 3);
    const int64_t distance = std::abs(one.strides[axis]) * one.shape[axis];
    if (rng() % 8 != 0) other.offset += rng() % 8 == 0 ? distance + 1 : distance;
    if (rng() % 3 == 0) other.shape[axis] = 1 + static_cast<int64_t>(rng() % 3);
    if (!IsInjective(other)) continue;
    NamedElements both(one);
    const std::vector<int64_t> first = Elements(NamedElements(one));
    ASSERT_EQ(first, Sorted(Elements(one)));
    if (!both.Join(NamedElements(other))) {
      ASSERT_EQ(Elements(both), first);
      continue;
    }
    ++joined;
    std::vector<int64_t> all = Elements(one);
    for (int64_t e : Elements(other)) all.push_back(e);
    ASSERT_EQ(Elements(both), Sorted(all));
    ASSERT_EQ(both.count(), static_cast<int64_t>(all.size()));
    ASSERT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), all.size())
        << ToString(one.shape) << ToListString(one.strides) << one.offset << " and "
        << ToString(other.shape) << ToListString(other.strides) << other.offset;
  }
  EXPECT_GT(joined, 3000);
}

TEST(VerifyCoverTest, WhatIsJoinedDoesNotRunIntoTheNextAxis) {
  const View left = {DType::kF32, {4, 3}, {6, 1}, 0};
  NamedElements most(left), all(left), none({DType::kF32, {0, 3}, {6, 1}, 0});
  EXPECT_FALSE(most.Join(NamedElements({DType::kF32, {4, 4}, {6, 1}, 3})));
  EXPECT_TRUE(all.Join(NamedElements({DType::kF32, {4, 3}, {6, 1}, 3})));
  EXPECT_EQ(all, NamedElements({DType::kF32, {24}, {1}, 0}));
  // Longer rows would run into the next picture, which is not the next axis.
  NamedElements rows({DType::kF32, {2, 2, 3}, {9, 6, 1}, 0});
  EXPECT_FALSE(rows.Join(NamedElements({DType::kF32, {2, 2, 3}, {9, 6, 1}, 3})));
  EXPECT_FALSE(most.Join(none));
  EXPECT_FALSE(none.Join(most));
}

TEST(VerifyCoverTest, ConcatenationsArePartitions) {
  // Along the inner axis, the outer axis, and with one part written as a flat range.
  ExpectAgreement(24, {{DType::kF32, {4, 2}, {6, 1}, 0}, {DType::kF32, {4, 4}, {6, 1}, 2}});
  ExpectAgreement(24, {{DType::kF32, {1, 6}, {6, 1}, 0}, {DType::kF32, {18}, {1}, 6}});
  ExpectAgreement(24, {{DType::kF32, {2, 6}, {12, 1}, 0}, {DType::kF32, {2, 6}, {12, 1}, 6}});
  ExpectAgreement(0, {});
  ExpectAgreement(4, {{DType::kF32, {0, 4}, {4, 1}, 0}, {DType::kF32, {4}, {1}, 0}});
}

TEST(VerifyCoverTest, PartsOfAConcatenation) {
  const View left = {DType::kF32, {4, 2}, {6, 1}, 0}, middle = {DType::kF32, {4, 1}, {6, 1}, 2};
  ExpectPartAgreement(24, {{DType::kF32, {4, 3}, {6, 1}, 0}, left, middle});
  ExpectPartAgreement(24, {{DType::kF32, {4, 4}, {6, 1}, 0}, left, middle});
  ExpectPartAgreement(24, {{DType::kF32, {4, 3}, {6, 1}, 3}, left, middle});
  // Written twice: what a reader finds depends on the order.
  ExpectPartAgreement(24, {{DType::kF32, {4, 2}, {6, 1}, 0}, left, middle, left});
  // The element that is written twice is not read.
  ExpectPartAgreement(24, {{DType::kF32, {4, 1}, {6, 1}, 0}, left, middle, middle});
  // Sliding windows name elements more than once.
  ExpectPartAgreement(8, {{DType::kF32, {3, 2}, {1, 1}, 0}, {DType::kF32, {4}, {1}, 0}});
  ExpectPartAgreement(8, {{DType::kF32, {3, 3}, {1, 1}, 0}, {DType::kF32, {4}, {1}, 0}});
  ExpectPartAgreement(8, {{DType::kF32, {2, 4}, {0, 1}, 0}, {DType::kF32, {4}, {1}, 0}});
  ExpectPartAgreement(8, {{DType::kF32, {0}, {1}, 0}, {DType::kF32, {4}, {1}, 0}});
}

TEST(VerifyCoverTest, ManyPartsAreProvenQuickly) {
  // 20,000 columns of a row-major matrix: element marking and pairs would both pass the budget.
  constexpr int64_t kColumns = 20000, kRows = 2000;
  std::vector<View> views;
  for (int64_t c = 0; c < kColumns; ++c) {
    views.push_back({DType::kF32, {kRows, 1}, {kColumns, 1}, c});
  }
  CoverProver prover;
  EXPECT_EQ(Partition(prover, kColumns * kRows, views), "");
  views[5].offset = 6;
  EXPECT_NE(Partition(prover, kColumns * kRows, views), "");
}

// Detectors join what they find at three resolutions: columns that are pictures, whose own strides
// divide nothing. Far too many elements to mark.
TEST(VerifyCoverTest, PicturesOfSeveralSizesInOneRow) {
  constexpr int64_t kRows = 1 << 20, kRow = 52 * 52 + 26 * 26 + 13 * 13;
  std::vector<View> views;
  int64_t at = 0;
  for (const int64_t side : {52, 26, 13}) {
    views.push_back({DType::kF32, {kRows, side, side}, {kRow, side, 1}, at});
    at += side * side;
  }
  CoverProver prover;
  EXPECT_EQ(Partition(prover, kRow * kRows, views), "");
  EXPECT_TRUE(
      prover.Covers(kRow * kRows, {DType::kF32, {kRows, kRow}, {kRow, 1}, 0}, Pointers(views)));
  --views[1].offset;
  EXPECT_NE(Partition(prover, kRow * kRows, views), "");
}

TEST(VerifyCoverTest, ReadsMayRepeatElements) {
  const auto disjoint = [](const std::vector<View>& views) {
    CoverProver prover;
    return prover.Disjoint(16, Pointers(views));
  };
  // A broadcast names its elements once over.
  EXPECT_TRUE(disjoint({{DType::kF32, {4, 2}, {0, 1}, 0}, {DType::kF32, {4}, {1}, 2}}));
  EXPECT_FALSE(disjoint({{DType::kF32, {4, 2}, {0, 1}, 0}, {DType::kF32, {4}, {1}, 1}}));
  // Sliding windows reach beyond each of their axes: elements 0 to 3.
  EXPECT_FALSE(disjoint({{DType::kF32, {3, 2}, {1, 1}, 0}, {DType::kF32, {1}, {1}, 3}}));
}

TEST(VerifyCoverTest, StridesOfNothingMayBeAny) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const View none = {DType::kF32, {3, 0}, {kLeast, 1}, 0}, all = {DType::kF32, {4}, {1}, 0};
  const std::vector<View> views = {all, none};
  CoverProver prover;
  EXPECT_TRUE(prover.Disjoint(4, Pointers(views)));
  EXPECT_EQ(Partition(prover, 4, views), "");
  EXPECT_TRUE(prover.Covers(4, all, Pointers(views)));
  EXPECT_TRUE(prover.Apart(4, all, std::vector{&none}));
}

TEST(VerifyCoverTest, WritersNameEveryElementOnce) {
  const auto said = [](const std::vector<View>& views) {
    CoverProver prover;
    return Partition(prover, 4, views);
  };
  EXPECT_EQ(said({{DType::kF32, {2}, {1}, 0}, {DType::kF32, {2}, {1}, 2}}), "");
  EXPECT_EQ(said({{DType::kF32, {2}, {1}, 0}}), "2 of its 4 elements are written");
  EXPECT_EQ(said({{DType::kF32, {4}, {1}, 0}, {DType::kF32, {2}, {1}, 2}}),
            "its writers name an element twice");
}

TEST(VerifyCoverTest, TheBudgetEndsHopelessWork) {
  // No common radix, and too many elements to mark: refused, not proven by exhaustion.
  const std::vector<View> views = {{DType::kF32, {1 << 20, 50}, {101, 2}, 0},
                                   {DType::kF32, {1 << 20, 50}, {101, 2}, 1}};
  CoverProver prover;
  EXPECT_FALSE(prover.Disjoint(int64_t{101} << 20, Pointers(views)));
  const View halves[] = {{DType::kF32, {1 << 19, 50}, {101, 2}, 0},
                         {DType::kF32, {1 << 19, 50}, {101, 2}, int64_t{101} << 19}};
  EXPECT_FALSE(prover.Covers(int64_t{101} << 20, views[0], std::vector{&halves[0], &halves[1]}));
  // What is read as it was written takes no search.
  EXPECT_TRUE(prover.Covers(int64_t{101} << 20, views[0], std::vector{&views[0]}));
  EXPECT_FALSE(prover.Apart(int64_t{101} << 20, views[0], std::vector{&views[1]}));
  // More distinct strides than digits.
  std::vector<View> strides;
  for (int i = 0; i < 30; ++i) strides.push_back({DType::kF32, {2}, {int64_t{1} << i}, i});
  EXPECT_FALSE(prover.Disjoint(int64_t{1} << 31, Pointers(strides)));
}

}  // namespace
}  // namespace aicf::schema
