// NonZero, Compress, Unique and NonMaxSuppression against plain loops, over random forms; and what
// is done with their results.
#include <algorithm>
#include <random>

#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Pick;
using testing::RandomShape;
using testing::RunResult;

/// Whole numbers in [low, high]: few of them, so that many are equal.
ir::Tensor Whole(std::mt19937& rng, DType dtype, const Dims& shape, int64_t low, int64_t high) {
  Array a(shape);
  for (double& v : a.data) v = static_cast<double>(Pick(rng, low, high));
  return testing::ToTensor(a, dtype);
}

/// Output o of the graph, cut to its count.
Array Actual(const RunResult& run, size_t o) {
  const Array& whole = run.outputs[o];
  for (const schema::OutputExtent& e : run.lowered.extents) {
    if (e.output != o) continue;
    Dims shape = whole.shape;
    const double count = run.outputs[e.count].data[0];
    EXPECT_LE(count, static_cast<double>(shape[static_cast<int>(e.axis)]));
    shape[static_cast<int>(e.axis)] = static_cast<int64_t>(count);
    return testing::Generate(shape, [&](const Dims& at) { return whole[at]; });
  }
  return whole;
}

void ExpectArray(const Array& got, const Array& want, const CompositeCase& c) {
  ASSERT_EQ(ToString(got.shape), ToString(want.shape)) << c.Text();
  EXPECT_EQ(got.data, want.data) << c.Text();
}

Array NonZeroOf(const Array& x) {
  std::vector<Dims> found;
  testing::ForEach(x.shape, [&](const Dims& at) {
    if (x[at] != 0) found.push_back(at);
  });
  return testing::Generate(
      {x.shape.rank(), static_cast<int64_t>(found.size())}, [&](const Dims& at) {
        return static_cast<double>(found[static_cast<size_t>(at[1])][static_cast<int>(at[0])]);
      });
}

TEST(NonZero, EveryForm) {
  std::mt19937 rng(1);
  const DType dtypes[] = {DType::kF32, DType::kI64, DType::kBool, DType::kF16, DType::kU8};
  for (int i = 0; i < 40; ++i) {
    const ir::Tensor x =
        Whole(rng, dtypes[i % 5], RandomShape(rng, 1, 4, 4), 0, Pick(rng, 0, 3) == 0 ? 0 : 2);
    const bool constant = i % 7 == 0;
    CompositeCase c("NonZero");
    c.Input("x", x, constant).Output("y");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    // A constant's count is known: the output has its shape, and nothing is left to count.
    EXPECT_EQ(run->lowered.extents.size(), constant ? 0u : 1u);
    ExpectArray(Actual(*run, 0), NonZeroOf(testing::ToArray(x)), c);
  }
}

TEST(Compress, EveryForm) {
  std::mt19937 rng(2);
  for (int i = 0; i < 40; ++i) {
    const Dims shape = RandomShape(rng, 1, 3, 4);
    const bool flat = Pick(rng, 0, 2) == 0;
    const int axis = static_cast<int>(Pick(rng, 0, shape.rank() - 1));
    const int64_t length = flat ? *ElementCount(shape) : shape[axis];
    const ir::Tensor x = Whole(rng, DType::kF32, shape, -9, 9);
    const ir::Tensor chosen =
        Whole(rng, DType::kBool, {Pick(rng, 1, length + (i % 3 == 0 ? 2 : 0))}, 0, 1);
    CompositeCase c("Compress");
    c.Input("x", x).Input("c", chosen).Output("y");
    if (!flat) c.Attr("axis", std::to_string(i % 2 == 0 ? axis : axis - shape.rank()));
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    Array data = testing::ToArray(x);
    if (flat) data.shape = {length};
    const int at_axis = flat ? 0 : axis;
    std::vector<int64_t> kept;
    for (int64_t k = 0; k < std::min(chosen.count(), length); ++k) {
      if (chosen.IntAt(k) != 0) kept.push_back(k);
    }
    Dims out = data.shape;
    out[at_axis] = static_cast<int64_t>(kept.size());
    ExpectArray(Actual(*run, 0),
                testing::Generate(out,
                                  [&](Dims at) {
                                    at[at_axis] = kept[static_cast<size_t>(at[at_axis])];
                                    return data[at];
                                  }),
                c);
  }
}

/// Unique by comparing every row with every group found so far.
struct Groups {
  std::vector<std::vector<double>> rows;
  std::vector<double> first, inverse, counts;

  Groups(const std::vector<std::vector<double>>& all, bool sorted) {
    for (size_t i = 0; i < all.size(); ++i) {
      const auto known = std::find(rows.begin(), rows.end(), all[i]);
      if (known != rows.end()) {
        counts[static_cast<size_t>(known - rows.begin())] += 1;
        continue;
      }
      rows.push_back(all[i]);
      first.push_back(static_cast<double>(i));
      counts.push_back(1);
    }
    if (sorted) {
      std::vector<size_t> order(rows.size());
      for (size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rows[a] < rows[b]; });
      const Groups old = *this;
      for (size_t k = 0; k < order.size(); ++k) {
        rows[k] = old.rows[order[k]];
        first[k] = old.first[order[k]];
        counts[k] = old.counts[order[k]];
      }
    }
    for (const auto& row : all) {
      inverse.push_back(
          static_cast<double>(std::find(rows.begin(), rows.end(), row) - rows.begin()));
    }
  }
};

