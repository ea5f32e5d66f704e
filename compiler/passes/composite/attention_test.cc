// The standard's Attention against sums in f64, over random forms of its inputs.
#include <algorithm>
#include <random>

#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Random;
using testing::ToArray;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct AttentionForm {
  int64_t batch, groups, share, rows, keys, past, size, value_size;
  bool rank3, causal;
  int mask;  // 0 none, 1 bool, 2 float
  Dims mask_shape;
  double scale, softcap;
  int mode;
  bool lengths;
  int64_t left = -1, right = -1;
  bool scores = true;  ///< the model asks for them: attention is no node of its own then

  int64_t heads() const { return groups * share; }
  int64_t total() const { return past + keys; }
};

AttentionForm RandomAttentionForm(std::mt19937& rng) {
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  AttentionForm f{pick(1, 2), pick(1, 3), pick(1, 3), pick(1, 4), pick(1, 5), 0,
                  pick(1, 4), pick(1, 5), false,      false,      0,          {},
                  0,          0,          0,          false};
  f.rank3 = pick(0, 1) != 0;
  f.causal = pick(0, 1) != 0;
  f.lengths = pick(0, 3) == 0;
  if (!f.lengths && pick(0, 1) != 0) f.past = pick(1, 4);
  f.mask = static_cast<int>(pick(0, 2));
  const int64_t rank = pick(2, 4);
  for (int64_t extent : {f.batch, f.heads()}) {
    if (rank == 4 || (rank == 3 && f.mask_shape.empty() && extent == f.heads())) {
      f.mask_shape.push_back(pick(0, 1) != 0 ? extent : 1);
    }
  }
  f.mask_shape.push_back(pick(0, 2) != 0 ? f.rows : 1);
  f.mask_shape.push_back(pick(1, f.total()));
  f.scale = pick(0, 1) != 0 ? 0.7 : 0;
  f.softcap = pick(0, 2) == 0 ? 1.5 : 0;
  f.mode = static_cast<int>(pick(0, 3));
  if (pick(0, 2) == 0) f.left = pick(0, 4);
  if (pick(0, 2) == 0) f.right = pick(0, 4);
  f.scores = pick(0, 2) == 0;
  return f;
}

struct Inputs {
  ir::Tensor q, k, v, mask, past_k, past_v, lengths;
};

Inputs MakeInputs(const AttentionForm& f, DType dtype, uint32_t seed) {
  auto shape = [&](int64_t heads, int64_t length, int64_t size) {
    return f.rank3 ? Dims{f.batch, length, heads * size} : Dims{f.batch, heads, length, size};
  };
  Inputs in;
  in.q = Random(dtype, shape(f.heads(), f.rows, f.size), seed);
  in.k = Random(dtype, shape(f.groups, f.keys, f.size), seed + 1);
  in.v = Random(dtype, shape(f.groups, f.keys, f.value_size), seed + 2);
  in.past_k = Random(dtype, {f.batch, f.groups, f.past, f.size}, seed + 3);
  in.past_v = Random(dtype, {f.batch, f.groups, f.past, f.value_size}, seed + 4);
  in.mask = f.mask == 1 ? Random(DType::kBool, f.mask_shape, seed + 5, 0, 2)
                        : Random(dtype, f.mask_shape, seed + 5);
  in.lengths = Random(DType::kI64, {f.batch}, seed + 6, 0, static_cast<double>(f.keys + 1));
  return in;
}

struct ExpectedAttention {
  Array y, present_k, present_v, scores;
};

// The bias of one score; minus infinity where it is masked out.
double BiasAt(const AttentionForm& f, const Inputs& in, const Dims& at) {
  double bias = 0;
  if (f.mask != 0) {
    const Array mask = ToArray(in.mask);
    if (at[3] >= mask.shape.back() && mask.shape.back() != f.total()) return kMinusInfinity;
    const double m = mask.Broadcast(at);
    bias = f.mask == 2 ? m : m != 0 ? 0 : kMinusInfinity;
  }
  int64_t offset = f.past;
  if (f.lengths) {
    const int64_t length = in.lengths.IntAt(at[0]);
    if (at[3] >= length) return kMinusInfinity;
    offset = length - f.rows;
  }
  const int64_t position = at[2] + offset;
  if (f.left >= 0 && at[3] < position - f.left) return kMinusInfinity;
  if (f.right >= 0 && at[3] > position + f.right) return kMinusInfinity;
  return f.causal && at[3] > position ? kMinusInfinity : bias;
}

