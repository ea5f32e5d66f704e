// Ops that move elements: views where strides allow, copies with a reason elsewhere.
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using abi::Family;
using testing::Array;
using testing::CountSteps;
using testing::Generate;
using testing::Ints;
using testing::Random;
using testing::RunGraph;
using testing::ToArray;

// y = op(x) followed by Neg, so that a view needs no copy for being an output.
std::string Moved(const std::string& input, const std::string& middle) {
  return StrCat("graph \"g\" { input %x: f32", input, " ", middle,
                " %y: f32 = Neg(%v) output %y }");
}

struct ViewCase {
  Dims shape;
  std::string text;
  std::function<Dims(const Dims&)> source;  // index of x for an index of the result
  Dims result;
  int copies;
};

const ViewCase kViewCases[] = {
    {{2, 3, 4},
     "%v: f32 = Transpose(%x) {perm=[2, 0, 1]}",
     [](const Dims& i) {
       return Dims{i[1], i[2], i[0]};
     },
     {4, 2, 3},
     0},
    {{2, 3, 4},
     "%v: f32 = Transpose(%x)",
     [](const Dims& i) {
       return Dims{i[2], i[1], i[0]};
     },
     {4, 3, 2},
     0},
    {{2, 3, 4},
     "const %s: i64[2] = [6, 4] %v: f32 = Reshape(%x, %s)",
     [](const Dims& i) {
       return Dims{i[0] / 3, i[0] % 3, i[1]};
     },
     {6, 4},
     0},
    {{2, 1, 4},
     "const %a: i64[1] = [1] %v: f32 = Squeeze(%x, %a)",
     [](const Dims& i) {
       return Dims{i[0], 0, i[1]};
     },
     {2, 4},
     0},
    {{2, 4},
     "const %a: i64[2] = [0, 3] %v: f32 = Unsqueeze(%x, %a)",
     [](const Dims& i) {
       return Dims{i[1], i[2]};
     },
     {1, 2, 4, 1},
     0},
    {{2, 3, 4},
     "%v: f32 = Flatten(%x) {axis=2}",
     [](const Dims& i) {
       return Dims{i[0] / 3, i[0] % 3, i[1]};
     },
     {6, 4},
     0},
    {{3, 1},
     "const %s: i64[3] = [2, 3, 4] %v: f32 = Expand(%x, %s)",
     [](const Dims& i) {
       return Dims{i[1], 0};
     },
     {2, 3, 4},
     0},
    {{2, 3}, "%v: f32 = Identity(%x)", [](const Dims& i) { return i; }, {2, 3}, 0},
    {{9, 4},
     "const %b: i64[2] = [7, 0] const %e: i64[2] = [-100, 3] const %a: i64[2] = [0, -1] "
     "const %s: i64[2] = [-3, 2] %v: f32 = Slice(%x, %b, %e, %a, %s)",
     [](const Dims& i) {
       return Dims{7 - 3 * i[0], 2 * i[1]};
     },
     {3, 2},
     0},
    {{4, 5},
     "const %k: i64[] = [-2] %v: f32 = Gather(%x, %k) {axis=1}",
     [](const Dims& i) {
       return Dims{i[0], 3};
     },
     {4},
     0},
    {{4, 9},
     "const %k: i64[3] = [1, 4, 7] %v: f32 = Gather(%x, %k) {axis=1}",
     [](const Dims& i) {
       return Dims{i[0], 1 + 3 * i[1]};
     },
     {4, 3},
     0},
    // Not expressible: two axes in the wrong order become one.
    {{2, 3, 4},
     "%t: f32 = Transpose(%x) {perm=[0, 2, 1]} const %s: i64[2] = [2, 12] "
     "%v: f32 = Reshape(%t, %s)",
     [](const Dims& i) {
       return Dims{i[0], i[1] % 3, i[1] / 3};
     },
     {2, 12},
     1},
    {{2, 3},
     "const %r: i64[2] = [2, 3] %v: f32 = Tile(%x, %r)",
     [](const Dims& i) {
       return Dims{i[0] % 2, i[1] % 3};
     },
     {4, 9},
     1},
    {{1, 3},
     "const %r: i64[2] = [5, 1] %v: f32 = Tile(%x, %r)",
     [](const Dims& i) {
       return Dims{0, i[1]};
     },
     {5, 3},
     0},
    // More repeated axes than one view has room for: two copies.
    {{2, 3, 2, 3, 2},
     "const %r: i64[5] = [2, 3, 1, 2, 2] %v: f32 = Tile(%x, %r)",
     [](const Dims& i) {
       return Dims{i[0] % 2, i[1] % 3, i[2], i[3] % 3, i[4] % 2};
     },
     {4, 9, 2, 6, 4},
     2},
    {{1, 8, 2, 3},
     "%v: f32 = DepthToSpace(%x) {blocksize=2}",
     [](const Dims& i) {
       return Dims{0, (i[2] % 2 * 2 + i[3] % 2) * 2 + i[1], i[2] / 2, i[3] / 2};
     },
     {1, 2, 4, 6},
     1},
    {{1, 8, 2, 3},
     "%v: f32 = DepthToSpace(%x) {blocksize=2, mode=\"CRD\"}",
     [](const Dims& i) {
       return Dims{0, i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2};
     },
     {1, 2, 4, 6},
     1},
    {{1, 2, 4, 6},
     "%v: f32 = SpaceToDepth(%x) {blocksize=2}",
     [](const Dims& i) {
       const int64_t block = i[1] / 2, c = i[1] % 2;
       return Dims{0, c, i[2] * 2 + block / 2, i[3] * 2 + block % 2};
     },
     {1, 8, 2, 3},
     1},
};