TEST(Unique, EveryForm) {
  std::mt19937 rng(3);
  const DType dtypes[] = {DType::kF32, DType::kI64, DType::kBool, DType::kI8, DType::kF16};
  for (int i = 0; i < 60; ++i) {
    const Dims shape = RandomShape(rng, 1, 3, 4);
    const bool flat = Pick(rng, 0, 1) == 0, sorted = Pick(rng, 0, 1) == 0;
    const ir::Tensor x =
        Whole(rng, dtypes[i % 5], shape, dtypes[i % 5] == DType::kBool ? 0 : -2, 1);
    const int axis = flat ? 0 : static_cast<int>(Pick(rng, 0, shape.rank() - 1));
    CompositeCase c("Unique");
    c.Input("x", x).Output("y").Output("first").Output("inverse").Output("counts");
    if (!flat) c.Attr("axis", std::to_string(i % 2 == 0 ? axis : axis - shape.rank()));
    if (!sorted || i % 3 == 0) c.Attr("sorted", sorted ? "1" : "0");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    Array data = testing::ToArray(x);
    if (flat) data.shape = {*ElementCount(shape)};
    std::vector<std::vector<double>> rows(static_cast<size_t>(data.shape[axis]));
    testing::ForEach(data.shape, [&](const Dims& at) {
      rows[static_cast<size_t>(at[axis])].push_back(data[at]);
    });
    const Groups want(rows, sorted);
    Dims out = data.shape;
    out[axis] = static_cast<int64_t>(want.rows.size());
    ExpectArray(Actual(*run, 0),
                testing::Generate(out,
                                  [&](Dims at) {
                                    at[axis] = static_cast<int64_t>(
                                        want.first[static_cast<size_t>(at[axis])]);
                                    return data[at];
                                  }),
                c);
    EXPECT_EQ(Actual(*run, 1).data, want.first) << c.Text();
    EXPECT_EQ(run->outputs[2].data, want.inverse) << c.Text();
    EXPECT_EQ(Actual(*run, 3).data, want.counts) << c.Text();
    // The three outputs that end with the groups share one count.
    ASSERT_EQ(run->lowered.extents.size(), 3u);
    EXPECT_EQ(run->lowered.extents[0].count, run->lowered.extents[2].count);
    EXPECT_EQ(run->lowered.outputs.size(), 5u);
  }
}

TEST(Unique, LongRowsAreRefused) {
  CompositeCase c("Unique");
  c.Input("x", testing::Random(DType::kF32, {2, 300}, 1)).Attr("axis", "0").Output("y");
  EXPECT_EQ(testing::Refusal(c).code(), Code::kUnsupported);
}

struct Box {
  double x0, y0, x1, y1;
  double Area() const { return (x1 - x0) * (y1 - y0); }
};

double Overlap(const Box& a, const Box& b) {
  const double w = std::max(0.0, std::min(a.x1, b.x1) - std::max(a.x0, b.x0));
  const double h = std::max(0.0, std::min(a.y1, b.y1) - std::max(a.y0, b.y0));
  return w * h > 0 ? w * h / (a.Area() + b.Area() - w * h) : 0;
}

Box BoxAt(const Array& boxes, int64_t n, int64_t i, bool center) {
  const double v[4] = {boxes[{n, i, 0}], boxes[{n, i, 1}], boxes[{n, i, 2}], boxes[{n, i, 3}]};
  if (center) {
    return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  }
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

std::vector<double> Selected(const Array& boxes, const Array& scores, int64_t limit, double overlap,
                             double least, bool center) {
  std::vector<double> rows;
  const Dims& s = scores.shape;
  for (int64_t n = 0; n < s[0]; ++n) {
    for (int64_t c = 0; c < s[1]; ++c) {
      std::vector<int64_t> order, kept;
      for (int64_t i = 0; i < s[2]; ++i) {
        if (scores[{n, c, i}] > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return scores[{n, c, a}] > scores[{n, c, b}];
      });
      for (int64_t i : order) {
        const bool covered = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
          return Overlap(BoxAt(boxes, n, i, center), BoxAt(boxes, n, k, center)) > overlap;
        });
        if (covered || static_cast<int64_t>(kept.size()) >= limit) continue;
        kept.push_back(i);
        rows.insert(rows.end(),
                    {static_cast<double>(n), static_cast<double>(c), static_cast<double>(i)});
      }
    }
  }
  return rows;
}

