// Loops whose number of trips is decided at run time, compared with plain C++.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/loops/loop_model.h"

namespace aicf::loops {
namespace {

class Loops : public ::testing::TestWithParam<const char*> {
 protected:
  Compiled Make(const ModelBuilder& model, size_t loops) {
    auto compiled = Compile(model, GetParam());
    EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
    if (!compiled.ok()) return {};
    EXPECT_EQ(compiled->loops(), loops) << ToString(compiled->plan());
    return *std::move(compiled);
  }
};

// steps of n -> n / 2 or 3 n + 1 until n is 1.
ModelBuilder Collatz() {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  for (int64_t v : {0, 1, 2, 3}) model.Ints("c" + std::to_string(v), {}, {v});
  model.Node("Greater", {"n", "c1"}, {"go"});
  onnx::NodeProto& loop = model.Node("Loop", {"", "go", "n", "c0"}, {"last", "steps"}, "collatz");
  onnx::GraphProto& body =
      AddBody(loop, "body", {"i", "go_in", "v", "s"}, {"more", "next", "s_next"});
  AddNode(body, "Div", {"v", "c2"}, {"half"});
  AddNode(body, "Mul", {"half", "c2"}, {"even"});
  AddNode(body, "Equal", {"v", "even"}, {"is_even"});
  AddNode(body, "Mul", {"v", "c3"}, {"thrice"});
  AddNode(body, "Add", {"thrice", "c1"}, {"up"});
  AddNode(body, "Where", {"is_even", "half", "up"}, {"next"});
  AddNode(body, "Add", {"s", "c1"}, {"s_next"});
  AddNode(body, "Greater", {"next", "c1"}, {"more"});
  model.Output("steps");
  model.Output("last");
  return model;
}

TEST_P(Loops, AConditionAloneEndsThem) {
  Compiled compiled = Make(Collatz(), 1);
  ASSERT_NE(compiled.session, nullptr);
  for (int64_t n = 0; n < 200; ++n) {
    int64_t steps = 0, v = n;
    for (; v > 1; ++steps) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    const Outputs got = Replay(compiled, {{"n", Int(n)}});
    EXPECT_EQ(got, (Outputs{{{}, {static_cast<double>(steps)}}, {{}, {static_cast<double>(v)}}}))
        << n;
  }
}

// The square root of a, at most `trips` steps of Newton's iteration, ending at a small correction.
TEST_P(Loops, ACountAndAConditionEndThem) {
  ModelBuilder model;
  model.Input("a", {});
  model.Input("trips", {}, onnx::TensorProto::INT64);
  model.Floats("half", {}, {0.5f});
  model.Floats("eps", {}, {1e-4f});
  onnx::NodeProto& loop = model.Node("Loop", {"trips", "", "a"}, {"root"}, "newton");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "x"}, {"more", "better"});
  AddNode(body, "Div", {"a", "x"}, {"other"});
  AddNode(body, "Add", {"x", "other"}, {"sum"});
  AddNode(body, "Mul", {"sum", "half"}, {"better"});
  AddNode(body, "Sub", {"better", "x"}, {"step"});
  AddNode(body, "Abs", {"step"}, {"size"});
  AddNode(body, "Greater", {"size", "eps"}, {"more"});
  model.Output("root");
  Compiled compiled = Make(model, 1);
  ASSERT_NE(compiled.session, nullptr);
  std::mt19937 rng(1);
  for (int64_t trips : {-3, 0, 1, 2, 3, 5, 100}) {
    for (int k = 0; k < 10; ++k) {
      const float a = std::uniform_real_distribution<float>(0.5f, 50)(rng);
      float x = a;
      bool more = true;
      for (int64_t i = 0; i < trips && more; ++i) {
        const float better = (x + a / x) * 0.5f;
        more = std::abs(better - x) > 1e-4f;
        x = better;
      }
      const Outputs got = Replay(compiled, {{"a", Floats({}, {a})}, {"trips", Int(trips)}});
      EXPECT_NEAR(got[0].values[0], x, 1e-5 * a) << trips;
    }
  }
}

