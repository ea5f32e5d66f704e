// Malformed nodes: each is refused with its class and a sentence, before anything could divide by
// zero, overflow or index out of range.
#include <gtest/gtest.h>

#include "compiler/ir/infer/testing.h"

namespace aicf::ir {
namespace {

using testing::Infer;

struct InferFault {
  const char* inputs;
  const char* node;
  const char* expected;  ///< a part of "class message"
  int outputs = 1;
};

void ExpectRefused(std::initializer_list<InferFault> cases) {
  for (const InferFault& c : cases) {
    const std::string found = Infer(c.inputs, c.node, c.outputs);
    const std::string code = std::string(c.expected).substr(0, std::string(c.expected).find(' '));
    EXPECT_TRUE(found.starts_with(code + " ")) << c.node << ": " << found;
    EXPECT_NE(found.find(std::string(c.expected).substr(code.size() + 1)), std::string::npos)
        << c.node << ": " << found;
  }
}

TEST(InferFaults, Elementwise) {
  ExpectRefused({
      {"input %x: f32[2] input %y: f32[3]", "Add(%x, %y)",
       "bad-model shapes 2 and 3 do not broadcast"},
      {"input %x: f32[2] input %y: f16[2]", "Add(%x, %y)",
       "bad-model input 0 is f32 but input 1 is f16"},
      {"input %x: i32[2]", "Sqrt(%x)", "bad-model input 0 is i32, which the op does not take"},
      {"input %x: bool[2]", "Neg(%x)", "bad-model input 0 is bool"},
      {"input %x: u8[2]", "Neg(%x)", "bad-model input 0 is u8"},
      {"input %x: f32[2] input %y: f32[2]", "And(%x, %y)", "bad-model input 0 is f32"},
      {"input %x: f32[2]", "Cast(%x) {to=\"f8\"}", "bad-model expected a dtype"},
      {"input %x: f32[2]", "Cast(%x)", "bad-model attribute 'to'"},
      {"input %x: f32[2] input %l: f32[2]", "Clip(%x, %l)", "bad-model bound 1 has shape 2"},
      {"input %c: f32[1] input %x: f32[1]", "Where(%c, %x, %x)", "bad-model input 0 is f32"},
      {"input %x: f32[2] input %s: f32[3x2]", "PRelu(%x, %s)", "bad-model does not broadcast to 2"},
  });
}

TEST(InferFaults, Views) {
  ExpectRefused({
      {"input %x: f32[4] const %s: i64[2] = [-1, -1]", "Reshape(%x, %s)", "bad-model -1 twice"},
      {"input %x: f32[4] const %s: i64[1] = [-2]", "Reshape(%x, %s)", "bad-model shape holds -2"},
      {"input %x: f32[4] const %s: i64[2] = [3, -1]", "Reshape(%x, %s)",
       "bad-model does not divide"},
      {"input %x: f32[4] const %s: i64[1] = [5]", "Reshape(%x, %s)",
       "bad-model cannot reshape 4 to [5]"},
      {"input %x: f32[4] const %s: i64[2] = [4, 0]", "Reshape(%x, %s)", "bad-model copies axis 1"},
      {"input %x: f32[4] const %s: i64[2] = [0, -1]", "Reshape(%x, %s) {allowzero=1}",
       "bad-model does not divide"},
      {"input %x: f32[4] const %s: i64[3] = [4611686018427387904, 8, -1]", "Reshape(%x, %s)",
       "bad-model "},
      {"input %x: f32[1] const %s: i64[9] = [1, 1, 1, 1, 1, 1, 1, 1, 1]", "Reshape(%x, %s)",
       "unsupported rank 9"},
      {"input %x: f32[4] input %s: i64[1]", "Reshape(%x, %s)",
       "unsupported shape (\"s\") is an input, whose value has to be known while compiling; bind "
       "it with "
       "--bind=s:FILE.npy"},
      {"input %x: f32[4] const %s: f32[1] = [4]", "Reshape(%x, %s)",
       "bad-model shape is f32, expected integers"},
      {"input %x: f32[4] const %s: i64[1x1] = [4]", "Reshape(%x, %s)",
       "bad-model shape has rank 2"},
      {"input %x: f32[2x2]", "Flatten(%x) {axis=3}", "bad-model axis 3"},
      {"input %x: f32[2x2]", "Flatten(%x) {axis=-9223372036854775808}",
       "bad-model axis -9223372036854775808"},
      {"input %x: f32[2x1] const %a: i64[1] = [0]", "Squeeze(%x, %a)",
       "bad-model axis 0 of 2x1 is not 1"},
      {"input %x: f32[1x1] const %a: i64[2] = [0, -2]", "Squeeze(%x, %a)",
       "bad-model names axis 0 twice"},
      {"input %x: f32[2] const %a: i64[1] = [2]", "Unsqueeze(%x, %a)",
       "bad-model axes 2 is outside [-2, 2)"},
      {"input %x: f32[2x2]", "Transpose(%x) {perm=[0, 0]}", "bad-model perm names axis 0 twice"},
      {"input %x: f32[2x2]", "Transpose(%x) {perm=[0]}", "bad-model perm has 1 entries"},
      {"input %x: f32[2x2]", "Transpose(%x) {perm=[0, 2]}", "bad-model perm 2 is outside"},
      {"input %x: f32[2x2]", "Transpose(%x) {perm=[0, -1]}", "bad-model perm holds -1"},
      {"input %x: f32[2x2] input %y: f32[3x3]", "Concat(%x, %y) {axis=0}",
       "bad-model does not fit input 0"},
      {"input %x: f32[2x2]", "Concat(%x) {axis=2}", "bad-model axis 2 is outside [-2, 2)"},
      {"input %x: f32[2x2]", "Concat(%x)", "bad-model attribute 'axis' is absent"},
      {"input %x: u8[9223372036854775807]", "Concat(%x, %x) {axis=0}", "bad-model overflow"},
      {"input %x: f32[5]", "Split(%x)", "bad-model does not divide into 2", 2},
      {"input %x: f32[4] const %s: i64[2] = [3, 3]", "Split(%x, %s)", "bad-model summing to 6", 2},
      {"input %x: f32[4] const %s: i64[2] = [-1, 5]", "Split(%x, %s)", "bad-model split holds -1",
       2},
      {"input %x: f32[4]", "Split(%x) {num_outputs=3}", "bad-model num_outputs is 3", 2},
      {"input %x: f32[3] const %s: i64[1] = [2]", "Expand(%x, %s)", "bad-model does not expand"},
      {"input %x: f32[1] const %s: i64[1] = [-1]", "Expand(%x, %s)", "bad-model shape holds -1"},
      {"input %x: f32[3] const %s: i64[2] = [4611686018427387904, 1]", "Expand(%x, %s)",
       "bad-model impossible"},
      {"input %x: f32[3] const %r: i64[1] = [4611686018427387904]", "Tile(%x, %r)",
       "bad-model overflow"},
      {"input %x: f32[3] const %r: i64[2] = [1, 1]", "Tile(%x, %r)", "bad-model repeats has 2"},
      {"input %x: f32[3] const %r: i64[1] = [-1]", "Tile(%x, %r)", "bad-model repeats holds -1"},
      {"input %x: f32[1x4x2x2]", "DepthToSpace(%x) {blocksize=0}", "bad-model blocksize is 0"},
      {"input %x: f32[1x4x2x2]", "DepthToSpace(%x) {blocksize=3}", "bad-model no multiple"},
      {"input %x: f32[1x4x2x2]", "DepthToSpace(%x) {blocksize=2, mode=\"ABC\"}",
       "bad-model mode is \"ABC\""},
      {"input %x: f32[4x2x2]", "DepthToSpace(%x) {blocksize=2}", "bad-model rank 3"},
      {"input %x: f32[1x4x3x2]", "SpaceToDepth(%x) {blocksize=2}", "bad-model no multiples"},
      {"input %x: f32[1x4x2x2]", "SpaceToDepth(%x) {blocksize=-1}", "bad-model blocksize is -1"},
  });
}

TEST(InferFaults, SliceAndPad) {
  ExpectRefused({
      {"input %x: f32[4] const %i: i64[1] = [0]", "Slice(%x, %i, %i, %i, %i)",
       "bad-model steps holds 0"},
      {"input %x: f32[4] const %i: i64[1] = [0] const %j: i64[2] = [0, 1]", "Slice(%x, %i, %j)",
       "bad-model different lengths"},
      {"input %x: f32[4] const %j: i64[2] = [0, 1]", "Slice(%x, %j, %j)",
       "bad-model bounds for 2 axes"},
      {"input %x: f32[4] const %i: i64[1] = [1]", "Slice(%x, %i, %i, %i)",
       "bad-model axes 1 is outside [-1, 1)"},
      {"input %x: f32[4x4] const %j: i64[2] = [0, 0]", "Slice(%x, %j, %j, %j)", "bad-model twice"},
      {"input %x: f32[4] input %i: i64[1]", "Slice(%x, %i, %i)", "unsupported starts"},
      {"input %x: f32[4] const %p: i64[3] = [0, 0, 0]", "Pad(%x, %p)",
       "bad-model pads has 3 entries"},
      {"input %x: f32[4] const %p: i64[4] = [0, 0, 0, 0]", "Pad(%x, %p)",
       "bad-model pads has 4 entries"},
      {"input %x: f32[4] const %p: i64[2] = [-3, -2]", "Pad(%x, %p)",
       "bad-model crop more than the extent 4"},
      {"input %x: f32[4] const %p: i64[2] = [-9223372036854775808, 0]", "Pad(%x, %p)",
       "bad-model crop more"},
      {"input %x: f32[4] const %p: i64[2] = [9223372036854775807, 0]", "Pad(%x, %p)",
       "bad-model overflow"},
      {"input %x: f32[4] const %p: i64[2] = [4, 0]", "Pad(%x, %p) {mode=\"reflect\"}",
       "bad-model cannot pad an extent of 4 by 4"},
      {"input %x: f32[0] const %p: i64[2] = [1, 0]", "Pad(%x, %p) {mode=\"edge\"}",
       "bad-model cannot pad"},
      {"input %x: f32[4] const %p: i64[2] = [1, 0]", "Pad(%x, %p) {mode=\"mirror\"}",
       "bad-model mode is \"mirror\""},
      {"input %x: f32[4] const %p: i64[2] = [1, 0] input %v: f16[]", "Pad(%x, %p, %v)",
       "bad-model but input 2 is f16"},
  });
}

TEST(InferFaults, Windows) {
  const char* x = "input %x: f32[1x4x8x8] input %w: f32[4x4x3x3]";
  ExpectRefused({
      {x, "Conv(%x, %w) {strides=[0, 1]}", "bad-model strides holds 0"},
      {x, "Conv(%x, %w) {strides=[-1, 1]}", "bad-model strides holds -1"},
      {x, "Conv(%x, %w) {strides=[1]}", "bad-model strides has 1 entries"},
      {x, "Conv(%x, %w) {dilations=[0, 1]}", "bad-model dilations holds 0"},
      {x, "Conv(%x, %w) {dilations=[9223372036854775807, 1]}",
       "bad-model dilations holds 9223372036854775807"},
      {x, "Conv(%x, %w) {dilations=[2147483647, 1]}", "bad-model does not fit"},
      {x, "Conv(%x, %w) {group=0}", "bad-model group is 0"},
      {x, "Conv(%x, %w) {group=-2147483648}", "bad-model group is -2147483648"},
      {x, "Conv(%x, %w) {group=3}", "bad-model 4 input channels do not fit"},
      {x, "Conv(%x, %w) {pads=[-1, 0, 0, 0]}", "bad-model pads holds -1"},
      {x, "Conv(%x, %w) {pads=[1, 1]}", "bad-model pads has 2 entries"},
      {x, "Conv(%x, %w) {kernel_shape=[5, 5]}", "bad-model kernel_shape is [5, 5]"},
      {x, "Conv(%x, %w) {auto_pad=\"SAME\"}", "bad-model auto_pad is \"SAME\""},
      {"input %x: f32[1x4x2x2] input %w: f32[4x4x3x3]", "Conv(%x, %w)",
       "bad-model window of 3 does not fit"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x3x3]", "Conv(%x, %w)", "bad-model different ranks"},
      {"input %x: f32[4x4] input %w: f32[4x4]", "Conv(%x, %w)", "bad-model rank 2"},
      {"input %x: f32[1x1x1x1x1x1] input %w: f32[1x1x1x1x1x1]", "Conv(%x, %w)",
       "unsupported 4 spatial axes"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x0]", "Conv(%x, %w)", "bad-model kernel [0]"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x1] input %b: f32[5]", "Conv(%x, %w, %b)",
       "bad-model bias has shape 5"},
      {"input %x: i32[1x4x8] input %w: i32[4x4x1]", "Conv(%x, %w)", "bad-model input 0 is i32"},
      {"input %x: f32[1x4x8] input %w: f32[3x4x1]", "ConvTranspose(%x, %w)",
       "bad-model do not fit weights"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x1]", "ConvTranspose(%x, %w) {pads=[9, 9]}",
       "bad-model pads exceed"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x1]", "ConvTranspose(%x, %w) {output_padding=[-1]}",
       "bad-model output_padding"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x1]", "ConvTranspose(%x, %w) {output_shape=[-2]}",
       "bad-model output_shape holds -2"},
      {"input %x: f32[1x4x8] input %w: f32[4x4x1]",
       "ConvTranspose(%x, %w) {output_shape=[1, 2, 3, 4]}", "bad-model output_shape has 4"},
      {"input %x: f32[1x4x8]", "MaxPool(%x)", "bad-model 'kernel_shape' is absent"},
      {"input %x: f32[1x4x8]", "MaxPool(%x) {kernel_shape=[0]}", "bad-model kernel_shape holds 0"},
      {"input %x: f32[1x4x8]", "MaxPool(%x) {kernel_shape=[2], pads=[2, 0]}",
       "unsupported holds whole windows"},
      {"input %x: f32[1x4x8]", "LpPool(%x) {kernel_shape=[2], p=0}", "bad-model p is 0"},
      {"input %x: f32[1x4]", "GlobalMaxPool(%x)", "bad-model rank 2"},
  });
}