TEST(NonMaxSuppression, EveryForm) {
  std::mt19937 rng(4);
  for (int i = 0; i < 40; ++i) {
    const Dims scores_shape = {Pick(rng, 1, 2), Pick(rng, 1, 3), Pick(rng, 1, 20)};
    Array boxes({scores_shape[0], scores_shape[2], 4}), scores(scores_shape);
    for (double& v : boxes.data) v = static_cast<double>(Pick(rng, 0, 40)) / 8;
    for (double& v : scores.data) v = static_cast<double>(Pick(rng, -8, 32)) / 32;
    const bool center = i % 2 == 0, has_least = i % 3 != 0, has_overlap = i % 5 != 0;
    const int64_t limit = Pick(rng, 0, 8);
    const double overlap = static_cast<double>(Pick(rng, 0, 15)) / 16 + 1.0 / 64;
    const double least = static_cast<double>(Pick(rng, 0, 8)) / 16;
    Array one({1});
    const auto scalar = [&](double v) {
      one.data[0] = v;
      return testing::ToTensor(one, DType::kF32);
    };
    CompositeCase c("NonMaxSuppression");
    c.Input("boxes", testing::ToTensor(boxes, DType::kF32))
        .Input("scores", testing::ToTensor(scores, DType::kF32))
        .Input("limit", testing::Ints({limit}), i % 4 != 0);
    has_overlap ? c.Input("overlap", scalar(overlap), i % 2 == 0) : c.Absent();
    if (has_least) c.Input("least", scalar(least));
    c.Attr("center_point_box", center ? "1" : "0").Output("y");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    const std::vector<double> want = Selected(boxes, scores, limit, has_overlap ? overlap : 0,
                                              has_least ? least : -INFINITY, center);
    const Array got = Actual(*run, 0);
    EXPECT_EQ(got.shape, (Dims{static_cast<int64_t>(want.size()) / 3, 3})) << c.Text();
    EXPECT_EQ(got.data, want) << c.Text();
  }
}

/// Runs a graph of several nodes; x: f32 [3, 4] with zeros.
Result<RunResult> RunWithNonZero(const std::string& nodes, const ir::Tensor& x) {
  RunResult out;
  AICF_ASSIGN_OR_RETURN(
      out.graph, ir::ParseGraph(StrCat("graph \"g\" {\ninput %x: f32[3x4]\n",
                                       "const %zero: i64[] = [0]\nconst %one: i64[1] = [1]\n",
                                       "%nz: i64 = NonZero(%x) \"nonzero\"\n", nodes, "}")));
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice("cpu:baseline"));
  context.decisions = &out.decisions;
  AICF_RETURN_IF_ERROR(InferAndFold(out.graph, context));
  AICF_RETURN_IF_ERROR(Verify(out.graph));
  AICF_ASSIGN_OR_RETURN(out.lowered, LowerGraph(out.graph, context));
  AICF_RETURN_IF_ERROR(Verify(out.lowered));
  AICF_ASSIGN_OR_RETURN(out.tensors, Interpret(out.lowered, {x}));
  for (const ir::Tensor& t : out.tensors) out.outputs.push_back(testing::ToArray(t));
  return out;
}

// What exporters make of x[x != 0].
TEST(CountedValues, SelectTheElementsThatAreNotZero) {
  std::mt19937 rng(5);
  for (int i = 0; i < 20; ++i) {
    const ir::Tensor x = Whole(rng, DType::kF32, {3, 4}, -1, 1);
    const auto run = RunWithNonZero(
        "%t: i64 = Transpose(%nz) {perm=[1, 0]} \"t\"\n"
        "%v: f32 = GatherND(%x, %t) \"v\"\n"
        "%y: f32 = Add(%v, %v) \"y\"\noutput %y\noutput %t\n",
        x);
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    std::vector<double> want;
    for (double v : testing::ToArray(x).data) {
      if (v != 0) want.push_back(2 * v);
    }
    EXPECT_EQ(Actual(*run, 0).data, want);
    EXPECT_EQ(Actual(*run, 1).shape, (Dims{static_cast<int64_t>(want.size()), 2}));
    testing::ExpectRoundTrip(run->lowered);
  }
}

TEST(CountedValues, TheirShapeIsReadWhenTheProgramRuns) {
  Array x({3, 4});
  x.data = {0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 3};
  const auto run = RunWithNonZero(
      "%s: i64 = Shape(%nz) \"s\"\n%n: i64 = Size(%nz) \"n\"\noutput %s\noutput %n\n",
      testing::ToTensor(x, DType::kF32));
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(run->outputs[0].data, (std::vector<double>{2, 3}));
  EXPECT_EQ(run->outputs[1].data, (std::vector<double>{6}));
  EXPECT_TRUE(run->lowered.extents.empty());
}

TEST(CountedValues, AConsumerThatMixesPositionsIsRefusedByName) {
  const auto run =
      RunWithNonZero("%y: i64 = ReduceSum(%nz, %one) {keepdims=1} \"total\"\noutput %y\n",
                     testing::Random(DType::kF32, {3, 4}, 1));
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::kUnsupported);
  for (const char* piece : {"ReduceSum", "\"total\"", "\"nz\"", "at most 12", "axis 1"}) {
    EXPECT_NE(run.status().message().find(piece), std::string::npos) << run.status().message();
  }
}

}  // namespace
}  // namespace aicf