// (x, y, z) -> (y, z, x + y) beside a state that stays and one that is overwritten by a constant.
TEST_P(Loops, StatesChangeAllAtOnce) {
  ModelBuilder model;
  model.Input("trips", {}, onnx::TensorProto::INT64);
  for (const char* name : {"x", "y", "z", "kept", "lost"}) model.Input(name, {2, 2});
  model.Floats("seven", {2, 2}, {7, 7, 7, 7});
  onnx::NodeProto& loop = model.Node("Loop", {"trips", "", "x", "y", "z", "kept", "lost"},
                                     {"x_out", "y_out", "z_out", "kept_out", "lost_out"}, "turn");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "a", "b", "c", "k", "l"},
                                   {"go", "b", "c", "sum", "k", "seven"});
  AddNode(body, "Add", {"a", "b"}, {"sum"});
  for (const char* name : {"x_out", "y_out", "z_out", "kept_out", "lost_out"}) model.Output(name);
  Compiled compiled = Make(model, 1);
  ASSERT_NE(compiled.session, nullptr);
  for (int64_t trips : {0, 1, 2, 3, 4, 11}) {
    std::vector<std::vector<double>> s = {
        {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}, {17, 18, 19, 20}};
    Feeds feeds{{"trips", Int(trips)}};
    const char* const names[] = {"x", "y", "z", "kept", "lost"};
    for (size_t k = 0; k < s.size(); ++k) {
      feeds[names[k]] = Floats({2, 2}, {s[k].begin(), s[k].end()});
    }
    for (int64_t i = 0; i < trips; ++i) {
      std::vector<double> sum(4);
      for (size_t e = 0; e < 4; ++e) sum[e] = s[0][e] + s[1][e];
      s = {s[1], s[2], sum, s[3], {7, 7, 7, 7}};
    }
    const Outputs got = Replay(compiled, feeds);
    for (size_t k = 0; k < s.size(); ++k) EXPECT_EQ(got[k].values, s[k]) << trips << " " << k;
  }
}

// Each trip stacks what v was; the condition ends the loop before its constant count does.
TEST_P(Loops, StackedResultsHaveAsManyRowsAsThereWereTrips) {
  ModelBuilder model;
  model.Input("v0", {3});
  model.Input("limit", {}, onnx::TensorProto::INT64);
  model.Ints("most", {}, {6});
  model.Ints("one", {}, {1});
  onnx::NodeProto& loop =
      model.Node("Loop", {"most", "", "v0"}, {"v", "history", "numbers"}, "doubling");
  onnx::GraphProto& body =
      AddBody(loop, "body", {"i", "go", "v_in"}, {"more", "v_out", "v_in", "number"});
  AddNode(body, "Add", {"v_in", "v_in"}, {"v_out"});
  AddNode(body, "Add", {"i", "one"}, {"number"});
  AddNode(body, "Less", {"number", "limit"}, {"more"});
  for (const char* name : {"v", "history", "numbers"}) model.Output(name);
  Compiled compiled = Make(model, 1);
  ASSERT_NE(compiled.session, nullptr);
  for (int64_t limit : {5, 1, 3, 100, 6, 2}) {
    const Outputs got = Replay(compiled, {{"v0", Floats({3}, {1, 2, 3})}, {"limit", Int(limit)}});
    const int64_t trips = std::min<int64_t>(6, std::max<int64_t>(1, limit));
    Outputs want = {{{3}, {}}, {{trips, 3}, {}}, {{trips}, {}}};
    for (int64_t t = 0; t < trips; ++t) {
      for (double v : {1, 2, 3}) want[1].values.push_back(std::ldexp(v, static_cast<int>(t)));
      want[2].values.push_back(static_cast<double>(t + 1));
    }
    for (double v : {1, 2, 3}) want[0].values.push_back(std::ldexp(v, static_cast<int>(trips)));
    EXPECT_EQ(got, want) << limit;
  }
}