// About copies, with this choice.
template <class Run>
int CountDecisions(const Run& run, std::string_view choice) {
  int count = 0;
  for (const Decision& d : run.decisions.decisions()) {
    count += d.kind == DecisionKind::kCopy && d.choice == choice ? 1 : 0;
  }
  return count;
}

TEST(LowerMovement, ViewsMoveNoData) {
  uint32_t seed = 1;
  for (const ViewCase& c : kViewCases) {
    std::string shape = "[";
    for (int i = 0; i < c.shape.rank(); ++i) shape += StrCat(i == 0 ? "" : "x", c.shape[i]);
    const std::string text = Moved(shape + "]", c.text);
    const ir::Tensor x = Random(DType::kF32, c.shape, seed++);
    const Array in = ToArray(x);
    const auto run = RunGraph(text, {{"x", x}});
    ASSERT_TRUE(run.ok()) << run.status().ToString() << text;
    testing::ExpectRoundTrip(run->lowered);
    testing::ExpectClose(run->outputs[0],
                         Generate(c.result, [&](const Dims& i) { return -in[c.source(i)]; }), 0, 0,
                         text);
    EXPECT_EQ(CountSteps(run->lowered, Family::kCopy), c.copies) << text;
    EXPECT_EQ(CountDecisions(*run, "copy"), c.copies) << text;
    const std::string_view nodes = c.text;
    const auto moved = std::count(nodes.begin(), nodes.end(), '(');
    EXPECT_EQ(CountDecisions(*run, "view"), std::max<int64_t>(0, moved - c.copies)) << text;
  }
}

TEST(LowerMovement, ACopyNamesTheStridesThatForcedIt) {
  const auto run = RunGraph(
      Moved("[2x3]", "%t: f32 = Transpose(%x) const %s: i64[1] = [6] %v: f32 = Reshape(%t, %s)"),
      {{"x", Random(DType::kF32, {2, 3}, 1)}});
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->decisions.decisions().size(), 2u);
  EXPECT_EQ(run->decisions.decisions()[0].choice, "view") << "the transposition";
  EXPECT_EQ(run->decisions.decisions()[1].kind, DecisionKind::kCopy);
  EXPECT_EQ(ReasonText(run->decisions.decisions()[1]),
            "only-legal: strides [1, 3] of 3x2 cannot be read as 6");
}

