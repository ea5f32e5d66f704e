// Linear attention and the causal convolution against their recurrences in f64.
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Random;
using testing::ToArray;

struct LinearAttentionForm {
  std::string rule;
  int64_t batch, groups, share, length, size, value_size;
  bool past, decay_per_head, beta_shared;
  bool gated() const { return rule == "gated" || rule == "gated_delta"; }
  bool delta() const { return rule == "delta" || rule == "gated_delta"; }
};

struct Result2 {
  Array y, state;
};

Result2 Reference(const LinearAttentionForm& f, const Array& q, const Array& k, const Array& v,
                  Array state, const Array& decay, const Array& beta) {
  Array y({f.batch, f.groups * f.share, f.length, f.value_size});
  for (int64_t b = 0; b < f.batch; ++b) {
    for (int64_t g = 0; g < f.groups; ++g) {
      for (int64_t t = 0; t < f.length; ++t) {
        for (int64_t d = 0; d < f.size && f.gated(); ++d) {
          const double e = std::exp(decay[{b, g, t, f.decay_per_head ? 0 : d}]);
          for (int64_t o = 0; o < f.value_size; ++o) state[{b, g, d, o}] *= e;
        }
        for (int64_t o = 0; o < f.value_size; ++o) {
          double write = v[{b, g, t, o}];
          for (int64_t d = 0; d < f.size && f.delta(); ++d) {
            write -= k[{b, g, t, d}] * state[{b, g, d, o}];
          }
          if (f.delta()) write *= beta[{b, f.beta_shared ? 0 : g, t, 0}];
          for (int64_t d = 0; d < f.size; ++d) state[{b, g, d, o}] += k[{b, g, t, d}] * write;
          for (int64_t h = g * f.share; h < (g + 1) * f.share; ++h) {
            for (int64_t d = 0; d < f.size; ++d) {
              y[{b, h, t, o}] +=
                  q[{b, h, t, d}] * state[{b, g, d, o}] / std::sqrt(static_cast<double>(f.size));
            }
          }
        }
      }
    }
  }
  return {testing::Merged(y), state};
}

void ExpectRule(const LinearAttentionForm& f, uint32_t seed) {
  auto random = [&](int64_t width, double low = -1, double high = 1) {
    return Random(DType::kF32, {f.batch, f.length, width}, seed++, low, high);
  };
  const ir::Tensor q = random(f.groups * f.share * f.size), k = random(f.groups * f.size),
                   v = random(f.groups * f.value_size);
  const ir::Tensor decay = random(f.groups * (f.decay_per_head ? 1 : f.size), -1, 0),
                   beta = random(f.beta_shared ? 1 : f.groups, 0, 1);
  const Dims states{f.batch, f.groups, f.size, f.value_size};
  const ir::Tensor past = Random(DType::kF32, states, seed++);
  CompositeCase c("LinearAttention");
  c.Input("q", q).Input("k", k).Input("v", v);
  f.past ? c.Input("past", past) : c.Absent();
  if (f.gated() || f.delta()) f.gated() ? c.Input("decay", decay) : c.Absent();
  if (f.delta()) c.Input("beta", beta);
  c.Attr("update_rule", StrCat("\"", f.rule, "\"")).Attr("q_num_heads", StrCat(f.groups * f.share));
  c.Attr("kv_num_heads", StrCat(f.groups)).Output("y").Output("state");
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
  const Result2 want =
      Reference(f, testing::HeadsOf(ToArray(q), f.groups * f.share),
                testing::HeadsOf(ToArray(k), f.groups), testing::HeadsOf(ToArray(v), f.groups),
                f.past ? ToArray(past) : Array(states), testing::HeadsOf(ToArray(decay), f.groups),
                testing::HeadsOf(ToArray(beta), f.beta_shared ? 1 : f.groups));
  testing::ExpectClose(run->outputs[0], want.y, 2e-5, 2e-5, c.Text());
  testing::ExpectClose(run->outputs[1], want.state, 2e-5, 2e-5, c.Text());
}

TEST(LinearAttention, EveryRule) {
  uint32_t seed = 1;
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    for (bool past : {false, true}) {
      ExpectRule({rule, 2, 2, 1, 5, 4, 3, past, false, false}, seed += 20);
      ExpectRule({rule, 1, 2, 3, 4, 3, 5, past, true, true}, seed += 20);
      ExpectRule({rule, 2, 1, 2, 1, 4, 4, past, false, false}, seed += 20);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LinearAttention, LongSequencesNeedTheRuleWithoutARecurrence) {
  auto make = [](const std::string& rule) {
    CompositeCase c("LinearAttention");
    for (const char* name : {"q", "k", "v"}) c.Input(name, Random(DType::kF32, {1, 600, 4}, 1));
    c.Absent();
    if (rule == "gated") c.Input("decay", Random(DType::kF32, {1, 600, 4}, 2, -1, 0));
    c.Attr("update_rule", StrCat("\"", rule, "\""))
        .Attr("q_num_heads", "1")
        .Attr("kv_num_heads", "1");
    return c.Output("y");
  };
  EXPECT_TRUE(make("linear").Run().ok());
  const Status refused = testing::Refusal(make("gated"));
  EXPECT_EQ(refused.code(), Code::kUnsupported);
  EXPECT_NE(refused.message().find("600 positions"), std::string::npos) << refused.message();
}

TEST(CausalConvWithState, ContinuesFromTheState) {
  for (const auto& [length, kernel, activation] :
       {std::tuple{6, 4, "none"}, {2, 5, "silu"}, {1, 3, "swish"}, {4, 1, "none"}}) {
    const ir::Tensor x = Random(DType::kF32, {2, 3, length}, 1),
                     w = Random(DType::kF32, {3, 1, kernel}, 2), bias = Random(DType::kF32, {3}, 3),
                     past = Random(DType::kF32, {2, 3, kernel - 1}, 4);
    CompositeCase c("CausalConvWithState");
    c.Input("x", x).Input("w", w).Input("b", bias).Input("past", past);
    c.Attr("activation", StrCat("\"", activation, "\"")).Output("y").Output("state");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    const Array a = ToArray(x), p = ToArray(past), k = ToArray(w), b = ToArray(bias);
    auto at = [&, kernel = kernel](int64_t n, int64_t ch, int64_t t) {
      return t < kernel - 1 ? p[{n, ch, t}] : a[{n, ch, t - kernel + 1}];
    };
    const Array want =
        testing::Generate(a.shape, [&, kernel = kernel, activation = activation](const Dims& i) {
          double sum = b[{i[1]}];
          for (int64_t t = 0; t < kernel; ++t) sum += at(i[0], i[1], i[2] + t) * k[{i[1], 0, t}];
          return std::string_view(activation) == "none" ? sum : sum / (1 + std::exp(-sum));
        });
    const Array state = testing::Generate({2, 3, kernel - 1}, [&, length = length](const Dims& i) {
      return at(i[0], i[1], i[2] + length);
    });
    testing::ExpectClose(run->outputs[0], want, 1e-5, 1e-5, c.Text());
    testing::ExpectClose(run->outputs[1], state, 0, 0, c.Text());
  }
}

}  // namespace
}  // namespace aicf