TEST_P(Loops, StackedResultsOfNoTripAreEmpty) {
  ModelBuilder model;
  model.Input("go", {1}, onnx::TensorProto::BOOL);
  model.Input("v0", {2});
  model.Ints("most", {1}, {4});
  onnx::NodeProto& loop = model.Node("Loop", {"most", "go", "v0"}, {"v", "history"}, "maybe");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "g", "v_in"}, {"g", "v_out", "v_out"});
  AddNode(body, "Neg", {"v_in"}, {"v_out"});
  model.Output("v");
  model.Output("history");
  Compiled compiled = Make(model, 1);
  ASSERT_NE(compiled.session, nullptr);
  const auto run = [&](bool go) {
    const uint8_t byte = go ? 1 : 0;
    return Replay(compiled,
                  {{"v0", Floats({2}, {1, 2})},
                   {"go", ir::Tensor::FromValues<uint8_t>(DType::kBool, {1}, {&byte, 1})}});
  };
  EXPECT_EQ(run(false), (Outputs{{{2}, {1, 2}}, {{0, 2}, {}}}));
  EXPECT_EQ(run(true), (Outputs{{{2}, {1, 2}}, {{4, 2}, {-1, -2, 1, 2, -1, -2, 1, 2}}}));
}

// sum over i < n of the sum over j <= i of (x * (i + 1) + j), the inner loop's count being i + 1.
TEST_P(Loops, Nest) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  model.Input("x", {2});
  model.Floats("zero", {2}, {0, 0});
  model.Ints("one", {}, {1});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "", "zero"}, {"sum"}, "outer");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "total"}, {"go", "total_out"});
  AddNode(body, "Add", {"i", "one"}, {"count"});
  onnx::NodeProto& inner = AddNode(body, "Loop", {"count", "", "total"}, {"total_out"});
  inner.set_name("inner");
  onnx::GraphProto& core = AddBody(inner, "body", {"j", "go2", "t"}, {"go2", "t_out"});
  AddNode(core, "Cast", {"j"}, {"jf"}).add_attribute()->set_name("to");
  core.mutable_node(0)->mutable_attribute(0)->set_type(onnx::AttributeProto::INT);
  core.mutable_node(0)->mutable_attribute(0)->set_i(onnx::TensorProto::FLOAT);
  AddNode(core, "CastLike", {"count", "x"}, {"cf"});
  AddNode(core, "Mul", {"x", "cf"}, {"scaled"});
  AddNode(core, "Add", {"scaled", "jf"}, {"term"});
  AddNode(core, "Add", {"t", "term"}, {"t_out"});
  model.Output("sum");
  Compiled compiled = Make(model, 2);
  ASSERT_NE(compiled.session, nullptr);
  for (int64_t n : {0, 1, 2, 5}) {
    std::vector<double> want = {0, 0};
    const double x[] = {2, -1};
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        for (size_t e = 0; e < 2; ++e) {
          want[e] += x[e] * static_cast<double>(i + 1) + static_cast<double>(j);
        }
      }
    }
    EXPECT_EQ(Replay(compiled, {{"n", Int(n)}, {"x", Floats({2}, {2, -1})}})[0].values, want) << n;
  }
}

// v -> i < turn ? v * w : v + v, in products that a replay can skip.
TEST_P(Loops, BranchesInsideThemAreSkipped) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  model.Input("turn", {}, onnx::TensorProto::INT64);
  model.Input("v0", {1, 2});
  model.Floats("w", {2, 2}, {0, 1, 1, 1});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "", "v0"}, {"v"}, "steps");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "s"}, {"go", "s_out"});
  AddNode(body, "Less", {"i", "turn"}, {"early"});
  onnx::NodeProto& choice = AddNode(body, "If", {"early"}, {"s_out"});
  choice.set_name("choice");
  AddNode(AddBody(choice, "then_branch", {}, {"t"}), "MatMul", {"s", "w"}, {"t"});
  AddNode(AddBody(choice, "else_branch", {}, {"e"}), "Add", {"s", "s"}, {"e"});
  model.Output("v");
  Compiled compiled = Make(model, 1);
  ASSERT_NE(compiled.session, nullptr);
  size_t guarded = 0;
  for (const schema::Step& s : compiled.plan().steps) guarded += s.guards.empty() ? 0 : 1;
  EXPECT_GE(guarded, 1u) << ToString(compiled.plan());
  for (int64_t n : {0, 1, 4, 6}) {
    for (int64_t turn : {0, 2, 9}) {
      double v[2] = {1, 2};
      for (int64_t i = 0; i < n; ++i) {
        const double a = v[0], b = v[1];
        v[0] = i < turn ? b : a + a;
        v[1] = i < turn ? a + b : b + b;
      }
      const Outputs got =
          Replay(compiled, {{"n", Int(n)}, {"turn", Int(turn)}, {"v0", Floats({1, 2}, {1, 2})}});
      EXPECT_EQ(got[0].values, (std::vector<double>{v[0], v[1]})) << n << " " << turn;
    }
  }
}

