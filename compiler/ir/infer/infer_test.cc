// What each rule gives for legal nodes, by table; and random cases against plain references.
#include <gtest/gtest.h>

#include <random>

#include "compiler/ir/infer/testing.h"
#include "compiler/ir/op_table.h"

namespace aicf::ir {
namespace {

using testing::Infer;

struct InferCase {
  const char* inputs;
  const char* node;
  const char* expected;
  int outputs = 1;
};

void ExpectInferred(std::initializer_list<InferCase> cases) {
  for (const InferCase& c : cases) {
    EXPECT_EQ(Infer(c.inputs, c.node, c.outputs), c.expected) << c.node;
  }
}

TEST(Infer, Elementwise) {
  ExpectInferred({
      {"input %x: f16[2x3]", "Exp(%x)", "f16 2x3"},
      {"input %x: f32[2x1x3] input %y: f32[4x1]", "Add(%x, %y)", "f32 2x4x3"},
      {"input %x: i32[0x3] input %y: i32[1x3]", "Mul(%x, %y)", "i32 0x3"},
      {"input %x: f32[2] input %y: f32[2]", "Less(%x, %y)", "bool 2"},
      {"input %x: bool[2] input %y: bool[]", "Equal(%x, %y)", "bool 2"},
      {"input %x: f64[]", "IsNaN(%x)", "bool scalar"},
      {"input %x: f32[2] input %y: i64[3x1]", "Pow(%x, %y)", "f32 3x2"},
      {"input %x: f32[2]", "Cast(%x) {to=\"i8\"}", "i8 2"},
      {"input %x: f32[2] input %h: f32[]", "Clip(%x, _, %h)", "f32 2"},
      {"input %c: bool[3x1] input %x: u8[2] input %y: u8[]", "Where(%c, %x, %y)", "u8 3x2"},
      {"input %x: f32[1x4x2] input %s: f32[4x1]", "PRelu(%x, %s)", "f32 1x4x2"},
      {"input %x: f32[2] input %y: f32[3x1] input %z: f32[]", "Max(%x, %y, %z)", "f32 3x2"},
  });
}

TEST(Infer, Views) {
  ExpectInferred({
      {"input %x: f32[2x3x4] const %s: i64[3] = [0, -1, 2]", "Reshape(%x, %s)", "f32 2x6x2"},
      {"input %x: f32[0x3] const %s: i64[2] = [3, 0]", "Reshape(%x, %s) {allowzero=1}", "f32 3x0"},
      {"input %x: f32[0x3] const %s: i64[2] = [0, -1]", "Reshape(%x, %s)", "f32 0x0"},
      {"input %x: f32[] const %s: i64[2] = [1, -1]", "Reshape(%x, %s)", "f32 1x1"},
      {"input %x: f32[1] const %s: i64[0] = []", "Reshape(%x, %s)", "f32 scalar"},
      {"input %x: f32[2x3x4]", "Flatten(%x) {axis=-1}", "f32 6x4"},
      {"input %x: f32[2x3x4]", "Flatten(%x) {axis=0}", "f32 1x24"},
      {"input %x: f32[2x3x4]", "Flatten(%x) {axis=3}", "f32 24x1"},
      {"input %x: f32[1x3x1]", "Squeeze(%x)", "f32 3"},
      {"input %x: f32[1x3x1] const %a: i64[1] = [-1]", "Squeeze(%x, %a)", "f32 1x3"},
      {"input %x: f32[3] const %a: i64[2] = [-1, 0]", "Unsqueeze(%x, %a)", "f32 1x3x1"},
      {"input %x: f32[2x3x4]", "Transpose(%x)", "f32 4x3x2"},
      {"input %x: f32[2x3x4]", "Transpose(%x) {perm=[1, 2, 0]}", "f32 3x4x2"},
      {"input %x: f32[2x3] input %y: f32[2x0]", "Concat(%x, %y, %x) {axis=-1}", "f32 2x6"},
      {"input %x: f32[7]", "Split(%x) {num_outputs=3}", "f32 3, f32 3, f32 1", 3},
      {"input %x: f32[6x2]", "Split(%x)", "f32 3x2, f32 3x2", 2},
      {"input %x: f32[6] const %s: i64[3] = [1, 0, 5]", "Split(%x, %s)", "f32 1, f32 0, f32 5", 3},
      {"input %x: f32[3x1] const %s: i64[3] = [2, 1, 4]", "Expand(%x, %s)", "f32 2x3x4"},
      {"input %x: f32[3x1] const %r: i64[2] = [2, 0]", "Tile(%x, %r)", "f32 6x0"},
      {"input %x: f32[1x8x2x3]", "DepthToSpace(%x) {blocksize=2}", "f32 1x2x4x6"},
      {"input %x: f32[1x2x4x6]", "SpaceToDepth(%x) {blocksize=2}", "f32 1x8x2x3"},
  });
}

TEST(Infer, ShapesAndRanges) {
  ExpectInferred({
      {"input %x: f32[2x3x4]", "Shape(%x)", "i64 3"},
      {"input %x: f32[2x3x4]", "Shape(%x) {start=-2}", "i64 2"},
      {"input %x: f32[2x3x4]", "Shape(%x) {end=-5, start=1}", "i64 0"},
      {"input %x: f32[2x3x4]", "Size(%x)", "i64 scalar"},
      {"const %s: i64[2] = [2, 0]", "ConstantOfShape(%s)", "f32 2x0"},
      {"const %s: i64[0] = []", "ConstantOfShape(%s) {value=i64[1] [3]}", "i64 scalar"},
      {"const %a: i32[] = [10] const %b: i32[] = [4] const %c: i32[] = [-2]", "Range(%a, %b, %c)",
       "i32 3"},
      {"const %a: f32[] = [1] const %b: f32[] = [2] const %c: f32[] = [0x1.8p-2]",
       "Range(%a, %b, %c)", "f32 3"},
      {"const %a: i64[] = [5] const %b: i64[] = [5] const %c: i64[] = [1]", "Range(%a, %b, %c)",
       "i64 0"},
  });
}

TEST(Infer, Products) {
  ExpectInferred({
      {"input %x: f32[3x4] input %w: f32[5x4]", "Gemm(%x, %w) {transB=1}", "f32 3x5"},
      {"input %x: f32[4x3] input %w: f32[4x5] input %c: f32[5]", "Gemm(%x, %w, %c) {transA=1}",
       "f32 3x5"},
      {"input %x: f32[2x1x3x4] input %w: f32[5x4x6]", "MatMul(%x, %w)", "f32 2x5x3x6"},
      {"input %x: f32[4] input %w: f32[5x4x6]", "MatMul(%x, %w)", "f32 5x6"},
      {"input %x: f32[5x3x4] input %w: f32[4]", "MatMul(%x, %w)", "f32 5x3"},
      {"input %x: f32[4] input %w: f32[4]", "MatMul(%x, %w)", "f32 scalar"},
      {"input %x: f32[0x4] input %w: f32[4x2]", "MatMul(%x, %w)", "f32 0x2"},
  });
}

TEST(Infer, WindowsOfConvolutions) {
  ExpectInferred({
      {"input %x: f32[1x4x9x9] input %w: f32[6x2x3x3] input %b: f32[6]",
       "Conv(%x, %w, %b) {group=2, pads=[1, 0, 1, 2], strides=[2, 3]}", "f32 1x6x5x3"},
      {"input %x: f32[2x3x10] input %w: f32[4x3x3]", "Conv(%x, %w) {dilations=[2]}", "f32 2x4x6"},
      {"input %x: f32[1x1x7x8] input %w: f32[1x1x3x4]",
       "Conv(%x, %w) {auto_pad=\"SAME_UPPER\", strides=[2, 3]}", "f32 1x1x4x3"},
      {"input %x: f32[1x1x7] input %w: f32[1x1x3]",
       "Conv(%x, %w) {auto_pad=\"VALID\", pads=[1, 1]}", "f32 1x1x5"},
      {"input %x: f32[1x2x3x4x5] input %w: f32[1x2x3x3x3]", "Conv(%x, %w)", "f32 1x1x1x2x3"},
      {"input %x: f32[0x1x5] input %w: f32[2x1x3]", "Conv(%x, %w)", "f32 0x2x3"},
      {"input %x: f32[1x4x3] input %w: f32[4x3x3]", "ConvTranspose(%x, %w) {group=2, strides=[2]}",
       "f32 1x6x7"},
      {"input %x: f32[1x1x3] input %w: f32[1x1x3]",
       "ConvTranspose(%x, %w) {output_padding=[1], pads=[1, 1], strides=[2]}", "f32 1x1x6"},
      {"input %x: f32[1x1x3] input %w: f32[1x1x3]",
       "ConvTranspose(%x, %w) {output_shape=[10], strides=[3]}", "f32 1x1x10"},
      {"input %x: f32[1x1x3] input %w: f32[1x1x3]",
       "ConvTranspose(%x, %w) {auto_pad=\"SAME_LOWER\", strides=[2]}", "f32 1x1x6"},
  });
}

TEST(Infer, WindowsOfPools) {
  ExpectInferred({
      {"input %x: f32[1x2x32x32]",
       "MaxPool(%x) {kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}", "f32 1x2x16x16"},
      {"input %x: f32[1x1x4x4]", "MaxPool(%x) {ceil_mode=1, kernel_shape=[3, 3], strides=[2, 2]}",
       "f32 1x1x2x2"},
      // The third window would start in the end padding.
      {"input %x: f32[1x1x2]", "AveragePool(%x) {ceil_mode=1, kernel_shape=[1], strides=[2]}",
       "f32 1x1x1"},
      {"input %x: u8[1x1x5]", "MaxPool(%x) {kernel_shape=[2]}", "u8 1x1x4"},
      {"input %x: f32[1x3x5x7]", "GlobalAveragePool(%x)", "f32 1x3x1x1"},
      {"input %x: f32[1x3x8]", "LpPool(%x) {kernel_shape=[3], p=1}", "f32 1x3x6"},
  });
}

TEST(Infer, Reductions) {
  ExpectInferred({
      {"input %x: f32[2x3x4] const %a: i64[2] = [-1, 0]", "ReduceSum(%x, %a)", "f32 1x3x1"},
      {"input %x: f32[2x3x4] const %a: i64[2] = [0, 2]", "ReduceMax(%x, %a) {keepdims=0}", "f32 3"},
      {"input %x: f32[2x3]", "ReduceMean(%x) {keepdims=0}", "f32 scalar"},
      {"input %x: f32[2x3] const %a: i64[0] = []", "ReduceSum(%x, %a) {noop_with_empty_axes=1}",
       "f32 2x3"},
      {"input %x: f32[2x0]", "ReduceProd(%x)", "f32 1x1"},
      {"input %x: i32[2x3]", "ArgMax(%x) {axis=-1, keepdims=0}", "i64 2"},
      {"input %x: f32[2x3]", "ArgMin(%x)", "i64 1x3"},
  });
}

TEST(Infer, NormalizationsAndIndexing) {
  ExpectInferred({
      {"input %x: f32[1x2x3] input %p: f32[2]", "BatchNormalization(%x, %p, %p, %p, %p)",
       "f32 1x2x3"},
      {"input %x: f32[1x2x3] input %p: f32[2]", "InstanceNormalization(%x, %p, %p)", "f32 1x2x3"},
      {"input %x: f16[2x3x4] input %s: f16[3x4] input %b: f16[4]",
       "LayerNormalization(%x, %s, %b) {axis=1}", "f16 2x3x4"},
      {"input %x: f32[2x3]", "Softmax(%x) {axis=0}", "f32 2x3"},
      {"input %x: f32[2x3x4] input %i: i32[5x6]", "Gather(%x, %i) {axis=1}", "f32 2x5x6x4"},
      {"input %x: f32[2x3x4] const %i: i64[] = [-3]", "Gather(%x, %i) {axis=1}", "f32 2x4"},
      {"input %x: f32[2x9] const %k: i64[1] = [4]", "TopK(%x, %k)", "f32 2x4, i64 2x4", 2},
      {"input %x: f32[1x1x4x4] const %s: f32[4] = [1, 1, 0x1.4p+1, 0x1p-1]", "Resize(%x, _, %s)",
       "f32 1x1x10x2"},
      {"input %x: f32[1x1x4x4] const %z: i64[2] = [6, 3]", "Resize(%x, _, _, %z) {axes=[3, 2]}",
       "f32 1x1x3x6"},
      {"input %x: f32[1x1x4x8] const %z: i64[2] = [6, 6]",
       "Resize(%x, _, _, %z) {axes=[2, 3], keep_aspect_ratio_policy=\"not_larger\"}",
       "f32 1x1x3x6"},
      {"input %x: f32[4x6] const %r: f32[0] = [] const %z: i64[2] = [2, 3]",
       "Resize(%x, %r, %r, %z)", "f32 2x3"},
      {"input %x: bool[2x3] const %s: f32[2] = [2, 2]", "Resize(%x, _, %s)", "bool 4x6"},
  });
}

// Elements that a slice selects, by walking. A start before the first element is the first element,
// also going backwards, where Python selects nothing.
std::vector<int64_t> WalkSlice(int64_t extent, int64_t start, int64_t end, int64_t step) {
  const auto wrap = [&](int64_t v) { return v < 0 ? v + extent : v; };
  std::vector<int64_t> out;
  int64_t at = wrap(start), stop = wrap(end);
  if (step > 0) at = std::max<int64_t>(at, 0);
  if (step < 0) at = std::min(std::max<int64_t>(at, 0), extent - 1);
  if (step < 0 && stop < 0) stop = -1;
  for (; step > 0 ? at < std::min(stop, extent) : at > stop; at += step) {
    if (at >= 0 && at < extent) out.push_back(at);
  }
  return out;
}

TEST(Infer, SliceAgreesWithWalkingOverRandomBounds) {
  std::mt19937 rng(7);
  std::uniform_int_distribution<int64_t> bound(-9, 9), size(0, 6);
  for (int i = 0; i < 2000; ++i) {
    const int64_t extent = size(rng), start = bound(rng), end = bound(rng);
    int64_t step = bound(rng);
    if (step == 0) step = 1;
    const auto graph = ParseGraph(StrCat("graph \"g\" { input %x: f32[2x", extent,
                                         "] const %s: i64[1] = [", start, "] const %e: i64[1] = [",
                                         end, "] const %a: i64[1] = [1] const %t: i64[1] = [", step,
                                         "] %y: f32 = Slice(%x, %s, %e, %a, %t) }"));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    const auto spec = ResolveSlice(*graph, graph->nodes[0]);
    ASSERT_TRUE(spec.ok()) << spec.status().ToString();
    std::vector<int64_t> selected;
    for (int64_t k = 0; k < spec->extents[1]; ++k)
      selected.push_back(spec->starts[1] + k * spec->steps[1]);
    EXPECT_EQ(selected, WalkSlice(extent, start, end, step))
        << extent << " " << start << ":" << end << ":" << step;
  }
}

TEST(Infer, SliceBoundsMayBeExtreme) {
  const std::string inputs =
      "input %x: f32[5] const %lo: i64[1] = [-9223372036854775808] const %hi: i64[1] = "
      "[9223372036854775807]\n"
      "const %a: i64[1] = [0] const %m: i64[1] = [-1]";
  EXPECT_EQ(Infer(inputs, "Slice(%x, %lo, %hi, %a)"), "f32 5");
  EXPECT_EQ(Infer(inputs, "Slice(%x, %hi, %lo, %a, %m)"), "f32 5");
  EXPECT_EQ(Infer(inputs, "Slice(%x, %hi, %lo, %a, %lo)"), "f32 1");
  EXPECT_EQ(Infer(inputs, "Slice(%x, %lo, %hi, %a, %hi)"), "f32 1");
}

// Windows that fit, by sliding one along the padded axis.
int64_t CountWindows(int64_t in, int64_t begin, int64_t end, int64_t span, int64_t stride,
                     bool ceil) {
  int64_t count = 0;
  for (int64_t at = -begin; ceil ? at < in : at + span <= in + end; at += stride) {
    if (ceil && at + span > in + end + stride - 1) break;
    ++count;
  }
  return count;
}

TEST(Infer, PoolsAgreeWithSlidingOverRandomWindows) {
  std::mt19937 rng(11);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  int checked = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t kernel = draw(1, 4), dilation = draw(1, 3), stride = draw(1, 4);
    const int64_t span = (kernel - 1) * dilation + 1;
    const int64_t begin = draw(0, span - 1), end = draw(0, span - 1), in = draw(1, 12);
    const bool ceil = draw(0, 1) == 1;
    const std::string found = Infer(StrCat("input %x: f32[1x1x", in, "]"),
                                    StrCat("MaxPool(%x) {ceil_mode=", ceil ? 1 : 0, ", dilations=[",
                                           dilation, "], kernel_shape=[", kernel, "], pads=[",
                                           begin, ", ", end, "], strides=[", stride, "]}"));
    if (in + begin + end < span) {
      EXPECT_NE(found.find("does not fit"), std::string::npos) << found;
      continue;
    }
    ++checked;
    EXPECT_EQ(found, StrCat("f32 1x1x", CountWindows(in, begin, end, span, stride, ceil)))
        << "in " << in << " kernel " << kernel << " dilation " << dilation << " stride " << stride
        << " pads " << begin << "," << end << " ceil " << ceil;
  }
  EXPECT_GT(checked, 1000);
}

TEST(OpTable, FindsEveryRowAndNothingElse) {
  for (const OpInfo& op : AllOps()) EXPECT_EQ(FindOp(op.name), &op) << op.name;
  EXPECT_EQ(FindOp("conv"), nullptr);
  EXPECT_EQ(FindOp(""), nullptr);
  EXPECT_EQ(FindOp("Zzz"), nullptr);
}

}  // namespace
}  // namespace aicf::ir