TEST(InferFaults, ProductsAndReductions) {
  ExpectRefused({
      {"input %a: f32[2x3] input %b: f32[4x5]", "Gemm(%a, %b)", "bad-model inner extents 3 and 4"},
      {"input %a: f32[2x3x1] input %b: f32[3x5]", "Gemm(%a, %b)",
       "bad-model expected two matrices"},
      {"input %a: f32[2x3] input %b: f32[3x5] input %c: f32[2]", "Gemm(%a, %b, %c)",
       "bad-model does not broadcast to 2x5"},
      {"input %a: f32[2x3] input %b: f32[4x5]", "MatMul(%a, %b)", "bad-model do not multiply"},
      {"input %a: f32[2x2x3] input %b: f32[3x3x5]", "MatMul(%a, %b)", "bad-model do not multiply"},
      {"input %a: f32[] input %b: f32[3]", "MatMul(%a, %b)", "bad-model scalar"},
      {"input %x: f32[2x2] const %a: i64[1] = [2]", "ReduceSum(%x, %a)",
       "bad-model axes 2 is outside"},
      {"input %x: f32[2x2] const %a: i64[2] = [1, -1]", "ReduceSum(%x, %a)", "bad-model twice"},
      {"input %x: f32[2x2] input %a: i64[1]", "ReduceSum(%x, %a)", "unsupported axes (\"a\")"},
      {"input %x: f32[2x2]", "ArgMax(%x) {axis=2}", "bad-model axis 2"},
      {"input %x: f32[0x2]", "ArgMax(%x)", "bad-model has no element"},
  });
}

