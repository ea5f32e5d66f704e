// Random graphs of the ops that the graph passes rewrite: with all passes and with none, the same
// values come out, to the rounding of weights that took a scale.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/ir/text.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : rng_(seed) {}

  // The text of a graph with `steps` nodes or so; all values are f32[2x4x3x3] or a layout of it.
  std::string Text(int steps) {
    text_ = "graph \"random\" {\n  input %v0: f32[2x4x3x3]\n";
    constants_.clear();
    shapes_ = {"2x4x3x3"};
    std::string nodes;
    for (int i = 0; i < steps; ++i) nodes += Step();
    std::string outputs = StrCat("  output %v", shapes_.size() - 1, "\n");
    if (shapes_.size() > 2 && Draw(2) == 0)
      outputs += StrCat("  output %v", shapes_.size() / 2, "\n");
    return text_ + constants_ + nodes + outputs + "}\n";
  }

 private:
  int Draw(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }

  std::string Constant(const std::string& shape, int count) {
    std::string name = StrCat("%c", next_constant_++);
    std::string list;
    for (int i = 0; i < count; ++i) {
      // Quarters from -2 to 2, often exactly 1 or 0.
      const double v = Draw(3) == 0 ? Draw(2) : (Draw(17) - 8) / 4.0;
      list += StrCat(i > 0 ? ", " : "", FormatDouble(v));
    }
    constants_ += StrCat("  const ", name, ": f32[", shape, "] = [", list, "]\n");
    return name;
  }
  std::string Ints(const std::string& list, int count) {
    std::string name = StrCat("%c", next_constant_++);
    constants_ += StrCat("  const ", name, ": i64[", count, "] = [", list, "]\n");
    return name;
  }

  std::string Emit(const std::string& shape, const std::string& expression) {
    shapes_.push_back(shape);
    return StrCat("  %v", shapes_.size() - 1, ": f32[", shape, "] = ", expression, "\n");
  }

  std::string Step() {
    // Mostly the last value, sometimes an older one, so that some have two readers.
    const size_t at = Draw(5) == 0 ? Draw(static_cast<int>(shapes_.size())) : shapes_.size() - 1;
    const std::string x = StrCat("%v", at), shape = shapes_[at];
    if (shape == "2x3x3x4")
      return Emit("2x4x3x3", StrCat("Transpose(", x, ") {perm=[0, 3, 1, 2]}"));
    if (shape == "2x36")
      return Emit("2x4x3x3", StrCat("Reshape(", x, ", ", Ints("2, 4, 3, 3", 4), ")"));
    switch (Draw(12)) {
      case 0:
        return Emit(shape, StrCat("Conv(", x, ", ", Constant("4x1x1x1", 4), ") {group=4}"));
      case 1:
        return Emit(shape, StrCat("Conv(", x, ", ", Constant("4x2x1x1", 8), ", ", Constant("4", 4),
                                  ") {group=2}"));
      case 2:
        return Emit(shape, StrCat("Mul(", x, ", ", Constant("4x1x1", 4), ")"));
      case 3:
        return Emit(shape, StrCat("Add(", Constant("1x4x1x1", 4), ", ", x, ")"));
      case 4:
        return Emit(shape, StrCat("Sub(", x, ", ", Constant("", 1), ")"));
      case 5:
        return Emit(shape, StrCat("Identity(", x, ")"));
      case 6:
        return Emit("2x3x3x4", StrCat("Transpose(", x, ") {perm=[0, 2, 3, 1]}"));
      case 7:
        return Emit("2x36", StrCat("Flatten(", x, ")"));
      case 8:
        return Emit(shape, StrCat("Relu(", x, ")"));
      case 9:
        return Emit(shape, StrCat("Pow(", x, ", ", Ints("2", 1), ")"));
      case 10:
        return Emit(shape, StrCat("Div(", x, ", ", Half(), ")"));
      default:
        return Emit(shape,
                    StrCat("BatchNormalization(", x, ", ", Constant("4", 4), ", ", Constant("4", 4),
                           ", ", Constant("4", 4), ", ", Ones(), ") {epsilon=0.5}"));
    }
  }

  std::string Half() {
    const std::string name = StrCat("%c", next_constant_++);
    constants_ += StrCat("  const ", name, ": f32[] = [", Draw(2) == 0 ? "4" : "3", "]\n");
    return name;
  }
  std::string Ones() {
    const std::string name = StrCat("%c", next_constant_++);
    constants_ += StrCat("  const ", name, ": f32[4] = [1, 2, 3, 4]\n");
    return name;
  }

  std::mt19937 rng_;
  std::string text_, constants_;
  std::vector<std::string> shapes_;
  int next_constant_ = 0;
};

std::vector<ir::Tensor> Execute(const ir::Graph& graph, const ir::Tensor& input) {
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  const auto lowered = LowerGraph(graph, context);
  EXPECT_TRUE(lowered.ok()) << lowered.status().ToString();
  if (!lowered.ok()) return {};
  auto out = Interpret(*lowered, {input});
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  return out.ok() ? *std::move(out) : std::vector<ir::Tensor>();
}

ir::Tensor Input(uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(72);
  for (float& v : values) v = uniform(rng);
  return ir::Tensor::FromValues<float>(DType::kF32, {2, 4, 3, 3}, std::span<const float>(values));
}

void ExpectClose(const ir::Tensor& a, const ir::Tensor& b) {
  ASSERT_EQ(a.count(), b.count());
  double largest = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (std::isfinite(a.FloatAt(i))) largest = std::max(largest, std::fabs(a.FloatAt(i)));
  }
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = a.FloatAt(i), y = b.FloatAt(i);
    if (!std::isfinite(x) || !std::isfinite(y) || largest > 1e30) continue;
    ASSERT_NEAR(x, y, 2e-5 * largest) << "element " << i;
  }
}

TEST(GraphPasses, RandomGraphsKeepTheirValues) {
  int rewritten = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    const std::string text = RandomGraph(seed).Text(3 + static_cast<int>(seed % 12));
    SCOPED_TRACE(StrCat("seed ", seed, "\n", text));
    const auto before = ir::ParseGraph(text);
    ASSERT_TRUE(before.ok()) << before.status().ToString();
    ir::Graph after = *before;
    DecisionLog log;
    PassContext context;
    context.decisions = &log;
    for (const PassInfo& pass : AllPasses()) {
      if (pass.run_graph == nullptr) continue;
      ASSERT_TRUE(pass.run_graph(after, context).ok()) << pass.name;
      const Status verified = Verify(after);
      ASSERT_TRUE(verified.ok()) << pass.name << ": " << verified.ToString();
    }
    ASSERT_EQ(after.outputs.size(), before->outputs.size());
    for (size_t i = 0; i < after.outputs.size(); ++i) {
      EXPECT_EQ(after.values[after.outputs[i]].name, before->values[before->outputs[i]].name);
    }
    const auto want = Execute(*before, Input(seed)), got = Execute(after, Input(seed));
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i) ExpectClose(want[i], got[i]);
    rewritten += after.nodes.size() < before->nodes.size() ? 1 : 0;
  }
  // Most graphs must have been shortened, or this proves nothing.
  EXPECT_GT(rewritten, 200);
}

}  // namespace
}  // namespace aicf