// Counting down from a negative number never meets zero: the branch that would is not taken.
TEST_P(Loops, InABranchThatIsNotTakenMakeNoTrip) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  for (int64_t v : {0, 1}) model.Ints("c" + std::to_string(v), {}, {v});
  model.Node("GreaterOrEqual", {"n", "c0"}, {"fine"});
  onnx::NodeProto& choice = model.Node("If", {"fine"}, {"y"}, "choice");
  for (const bool taken : {true, false}) {
    onnx::GraphProto& branch =
        AddBody(choice, taken ? "then_branch" : "else_branch", {}, {taken ? "t" : "e"});
    const std::string p = taken ? "t" : "e";
    // Then: down to zero. Else: up to zero.
    AddNode(branch, "Equal", {"n", "c0"}, {p + "_there"});
    AddNode(branch, "Not", {p + "_there"}, {p + "_go"});
    onnx::NodeProto& loop = AddNode(branch, "Loop", {"", p + "_go", "n", "c0"}, {p + "_last", p});
    loop.set_name(p + "_loop");
    onnx::GraphProto& body = AddBody(loop, "body", {p + "i", p + "g", p + "v", p + "c"},
                                     {p + "more", p + "next", p + "count"});
    AddNode(body, taken ? "Sub" : "Add", {p + "v", "c1"}, {p + "next"});
    AddNode(body, "Add", {p + "c", "c1"}, {p + "count"});
    AddNode(body, "Equal", {p + "next", "c0"}, {p + "end"});
    AddNode(body, "Not", {p + "end"}, {p + "more"});
  }
  model.Output("y");
  Compiled compiled = Make(model, 2);
  ASSERT_NE(compiled.session, nullptr);
  for (int64_t n : {3, -4, 0, 7}) {
    const Outputs got = Replay(compiled, {{"n", Int(n)}});
    EXPECT_EQ(got[0].values[0], static_cast<double>(std::abs(n)));
  }
}

// What the body computes from outside values alone is computed once, before the loop.
TEST_P(Loops, WorkThatEveryTripWouldRepeatStandsBeforeThem) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  model.Input("x", {2, 2});
  model.Input("w", {2, 2});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "", "x"}, {"y"}, "steps");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "v"}, {"go", "v_out"});
  AddNode(body, "MatMul", {"w", "w"}, {"square"});
  AddNode(body, "Add", {"v", "square"}, {"v_out"});
  model.Output("y");
  Compiled compiled = Make(model, 1);
  ASSERT_NE(compiled.session, nullptr);
  const schema::Loop& range = compiled.plan().entry_points[0].loops[0];
  for (uint32_t s = 0; s < compiled.plan().steps.size(); ++s) {
    const bool product = compiled.plan().steps[s].problem.family == abi::Family::kGemm;
    EXPECT_TRUE(!product || s < range.first_step) << s;
  }
  const Outputs got = Replay(
      compiled,
      {{"n", Int(3)}, {"x", Floats({2, 2}, {0, 0, 0, 1})}, {"w", Floats({2, 2}, {1, 1, 0, 1})}});
  EXPECT_EQ(got[0].values, (std::vector<double>{3, 6, 0, 4}));
}

std::string TargetName(const ::testing::TestParamInfo<const char*>& info) {
  return std::string(info.param).substr(0, 3) == "cpu" ? "cpu" : "cuda";
}
INSTANTIATE_TEST_SUITE_P(Targets, Loops, ::testing::ValuesIn(kTargets), TargetName);

}  // namespace
}  // namespace aicf::loops
