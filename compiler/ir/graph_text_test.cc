#include <gtest/gtest.h>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"

namespace aicf::ir {
namespace {

std::string RoundTrip(const std::string& text) {
  const auto graph = ParseGraph(text);
  return graph.ok() ? ToString(*graph) : graph.status().ToString();
}

TEST(GraphText, RoundTripsEveryConstruct) {
  const std::string text =
      "graph \"a \\\"quoted\\\" name\" {\n"
      "  input %x: f32[1x3x8x8]\n"
      "  input %\"odd name/with:1\": i64\n"
      "  input %s: f16[]\n"
      "  input %u: f32[?x4x?]\n"
      "  const %w: f32[2x3x1x1] = [1, -2, 0x1p-1, inf, 0, 0x1.99999ap-4]\n"
      "  const %k: i64[1] = [2]\n"
      "  const %none: i64[0] = []\n"
      "  %c: f32[1x2x8x8] = Conv(%x, %w) {auto_pad=\"SAME_UPPER\", strides=[1, 1]} \"conv 0\"\n"
      "  %d: f32[1x2x8x8] = Clip(%c, _, %m) \"clip\"\n"
      "  (_, %i: i64[1x2x8x2]) = TopK(%d, %k) {axis=3, sorted=0} \"top\"\n"
      "  %e: u8[2] = ConstantOfShape(%k) {value=u8[1] [7]} \"fill\"\n"
      "  output %i\n"
      "}\n";
  std::string with_bound = text;
  with_bound.insert(with_bound.find("  const %none"), "  const %m: f32[] = [6]\n");
  // The empty constant is used by nothing, so it is not printed.
  std::string expected = with_bound;
  expected.erase(expected.find("  const %none"),
                 std::string("  const %none: i64[0] = []\n").size());
  // ConstantOfShape fills the shape [2].
  EXPECT_EQ(RoundTrip(with_bound), expected);
  EXPECT_EQ(RoundTrip(expected), expected);
}

TEST(GraphText, AttributeKindsSurvive) {
  Graph graph;
  graph.name = "attributes";
  Value x;
  x.name = "x";
  x.shape = {2};
  x.shape_known = true;
  Value y = x;
  y.name = "y";
  graph.inputs = {graph.AddValue(x)};
  Node node;
  node.op = "Relu";
  node.name = "relu";
  node.inputs = {0};
  node.outputs = {graph.AddValue(y)};
  const std::vector<int64_t> ints = {INT64_MIN, 0, INT64_MAX};
  node.attrs = {{"int", int64_t{-7}},
                {"whole", 3.0},
                {"tiny", 4.9406564584124654e-324},
                {"tenth", static_cast<double>(0.1f)},
                {"nan", std::numeric_limits<double>::quiet_NaN()},
                {"minus_inf", -std::numeric_limits<double>::infinity()},
                {"text", std::string("line\nbreak \\ \x01 \xff")},
                {"ints", ints},
                {"no_ints", std::vector<int64_t>()},
                {"floats", std::vector<double>{1, 0.5, 1e300}},
                {"no_floats", std::vector<double>()},
                {"strings", std::vector<std::string>{"a", ""}},
                {"no_strings", std::vector<std::string>()},
                {"tensor", Tensor::FromValues<int64_t>(DType::kI64, {3}, std::span(ints))}};
  graph.nodes = {node};
  graph.outputs = {1};
  const std::string text = ToString(graph);
  const auto parsed = ParseGraph(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString() << "\n" << text;
  EXPECT_EQ(ToString(*parsed), text);
  const Node& again = parsed->nodes[0];
  for (const auto& [key, value] : node.attrs) {
    ASSERT_TRUE(again.Has(key)) << key;
    EXPECT_EQ(again.attrs.find(key)->second.index(), value.index()) << key;
  }
  EXPECT_EQ(again.Float("tiny", 0), 4.9406564584124654e-324);
  EXPECT_EQ(again.Float("tenth", 0), static_cast<double>(0.1f));
  EXPECT_EQ(again.Str("text", ""), node.Str("text", "-"));
  EXPECT_EQ(again.Ints("ints"), ints);
}

TEST(GraphText, LargeConstantsAreHashesThatAResolverFinds) {
  std::vector<float> values(17);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3;
  const Tensor tensor =
      Tensor::FromValues<float>(DType::kF32, {17}, std::span<const float>(values));
  const std::string hash = ToHex(HashBytes(tensor.bytes()));
  const std::string text = "graph \"g\" {\n  input %x: f32[17]\n  const %c: f32[17] = @" + hash +
                           "\n  %y: f32[17] = Add(%x, %c) \"add\"\n  output %y\n}\n";
  const auto resolve = [&](DType, const Dims&, std::string_view h) {
    return h == hash ? tensor : Tensor();
  };
  const auto known = ParseGraph(text, resolve);
  ASSERT_TRUE(known.ok()) << known.status().ToString();
  EXPECT_EQ(known->values[1].constant.at<float>(16), 16.0f / 3);
  EXPECT_EQ(ToString(*known), text);
  const auto unknown = ParseGraph(text);
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(unknown->values[1].constant.at<float>(16), 0);
}

TEST(GraphText, NodesWithoutANameGetOne) {
  const auto graph = ParseGraph("graph \"g\" { input %x: f32[2] %y: f32[2] = Relu(%x) output %y }");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->nodes[0].name, "Relu:y");
}

TEST(GraphText, ErrorsNameTheLine) {
  const struct {
    const char* body;
    const char* expected;
  } cases[] = {
      {"%y: f32[2] = Relu(%z) output %y", "value defined above"},
      {"%y: f32[2] = Relux(%x) output %y", "not in ops.def"},
      {"%y: f32[3] = Relu(%x) output %y", "Relu gives f32 2"},
      {"%y: f33[2] = Relu(%x) output %y", "a dtype"},
      {"%y: f32[2] = Relu(%x) {a=[1, 2.5]} output %y", "one kind"},
      {"%y: f32[2] = Relu(%x) {a=[[1]]} output %y", "a number or a string"},
      {"%y: f32[2] = Relu(%x) {a=1, a=2} output %y", "not there yet"},
      {"%x: f32[2] = Relu(%x) output %x", "not there yet"},
      {"const %c: f32[2] = [1] output %x", "1 elements for a constant of shape 2"},
      {"const %c: f32[?] = [1] output %x", "known shape"},
      {"const %c: f32[99999999999x99999999999] = [1] output %x", "known shape"},
      {"const %c: f32[9999999999] = @00000000000000000000000000000000 output %x", "constant"},
      {"const %c: f32[1x1x1x1x1x1x1x1x1] = [1] output %x", "at most 8"},
      {"%y: f32[2] = Add(%x) output %y", "1 inputs"},
      {"%y: f32[2] = Add(%x, _) output %y", "last input is absent"},
      {"output _", "a value"},
      {"bogus", "'input', 'const', 'output'"},
  };
  for (const auto& c : cases) {
    const auto graph =
        ParseGraph(std::string("graph \"g\" {\ninput %x: f32[2]\n") + c.body + "\n}");
    ASSERT_FALSE(graph.ok()) << c.body;
    EXPECT_EQ(graph.status().code(), Code::kInvalidArgument) << c.body;
    EXPECT_NE(graph.status().message().find(c.expected), std::string::npos)
        << c.body << "\n"
        << graph.status().message();
  }
}

TEST(GraphText, EveryPrefixIsRefusedWithoutACrash) {
  const std::string text =
      "graph \"g\" { input %x: f32[1x2] const %c: f32[2] = [1, 0x1p-1] "
      "%y: f32[1x2] = Add(%x, %c) {a=[1, 2], b=\"t\", d=i64[1] [3]} \"n\" output %y }";
  ASSERT_TRUE(ParseGraph(text).ok());
  for (size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(ParseGraph(text.substr(0, n)).ok()) << n;
}

// ONNX's defaults are floats: 0.1 is the float next to it, also in a computation in double.
TEST(Node, AFloatDefaultIsAFloat) {
  Node node;
  EXPECT_EQ(node.Float("alpha", 0.1), static_cast<double>(0.1f));
  node.attrs["alpha"] = 0.3;
  EXPECT_EQ(node.Float("alpha", 0.1), 0.3);
}

}  // namespace
}  // namespace aicf::ir
