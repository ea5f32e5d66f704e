// What is proven, and what is refused with which sentence: one op at a time.
#include "compiler/ir/prefix/prefix.h"

#include <gtest/gtest.h>

#include "compiler/ir/prefix/testing.h"

namespace aicf {
namespace {

using testing::PrefixRefusal;

struct PrefixCase {
  std::string body;
  std::string refusal = "";  ///< part of the sentence; empty: proven
};

// With inputs x [@, 3, 4] and image [@, 2, 6, 6], and result y.
void Expect(const PrefixCase& c, int64_t large = 6, int64_t small = 4) {
  const std::string body =
      "input %x: f32[@x3x4]\ninput %image: f32[@x2x6x6]\n" + c.body + "\noutput %y";
  const std::string found = PrefixRefusal(body, large, small);
  if (c.refusal.empty()) {
    EXPECT_EQ(found, "") << body;
  } else {
    EXPECT_NE(found.find(c.refusal), std::string::npos) << "found '" << found << "' for\n" << body;
  }
}

TEST(Prefix, PositionsApartArePrefixes) {
  for (const PrefixCase& c : std::vector<PrefixCase>{
           {"%y: f32 = Relu(%x) \"n\""},
           {"const %w: f32[4] = [1, 2, 3, 4]\n%y: f32 = Add(%x, %w) \"n\""},
           {"%a: f32 = Exp(%x) \"a\"\n%y: f32 = Sub(%a, %x) \"n\""},
           {"%y: f32 = Transpose(%x) {perm=[1, 0, 2]} \"n\""},
           {"%b: bool = Greater(%x, %x) \"b\"\n%y: f32 = Where(%b, %x, %x) \"n\""},
           {"%y: i32 = Cast(%x) {to=\"i32\"} \"n\""},
           {"const %a: i64[1] = [1]\n%y: f32 = Unsqueeze(%x, %a) \"n\""},
           {"const %s: i64[1] = [0]\nconst %e: i64[1] = [2]\nconst %a: i64[1] = [2]\n"
            "%y: f32 = Slice(%x, %s, %e, %a) \"n\""},
           {"const %s: i64[1] = [1]\nconst %e: i64[1] = [999]\nconst %a: i64[1] = [0]\n"
            "const %d: i64[1] = [2]\n%y: f32 = Slice(%x, %s, %e, %a, %d) \"n\""},
           {"%y: f32 = Concat(%x, %x) {axis=2} \"n\""},
           {"const %f: f32[1x3x4] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"
            "%y: f32 = Concat(%f, %x) {axis=0} \"n\""},
           {"const %p: i64[6] = [2, 0, 1, 0, 1, 0]\n%y: f32 = Pad(%x, %p) \"n\""},
           {"const %r: i64[3] = [1, 2, 1]\n%y: f32 = Tile(%x, %r) \"n\""},
           {"const %i: i64[1] = [0]\n%y: f32 = Gather(%x, %i) {axis=0} \"n\""},
           {"const %i: i64[2] = [2, -1]\n%y: f32 = Gather(%x, %i) {axis=1} \"n\""},
           {"const %k: i64[] = [1]\n%y: f32 = Trilu(%x, %k) \"n\""}}) {
    Expect(c);
    Expect(c, 6, 5);
    Expect(c, 2, 1);
  }
}

TEST(Prefix, AxesThatAreWholeMayMix) {
  for (const PrefixCase& c : std::vector<PrefixCase>{
           {"%y: f32 = Softmax(%x) {axis=-1} \"n\""},
           {"const %a: i64[2] = [1, 2]\n%y: f32 = ReduceMean(%x, %a) {keepdims=0} \"n\""},
           {"%y: i64 = ArgMax(%x) {axis=1} \"n\""},
           {"const %k: i64[1] = [2]\n(%y: f32, %i: i64) = TopK(%x, %k) {axis=2} \"n\""},
           {"const %k: i64[1] = [2]\n(_, %y: i64) = TopK(%x, %k) {axis=2} \"n\""},
           {"const %a: i64[] = [0]\n%y: f32 = CumSum(%x, %a) {exclusive=1} \"n\""},
           {"const %w: f32[4x2] = [1, 2, 3, 4, 5, 6, 7, 8]\n%y: f32 = MatMul(%x, %w) \"n\""},
           {"%t: f32 = Transpose(%x) {perm=[0, 2, 1]} \"t\"\n%y: f32 = MatMul(%x, %t) \"n\""},
           {"%t: f32 = Transpose(%x) {perm=[1, 0, 2]} \"t\"\n"
            "%u: f32 = Transpose(%x) {perm=[1, 2, 0]} \"u\"\n%y: f32 = MatMul(%t, %u) \"n\""},
           {"const %s: i64[2] = [-1, 4]\nconst %w: f32[4x2] = [1, 2, 3, 4, 5, 6, 7, 8]\n"
            "%r: f32 = Reshape(%x, %s) \"r\"\n%y: f32 = Gemm(%r, %w) \"n\""},
           {"const %s: f32[4] = [1, 2, 3, 4]\n%y: f32 = LayerNormalization(%x, %s) \"n\""},
           {"const %s: i64[4] = [-1, 1, 3, 4]\n%h: f32 = Reshape(%x, %s) \"h\"\n"
            "%y: f32 = aicf.Attention(%h, %h, %h) {window_right=0} \"n\""},
           {"const %s: i64[4] = [-1, 1, 3, 4]\n%h: f32 = Reshape(%x, %s) \"h\"\n"
            "%q: f32 = Transpose(%h) {perm=[1, 2, 0, 3]} \"q\"\n"
            "const %k: f32[1x3x1x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6]\n"
            "%y: f32 = aicf.Attention(%q, %k, %k) \"n\""},
           {"const %w: f32[1x2x1x1] = [1, 2]\n%y: f32 = Conv(%image, %w) \"n\""},
           {"%y: f32 = MaxPool(%image) {kernel_shape=[2, 2]} \"n\""},
           {"%y: f32 = GlobalAveragePool(%image) \"n\""},
           {"const %s: f32[2] = [1, 2]\n%y: f32 = InstanceNormalization(%image, %s, %s) \"n\""},
           {"const %s: f32[1] = [3]\n"
            "%y: f32 = aicf.GroupNormalization(%image, %s, %s) {num_groups=1} \"n\""},
           {"const %v: f32[4] = [1, 1, 2, 2]\n%y: f32 = Resize(%image, _, %v) \"n\""}}) {
    Expect(c);
    Expect(c, 2, 1);
  }
}

TEST(Prefix, AxesThatArePaddedMayNot) {
  for (
      const PrefixCase& c : std::vector<PrefixCase>{
          {"%y: f32 = Softmax(%x) {axis=0} \"bad\"", "normalises over axis 0 of its input 0"},
          {"%y: f32 = ReduceSum(%x) \"bad\"", "ReduceSum node \"bad\": it reduces axis 0"},
          {"%y: i64 = ArgMin(%x) {axis=0} \"n\"", "searches axis 0"},
          {"const %k: i64[1] = [2]\n(%y: f32, %i: i64) = TopK(%x, %k) {axis=0} \"n\"",
           "ranks axis 0"},
          {"const %a: i64[] = [0]\n%y: f32 = CumSum(%x, %a) {reverse=1} \"n\"", "backwards"},
          {"%t: f32 = Transpose(%x) {perm=[1, 0, 2]} \"t\"\n"
           "%u: f32 = Transpose(%x) {perm=[1, 2, 0]} \"u\"\n%y: f32 = MatMul(%u, %t) \"n\"",
           "sums over axis 2"},
          {"%t: f32 = Transpose(%image) {perm=[1, 2, 0, 3]} \"t\"\n"
           "%y: f32 = AveragePool(%t) {kernel_shape=[3, 3], pads=[1, 1, 1, 1]} \"n\"",
           "mixes positions along axis 2"},
          {"const %s: i64[4] = [-1, 1, 3, 4]\n%h: f32 = Reshape(%x, %s) \"h\"\n"
           "%q: f32 = Transpose(%h) {perm=[1, 2, 0, 3]} \"q\"\n"
           "%y: f32 = aicf.Attention(%q, %q, %q) \"n\"",
           "mixes positions along axis 2 of its input 1"},
          {"const %s: i64[4] = [-1, 1, 3, 4]\n%h: f32 = Reshape(%x, %s) \"h\"\n"
           "%q: f32 = Transpose(%h) {perm=[1, 2, 0, 3]} \"q\"\n"
           "const %k: f32[1x3x1x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6]\n"
           "%y: f32 = aicf.Attention(%q, %k, %k) {rows=\"last-keys\"} \"n\"",
           "mixes positions along axis 2 of its input 0"},
          {"%y: f32 = Concat(%x, %x) {axis=0} \"n\"", "appends to axis 0"},
          {"(%y: f32, %z: f32) = Split(%x) {axis=0} \"n\"", "splits axis 0"},
          {"const %s: i64[1] = [-2]\nconst %e: i64[1] = [999]\nconst %a: i64[1] = [0]\n"
           "%y: f32 = Slice(%x, %s, %e, %a) \"n\"",
           "starts at 4 and, for smaller inputs, at 2"},
          {"const %p: i64[6] = [0, 0, 0, 1, 0, 0]\n%y: f32 = Pad(%x, %p) \"n\"",
           "adds to the end of axis 0"},
          {"const %p: i64[6] = [1, 0, 0, 0, 0, 0]\n%y: f32 = Pad(%x, %p) {mode=\"reflect\"} \"n\"",
           "adds to the end"},
          {"const %r: i64[3] = [2, 1, 1]\n%y: f32 = Tile(%x, %r) \"n\"", "repeats axis 0"},
          {"const %i: i64[1] = [-1]\n%y: f32 = Gather(%x, %i) {axis=0} \"n\"", "picks from axis 0"},
          {"const %s: i64[2] = [4, -1]\n%y: f32 = Reshape(%x, %s) \"n\"", "rearranges 6x3x4"},
          {"const %s: i64[1] = [-1]\n%t: f32 = Transpose(%x) {perm=[1, 0, 2]} \"t\"\n"
           "%y: f32 = Reshape(%t, %s) \"n\"",
           "moves a padded axis inside another"},
          {"const %i: i64[1x1] = [0]\nconst %u: f32[1x3x4] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"
           "%y: f32 = ScatterND(%x, %i, %u) \"far\"",
           "ScatterND node \"far\": nothing is proven of this op"}}) {
    Expect(c);
  }
}

// Independence of the padding is not all: the model at the small extent must be the same function.
TEST(Prefix, WhatFollowsFromTheExtentIsCompared) {
  const std::string count =
      "%s: i64 = Shape(%x) {start=0, end=1} \"s\"\n"
      "%c: f32 = Cast(%s) {to=\"f32\"} \"c\"\n";
  Expect({count + "%y: f32 = Div(%x, %c) \"n\"", "follows from the padded extent"});
  const std::string positions =
      "const %zero: i64[] = [0]\nconst %one: i64[] = [1]\n"
      "%s: i64 = Shape(%x) {start=0, end=1} \"s\"\n"
      "const %none: i64[0] = []\n%n: i64 = Reshape(%s, %none) \"r\"\n";
  const std::string column = "const %shape: i64[3] = [-1, 1, 1]\n";
  Expect({positions + column +
          "%p: i64 = Range(%zero, %n, %one) \"p\"\n%f: f32 = Cast(%p) {to=\"f32\"} \"f\"\n"
          "%q: f32 = Reshape(%f, %shape) \"q\"\n%y: f32 = Add(%x, %q) \"n\""});
  const std::string downwards =
      positions + column +
      "const %down: i64[] = [-1]\n%p: i64 = Range(%n, %zero, %down) \"p\"\n"
      "%f: f32 = Cast(%p) {to=\"f32\"} \"f\"\n%q: f32 = Reshape(%f, %shape) \"q\"\n"
      "%y: f32 = Add(%x, %q) \"n\"";
  Expect({downwards, "follows from the padded extent"});
}

TEST(Prefix, ShapesThatBroadcastAtOneExtentOnly) {
  const std::string ones = "const %w: f32[6x1x1] = [1, 2, 3, 4, 5, 6]\n%y: f32 = Mul(%x, %w) \"n\"";
  Expect({ones, "broadcasts 6x3x4"}, 6, 1);
  Expect({"%t: f32 = Squeeze(%x) \"n\"\n%y: f32 = Relu(%t) \"m\"", "value \"t\" is 6x3x4"}, 6, 1);
}

TEST(Prefix, OnlyWhatOutputsNeedIsAsked) {
  Expect({"%s: f32 = Softmax(%x) {axis=0} \"dead\"\n%y: f32 = Relu(%x) \"n\""});
  Expect(
      {"%s: f32 = Softmax(%x) {axis=0} \"first\"\n%t: f32 = Exp(%s) \"second\"\n"
       "%y: f32 = ReduceSum(%t) \"third\"",
       "output \"y\": Softmax node \"first\""});
}

TEST(Prefix, GraphsThatDifferInMoreThanShapes) {
  const auto a = testing::AtExtent("input %x: f32[@]\n%y: f32 = Relu(%x) \"n\"\noutput %y", 4);
  const auto b = testing::AtExtent("input %x: f32[@]\n%y: f32 = Exp(%x) \"n\"\noutput %y", 3);
  const auto c = testing::AtExtent(
      "input %x: f32[@]\n%a: f32 = Relu(%x) \"n\"\n%y: f32 = Relu(%a) \"m\"\noutput %y", 3);
  const auto d = testing::AtExtent("input %x: f32[@]\n%y: f32 = Relu(%x) \"n\"\noutput %y", 5);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok() && d.ok());
  EXPECT_NE(ir::CheckPrefix(*a, *b).find("change with its shapes"), std::string::npos);
  EXPECT_NE(ir::CheckPrefix(*a, *c).find("change with its shapes"), std::string::npos);
  EXPECT_NE(ir::CheckPrefix(*a, *d).find("value \"x\" is 4"), std::string::npos)
      << ir::CheckPrefix(*a, *d);
}

TEST(Prefix, RecurrentCellsArePaddedAlongTheBatch) {
  const std::string weights =
      "const %w: f32[1x2x4] = [1, 2, 3, 4, 5, 6, 7, 8]\nconst %r: f32[1x2x2] = [1, 2, 3, 4]\n";
  Expect({weights + "%t: f32 = Transpose(%x) {perm=[1, 0, 2]} \"t\"\n"
                    "(%y: f32, %h: f32) = RNN(%t, %w, %r) {hidden_size=2} \"n\""});
  Expect(
      {weights + "(%y: f32, %h: f32) = RNN(%x, %w, %r) {hidden_size=2} \"n\"", "runs over axis 0"});
}

}  // namespace
}  // namespace aicf