TEST(LowerMovement, SplitGivesWindows) {
  const ir::Tensor x = Random(DType::kF32, {2, 7}, 3);
  const Array in = ToArray(x);
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x7] const %s: i64[3] = [2, 0, 5] "
      "(%a: f32, %b: f32, %c: f32) = Split(%x, %s) {axis=-1} %y: f32 = Neg(%c) %z: f32 = Neg(%a) "
      "output %y output %z output %b }",
      {{"x", x}});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  testing::ExpectClose(run->outputs[0],
                       Generate({2, 5},
                                [&](const Dims& i) {
                                  return -in[{i[0], i[1] + 2}];
                                }),
                       0, 0);
  testing::ExpectClose(run->outputs[1], Generate({2, 2}, [&](const Dims& i) { return -in[i]; }), 0,
                       0);
  EXPECT_EQ(run->outputs[2].data.size(), 0u);
  EXPECT_EQ(CountSteps(run->lowered, Family::kCopy), 0);
}

TEST(LowerMovement, ConcatJoinsMoreThanOneStepCanHold) {
  std::string text = "graph \"g\" {", args;
  std::map<std::string, ir::Tensor> inputs;
  std::vector<Array> parts;
  for (int k = 0; k < 60; ++k) {
    const std::string name = StrCat("x", k);
    const int64_t width = k % 4;  // some are empty
    text += StrCat(" input %", name, ": f32[2x", width, "x3]");
    args += (k > 0 ? ", %" : "%") + name;
    inputs[name] = Random(DType::kF32, {2, width, 3}, 50 + k);
    parts.push_back(ToArray(inputs[name]));
  }
  Array want({2, 90, 3});
  int64_t start = 0;
  for (const Array& p : parts) {
    testing::ForEach(p.shape, [&](const Dims& i) { want[{i[0], i[1] + start, i[2]}] = p[i]; });
    start += p.shape[1];
  }
  testing::ExpectGraph(StrCat(text, " %y: f32 = Concat(", args, ") {axis=1} output %y }"), inputs,
                       want, 0, 0);
}

TEST(LowerMovement, ConcatOfOnePieceIsAView) {
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x3] input %e: f32[2x0] "
      "%v: f32 = Concat(%e, %x) {axis=1} %y: f32 = Neg(%v) output %y }",
      {{"x", Random(DType::kF32, {2, 3}, 1)}, {"e", Random(DType::kF32, {2, 0}, 1)}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->lowered.steps.size(), 1u);
}

int64_t Reflect(int64_t i, int64_t n) {
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

TEST(LowerMovement, PadModes) {
  const ir::Tensor x = Random(DType::kF32, {3, 4}, 21);
  const Array in = ToArray(x);
  struct Case {
    std::vector<int64_t> pads;  // begins, ends
    std::string mode;
  };
  for (const Case& c :
       {Case{{1, 2, 0, 3}, "constant"}, Case{{-1, 2, 1, -2}, "constant"},
        Case{{-1, -1, -2, 0}, "constant"}, Case{{-3, 0, 2, 1}, "constant"},
        Case{{2, 1, 3, 5}, "edge"}, Case{{-1, 1, 2, 0}, "edge"}, Case{{2, 3, 1, 2}, "reflect"},
        Case{{-1, 0, 1, 3}, "reflect"}, Case{{3, 1, 2, 4}, "wrap"}}) {
    const Dims shape{3 + c.pads[0] + c.pads[2], 4 + c.pads[1] + c.pads[3]};
    const Array want = Generate(shape, [&](const Dims& at) {
      Dims from{at[0] - c.pads[0], at[1] - c.pads[1]};
      for (int a = 0; a < 2; ++a) {
        const int64_t n = in.shape[a];
        const bool inside = from[a] >= 0 && from[a] < n;
        if (!inside && c.mode == "constant") return 1.5;
        if (c.mode == "edge") from[a] = std::clamp<int64_t>(from[a], 0, n - 1);
        if (c.mode == "reflect") from[a] = Reflect(from[a], n);
        if (c.mode == "wrap") from[a] = ((from[a] % n) + n) % n;
      }
      return in[from];
    });
    testing::ExpectGraph(
        StrCat("graph \"g\" { input %x: f32[3x4] input %p: i64[4] const %f: f32[] = [1.5] "
               "%y: f32 = Pad(%x, %p, %f) {mode=\"",
               c.mode, "\"} output %y }"),
        {{"x", x}}, want, 0, 0, {.constants = {{"p", Ints(c.pads)}}});
    if (c.mode != "constant") continue;
    Array value{Dims{}};
    value.data = {1.5};
    testing::ExpectGraph(
        "graph \"g\" { input %x: f32[3x4] input %p: i64[4] input %f: f32[] "
        "%y: f32 = Pad(%x, %p, %f) output %y }",
        {{"x", x}, {"f", testing::ToTensor(value, DType::kF32)}}, want, 0, 0,
        {.constants = {{"p", Ints(c.pads)}}});
  }
}

TEST(LowerMovement, PadsOfManyAxesTakeSeveralSteps) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 2, 3}, 22);
  const Array in = ToArray(x);
  const Array want = Generate({4, 5, 4, 5}, [&](const Dims& at) {
    Dims from = at;
    for (int a = 0; a < 4; ++a) from[a] = std::clamp<int64_t>(at[a] - 1, 0, in.shape[a] - 1);
    return in[from];
  });
  testing::ExpectGraph(
      "graph \"g\" { input %x: f32[2x3x2x3] const %p: i64[8] = [1, 1, 1, 1, 1, 1, 1, 1] "
      "%y: f32 = Pad(%x, %p) {mode=\"edge\"} output %y }",
      {{"x", x}}, want, 0, 0);
}