TEST(InferFaults, NormalizationsAndIndexing) {
  ExpectRefused({
      {"input %x: f32[1x2x3] input %p: f32[3]", "BatchNormalization(%x, %p, %p, %p, %p)",
       "bad-model input 1 has shape 3, expected 2"},
      {"input %x: f32[1x2] input %p: f32[2]", "InstanceNormalization(%x, %p, %p)",
       "bad-model rank 2"},
      {"input %x: f32[6] input %p: f32[2]", "aicf.GroupNormalization(%x, %p, %p) {num_groups=2}",
       "bad-model rank 1"},
      {"input %x: f32[1x6x3] input %p: f32[4]",
       "aicf.GroupNormalization(%x, %p, %p) {num_groups=4}", "bad-model 4 groups do not divide"},
      {"input %x: f32[1x6x3] input %p: f32[6]",
       "aicf.GroupNormalization(%x, %p, %p) {num_groups=2}", "bad-model input 1 has shape 6"},
      {"input %x: f32[2x3] input %s: f32[2]", "LayerNormalization(%x, %s)",
       "bad-model normalised axes 3"},
      {"input %x: f32[2x3] input %s: f32[3]", "LayerNormalization(%x, %s) {axis=2}",
       "bad-model axis 2"},
      {"input %x: f32[2x3]", "Softmax(%x) {axis=2}", "bad-model axis 2"},
      {"input %x: f32[]", "Softmax(%x)", "bad-model axis -1"},
      {"input %x: f32[2x3] const %i: i64[1] = [2]", "Gather(%x, %i)",
       "bad-model index 2 is outside an axis of extent 2"},
      {"input %x: f32[2x3] const %i: i64[1] = [-3]", "Gather(%x, %i)", "bad-model index -3"},
      {"input %x: f32[2x3] input %i: f32[1]", "Gather(%x, %i)", "bad-model input 1 is f32"},
      {"input %x: f32[2] input %i: i64[1]", "Gather(%x, %i) {axis=1}", "bad-model axis 1"},
      {"input %x: f32[1x1x1x1x1x1x1x1] input %i: i64[1x1]", "Gather(%x, %i)", "unsupported rank 9"},
      {"input %x: f32[2] const %k: i64[1] = [3]", "TopK(%x, %k)", "bad-model k is 3", 2},
      {"input %x: f32[2] const %k: i64[1] = [-1]", "TopK(%x, %k)", "bad-model k is -1", 2},
      {"input %x: f32[2] const %k: i64[2] = [1, 1]", "TopK(%x, %k)", "bad-model k has 2 elements",
       2},
      {"input %x: f32[2x2] const %s: f32[3] = [1, 1, 1]", "Resize(%x, _, %s)",
       "bad-model scales has shape 3"},
      {"input %x: f32[2] const %s: f32[1] = [0]", "Resize(%x, _, %s)", "bad-model scales holds 0"},
      {"input %x: f32[2] const %s: f32[1] = [nan]", "Resize(%x, _, %s)", "bad-model scales holds"},
      {"input %x: f32[2] const %s: f32[1] = [1] const %z: i64[1] = [2]", "Resize(%x, _, %s, %z)",
       "bad-model both scales and sizes"},
      {"input %x: f32[2]", "Resize(%x)", "bad-model neither scales nor sizes"},
      {"input %x: bool[2] const %s: f32[1] = [2]", "Resize(%x, _, %s) {mode=\"linear\"}",
       "bad-model input 0 is bool"},
      {"input %x: f32[2] const %z: i64[1] = [0]", "Resize(%x, _, _, %z)",
       "bad-model sizes holds 0"},
      {"input %x: f32[2] const %z: i64[1] = [4]", "Resize(%x, _, _, %z) {mode=\"area\"}",
       "bad-model mode is \"area\""},
      {"input %x: f32[2] const %z: i64[1] = [4]", "Resize(%x, _, _, %z) {nearest_mode=\"up\"}",
       "bad-model nearest_mode"},
      {"input %x: f32[2] const %z: i64[1] = [4]",
       "Resize(%x, _, _, %z) {antialias=1, mode=\"linear\"}", "unsupported antialias"},
      {"input %x: f32[2] const %z: i64[1] = [4]",
       "Resize(%x, _, _, %z) {coordinate_transformation_mode=\"tf_crop_and_resize\"}",
       "unsupported tf_crop_and_resize"},
      {"input %x: f32[2] input %s: f32[1]", "Resize(%x, _, %s)", "unsupported scales"},
  });
}