ExpectedAttention Reference(const AttentionForm& f, const Inputs& in) {
  const Array q = testing::HeadsOf(ToArray(in.q), f.heads());
  ExpectedAttention e;
  e.present_k = testing::Appended(ToArray(in.past_k), testing::HeadsOf(ToArray(in.k), f.groups));
  e.present_v = testing::Appended(ToArray(in.past_v), testing::HeadsOf(ToArray(in.v), f.groups));
  const Dims shape{f.batch, f.heads(), f.rows, f.total()};
  Array stages[4] = {Array(shape), Array(shape), Array(shape), Array(shape)};
  const double scale = f.scale != 0 ? f.scale : 1 / std::sqrt(static_cast<double>(f.size));
  testing::ForEach(shape, [&](const Dims& at) {
    double sum = 0;
    for (int64_t d = 0; d < f.size; ++d) {
      sum += q[{at[0], at[1], at[2], d}] * e.present_k[{at[0], at[1] / f.share, at[3], d}];
    }
    stages[0][at] = sum * scale;
    stages[1][at] = f.softcap == 0 ? sum * scale : f.softcap * std::tanh(sum * scale / f.softcap);
    stages[2][at] = stages[1][at] + BiasAt(f, in, at);
  });
  Array y({f.batch, f.heads(), f.rows, f.value_size});
  testing::ForEach({f.batch, f.heads(), f.rows}, [&](const Dims& row) {
    double best = kMinusInfinity, total = 0;
    auto score = [&](int64_t s) { return stages[2][{row[0], row[1], row[2], s}]; };
    for (int64_t s = 0; s < f.total(); ++s) best = std::max(best, score(s));
    for (int64_t s = 0; s < f.total(); ++s) total += std::exp(score(s) - best);
    for (int64_t s = 0; s < f.total(); ++s) {
      const double p = best == kMinusInfinity ? 0 : std::exp(score(s) - best) / total;
      stages[3][{row[0], row[1], row[2], s}] = p;
      for (int64_t d = 0; d < f.value_size; ++d) {
        y[{row[0], row[1], row[2], d}] += p * e.present_v[{row[0], row[1] / f.share, s, d}];
      }
    }
  });
  e.scores = stages[f.mode];
  e.y = f.rank3 ? testing::Merged(y) : y;
  return e;
}

CompositeCase CaseOf(const AttentionForm& f, const Inputs& in, bool constant_mask) {
  CompositeCase c("Attention");
  c.Input("q", in.q).Input("k", in.k).Input("v", in.v);
  f.mask != 0 ? c.Input("mask", in.mask, constant_mask) : c.Absent();
  f.past > 0 ? c.Input("pk", in.past_k).Input("pv", in.past_v) : c.Absent().Absent();
  if (f.lengths) c.Input("lengths", in.lengths);
  if (f.rank3) c.Attr("q_num_heads", StrCat(f.heads())).Attr("kv_num_heads", StrCat(f.groups));
  if (f.causal) c.Attr("is_causal", "1");
  if (f.left >= 0) c.Attr("left_window_size", StrCat(f.left));
  if (f.right >= 0) c.Attr("right_window_size", StrCat(f.right));
  if (f.scale != 0) c.Attr("scale", "0.7");
  if (f.softcap != 0) c.Attr("softcap", "1.5");
  c.Output("y").Output("nk").Output("nv");
  return f.scores ? c.Attr("qk_matmul_output_mode", StrCat(f.mode)).Output("s") : c;
}

int64_t CountOps(const ir::Graph& graph, std::string_view op) {
  return std::ranges::count(graph.nodes, op, &ir::Node::op);
}

void ExpectAttention(const AttentionForm& f, DType dtype, uint32_t seed, double tolerance) {
  const Inputs in = MakeInputs(f, dtype, seed);
  const CompositeCase c = CaseOf(f, in, seed % 2 == 0);
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString() << "\n" << c.Text();
  const ExpectedAttention want = Reference(f, in);
  testing::ExpectClose(run->outputs[0], want.y, tolerance, tolerance, c.Text());
  testing::ExpectClose(run->outputs[1], want.present_k, 0, 0, c.Text());
  testing::ExpectClose(run->outputs[2], want.present_v, 0, 0, c.Text());
  EXPECT_EQ(CountOps(run->graph, "aicf.Attention"), f.scores ? 0 : 1) << c.Text();
  EXPECT_EQ(CountOps(run->graph, "Softmax"), f.scores ? 1 : 0) << c.Text();
  if (f.scores) testing::ExpectClose(run->outputs[3], want.scores, tolerance, tolerance, c.Text());
}