TEST(LowerMovement, OutputsThatAreInputsOrConstantsAreCopied) {
  const ir::Tensor x = Random(DType::kF32, {2, 2}, 5);
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x2] const %c: f32[2] = [1.0, 2.0] "
      "%y: f32 = Neg(%x) %z: f32 = Neg(%y) output %x output %c output %y output %z }",
      {{"x", x}});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  ASSERT_EQ(run->outputs.size(), 4u);
  EXPECT_EQ(run->outputs[0].data, ToArray(x).data);
  EXPECT_EQ(run->outputs[1].data, (std::vector<double>{1, 2}));
  EXPECT_EQ(run->outputs[3].data, ToArray(x).data);
  EXPECT_EQ(CountSteps(run->lowered, Family::kCopy), 2);
}

TEST(LowerMovement, KnownValuesNeedNoStep) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 5}, 5);
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x3x5] %s: i64 = Shape(%x) {start=1} %n: i64 = Size(%x) "
      "const %d: i64[2] = [2, 3] %f: i32 = ConstantOfShape(%d) {value=i32[1] [7]} "
      "const %a: f32[] = [1.0] const %b: f32[] = [2.0] const %t: f32[] = [0.25] "
      "%r: f32 = Range(%a, %b, %t) output %s output %n output %f output %r }",
      {{"x", x}});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(run->outputs[0].data, (std::vector<double>{3, 5}));
  EXPECT_EQ(run->outputs[1].data, (std::vector<double>{30}));
  EXPECT_EQ(run->outputs[2].data, (std::vector<double>(6, 7)));
  EXPECT_EQ(run->outputs[3].data, (std::vector<double>{1, 1.25, 1.5, 1.75}));
}

TEST(LowerMovement, EqualConstantsShareOneBuffer) {
  const ir::Tensor w = Random(DType::kF32, {8}, 5);
  const auto run = RunGraph(
      "graph \"g\" { input %x: f32[2x8] input %a: f32[8] input %b: f32[8] "
      "%p: f32 = Mul(%x, %a) %y: f32 = Sub(%p, %b) output %y }",
      {{"x", Random(DType::kF32, {2, 8}, 6)}}, {.constants = {{"a", w}, {"b", w}}});
  ASSERT_TRUE(run.ok());
  int constants = 0;
  for (const ir::LoweredBuffer& b : run->lowered.buffers) constants += b.constant.has_data();
  EXPECT_EQ(constants, 1);
}

}  // namespace
}  // namespace aicf