TEST(InferFaults, ShapesAndRanges) {
  ExpectRefused({
      {"const %s: i64[1] = [-1]", "ConstantOfShape(%s)", "bad-model impossible shape [-1]"},
      {"const %s: i64[2] = [4294967296, 4294967296]", "ConstantOfShape(%s)",
       "bad-model impossible shape"},
      {"const %s: i64[1] = [4611686018427387904]", "ConstantOfShape(%s)",
       "bad-model impossible shape"},
      {"const %s: i64[1] = [1]", "ConstantOfShape(%s) {value=f32[2] [1, 2]}",
       "bad-model not one element"},
      {"const %a: i64[] = [0] const %b: i64[] = [1]", "Range(%a, %b, %a)", "bad-model delta is 0"},
      {"const %a: f32[] = [0] const %b: f32[] = [inf] const %c: f32[] = [1]", "Range(%a, %b, %c)",
       "bad-model no finite length"},
      {"const %a: f32[] = [0] const %b: f32[] = [nan] const %c: f32[] = [1]", "Range(%a, %b, %c)",
       "bad-model no finite length"},
      {"const %a: i64[] = [-9223372036854775808] const %b: i64[] = [9223372036854775807] const %c: "
       "i64[] = [1]",
       "Range(%a, %b, %c)", "bad-model length overflows"},
      {"input %a: i64[]", "Range(%a, %a, %a)", "unsupported start"},
      {"const %a: i64[2] = [0, 1]", "Range(%a, %a, %a)", "bad-model start has shape 2"},
  });
}

}  // namespace
}  // namespace aicf::ir