TEST(Attention, RandomForms) {
  std::mt19937 rng(20240531);
  for (uint32_t i = 0; i < 150; ++i) {
    const AttentionForm f = RandomAttentionForm(rng);
    ExpectAttention(f, i % 3 == 0 ? DType::kF64 : DType::kF32, 100 * i + i % 2, 2e-5);
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, HalfPrecision) {
  std::mt19937 rng(7);
  for (uint32_t i = 0; i < 20; ++i) {
    AttentionForm f = RandomAttentionForm(rng);
    f.softcap = 0;
    ExpectAttention(f, DType::kF16, 100 * i, 8e-3);
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, ACausalStepWithItsCacheNeedsNoMask) {
  CompositeCase c("Attention");
  c.Input("q", Random(DType::kF32, {1, 2, 1, 4}, 1))
      .Input("k", Random(DType::kF32, {1, 2, 1, 4}, 2));
  c.Input("v", Random(DType::kF32, {1, 2, 1, 4}, 3)).Absent();
  c.Input("pk", Random(DType::kF32, {1, 2, 6, 4}, 4))
      .Input("pv", Random(DType::kF32, {1, 2, 6, 4}, 5));
  c.Attr("is_causal", "1").Output("y");
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  const auto node = std::ranges::find(run->graph.nodes, "aicf.Attention", &ir::Node::op);
  ASSERT_NE(node, run->graph.nodes.end());
  EXPECT_EQ(node->inputs.size(), 3U);
  EXPECT_EQ(node->Int("offset", 0), 6);
  EXPECT_EQ(node->Int("window_right", -1), 0);
}

// The condition that keeps attention from being one node, or "" when it is.
std::string RefusalOf(const CompositeCase& c) {
  const auto run = c.Run();
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  for (const Decision& d : run->decisions.decisions()) {
    if (ToString(d.subject) == "Attention \"node\"" && !d.alternatives.empty()) {
      return d.alternatives[0].refusal.substr(0, d.alternatives[0].refusal.find(':'));
    }
  }
  return "";
}

TEST(Attention, SaysWhyItIsNotOneNode) {
  const auto base = [](DType values) {
    CompositeCase c("Attention");
    const Dims shape{1, 2, 3, 4};
    return c.Input("q", Random(DType::kF32, shape, 1))
        .Input("k", Random(DType::kF32, shape, 2))
        .Input("v", Random(values, shape, 3));
  };
  const auto scores = [&] {
    return base(DType::kF32).Output("y").Output("_").Output("_").Output("s");
  };
  EXPECT_EQ(RefusalOf(base(DType::kF32).Output("y")), "");
  EXPECT_EQ(RefusalOf(base(DType::kF32).Attr("softmax_precision", "1").Output("y")), "");
  EXPECT_EQ(RefusalOf(base(DType::kF32).Attr("softmax_precision", "11").Output("y")), "precision");
  EXPECT_EQ(RefusalOf(base(DType::kF64).Output("y")), "dtype");
  EXPECT_EQ(RefusalOf(scores()), "outputs");
}

TEST(Attention, RefusesWhatDoesNotFit) {
  auto base = [] {
    CompositeCase c("Attention");
    return c.Input("q", Random(DType::kF32, {1, 2, 3, 4}, 1));
  };
  const ir::Tensor good = Random(DType::kF32, {1, 2, 3, 4}, 2);
  const ir::Tensor bad = Random(DType::kF32, {1, 2, 3, 5}, 3);
  const Status sizes = testing::Refusal(base().Input("k", bad).Input("v", good).Output("y"));
  EXPECT_EQ(sizes.code(), Code::kBadModel);
  EXPECT_NE(sizes.message().find("1x2x3x5"), std::string::npos) << sizes.message();
  EXPECT_NE(sizes.message().find("Attention node \"node\""), std::string::npos) << sizes.message();
  const ir::Tensor mask = Random(DType::kF32, {3, 4}, 4);
  EXPECT_EQ(testing::Refusal(base().Input("k", good).Input("v", good).Input("m", mask).Output("y"))
                .code(),
            Code::kBadModel);
  CompositeCase flat("Attention");
  flat.Input("q", Random(DType::kF32, {1, 3, 8}, 1)).Input("k", Random(DType::kF32, {1, 3, 8}, 1));
  flat.Input("v", Random(DType::kF32, {1, 3, 8}, 1)).Output("y");
  EXPECT_NE(testing::Refusal(flat).message().find("q_num_heads"), std::string::npos);
}

}  // namespace
}  // namespace aicf
