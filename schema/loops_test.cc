// Loops: round trips, and every way to describe them wrongly.
#include <gtest/gtest.h>

#include "schema/codec.h"
#include "schema/loop_tree.h"
#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Buffers of LoopProgram, in order.
enum : uint32_t { kGo, kX, kGoing, kSum, kNext, kHalf, kY };

// sum = x; going = go; while (going) { next = -sum; half = |next|; sum = half + x; going = !going }
// y = exp(sum). Steps: 0, 1 | 2, 3, 4, 5 | 6.
Program LoopProgram() {
  ProgramBuilder b;
  b.Input("go", {1}, DType::kBool);
  b.Input("x", {4});
  b.Add(Role::kCarried, "going", DType::kBool, {1});
  b.Add(Role::kCarried, "sum", DType::kF32, {4});
  b.Temp({4});
  b.Temp({4});
  b.Output("y", {4});
  const auto copy = [] { return Core(abi::Family::kCopy, abi::CopyAttrs{{{0}}, false, 0}, 1); };
  b.AddStep(copy(), {kX}, {kSum});
  b.AddStep(copy(), {kGo}, {kGoing});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {kSum}, {kNext});
  b.AddStep(Elementwise(abi::ExprOp::kAbs), {kNext}, {kHalf});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {kHalf, kX}, {kSum});
  b.AddStep(Elementwise(abi::ExprOp::kNot, DType::kBool), {kGoing}, {kGoing});
  b.AddStep(Elementwise(abi::ExprOp::kExp), {kSum}, {kY});
  Program p = b.Finish();
  p.entry_points[0].loops = {{2, 4, kGoing}};
  return p;
}

std::vector<Loop>& LoopsIn(Program& p) { return p.entry_points[0].loops; }

// A program whose steps 2 and 3, 3 alone, and 3 again are inside more and more loops.
Program NestedProgram() {
  Program p = LoopProgram();
  LoopsIn(p) = {{2, 4, kGoing}, {3, 3, kGoing}, {4, 2, kGoing}};
  return p;
}

TEST(Loops, AreAccepted) {
  const Status status = VerifyProgram(LoopProgram());
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(Loops, RoundTrip) {
  const Program p = NestedProgram();
  const auto bytes = EncodeProgram(p);
  ASSERT_TRUE(bytes.ok());
  const auto decoded = DecodeProgram(*bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(decoded->entry_points[0].loops, p.entry_points[0].loops);
  EXPECT_EQ(decoded->buffers[kSum].role, Role::kCarried);
  const auto parsed = ParseProgram(ToString(p));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(ToString(*parsed), ToString(p));
  EXPECT_EQ(parsed->entry_points[0].loops, p.entry_points[0].loops);
}

TEST(Loops, FaultyRangesAreRefused) {
  const Fault kFaults[] = {
      {"past the end", [](Program& p) { LoopsIn(p)[0].step_count = 6; }, "leave the entry point"},
      {"far past the end", [](Program& p) { LoopsIn(p)[0].step_count = UINT32_MAX; },
       "leave the entry point"},
      {"from outside", [](Program& p) { LoopsIn(p)[0].first_step = UINT32_MAX; },
       "leave the entry point"},
      {"empty", [](Program& p) { LoopsIn(p)[0].step_count = 0; }, "leave the entry point"},
      {"crossing",
       [](Program& p) {
         LoopsIn(p).push_back({4, 3, kGoing});
       },
       "overlap"},
      {"the same twice",
       [](Program& p) {
         LoopsIn(p).push_back({2, 4, kGoing});
       },
       "those of loop"},
      {"out of order",
       [](Program& p) {
         LoopsIn(p).insert(LoopsIn(p).begin(), {5, 1, kGoing});
       },
       "after a later loop"},
      {"inner before outer",
       [](Program& p) {
         LoopsIn(p).insert(LoopsIn(p).begin(), {2, 2, kGoing});
       },
       "overlap"},
  };
  ExpectFaults(LoopProgram(), kFaults);
}

TEST(Loops, BeforeTheEntryPointAreRefused) {
  EntryPoint e;
  e.first_step = 2;
  e.step_count = 5;
  e.loops = {{2, 3, 0}};
  EXPECT_TRUE(LoopTree::Build(e).ok());
  e.loops = {{1, 3, 0}};
  EXPECT_NE(LoopTree::Build(e).status().message().find("leave the entry point"), std::string::npos);
}

TEST(Loops, FaultyConditionsAreRefused) {
  const Fault kFaults[] = {
      {"no buffer", [](Program& p) { LoopsIn(p)[0].condition = 99; }, "buffer 99 of 7"},
      {"another dtype", [](Program& p) { LoopsIn(p)[0].condition = kSum; }, "one carried bool"},
      {"another dtype of one byte", [](Program& p) { p.buffers[kGoing].dtype = DType::kU8; },
       "one carried bool"},
      {"two bools",
       [](Program& p) {
         p.buffers[kGoing].shape = {2};
         p.buffers[kGoing].bytes = 2;
       },
       "one carried bool"},
      {"not carried", [](Program& p) { LoopsIn(p)[0].condition = kGo; }, "one carried bool"},
      {"not known before the loop",
       [](Program& p) {
         std::swap(p.steps[0], p.steps[1]);
         LoopsIn(p)[0] = {0, 6, kGoing};
       },
       "too early"},
      {"never written in a loop that ends the program",
       [](Program& p) {
         LoopsIn(p)[0] = {6, 1, kGoing};
       },
       "no step of it writes its condition"},
      {"never written in the loop", [](Program& p) { LoopsIn(p)[0].step_count = 3; },
       "no step of it writes its condition"},
  };
  ExpectFaults(LoopProgram(), kFaults);
}

TEST(Loops, FaultyStatesAreRefused) {
  const auto skip = [](Program& p, size_t step) {
    p.steps.erase(p.steps.begin() + static_cast<ptrdiff_t>(step));
    --p.entry_points[0].step_count;
    --LoopsIn(p)[0].first_step;
  };
  const Fault kFaults[] = {
      {"no first value", [&](Program& p) { skip(p, 0); }, "too early"},
      {"half a first value",
       [](Program& p) {
         p.steps[0].problem.inputs[0].shape = p.steps[0].problem.outputs[0].shape = Dims{2};
       },
       "too early"},
      {"half a first value, of which only a written element is read",
       [](Program& p) {
         p.steps[0].problem.inputs[0].shape = p.steps[0].problem.outputs[0].shape = Dims{2};
         p.steps[2].problem.inputs[0].strides = {0};
       },
       "too early"},
      {"half a first value, changed before it is read",
       [](Program& p) {
         p.steps[0].problem.inputs[0].shape = p.steps[0].problem.outputs[0].shape = Dims{2};
         p.steps[2].inputs[0] = kX;
       },
       "changes buffer 3"},
      {"changed by a step that reads it in another order",
       [](Program& p) {
         p.steps[4] = p.steps[0];
         p.steps[4].inputs[0] = kSum;
         p.steps[4].problem.inputs[0] = {DType::kF32, {4}, {-1}, 3};
       },
       "which the kernel does not allow"},
      {"a loop's temporary read outside", [](Program& p) { p.steps[6].inputs[0] = kHalf; },
       "may make no trip"},
      {"an output written in the loop alone",
       [](Program& p) {
         p.steps[3].outputs[0] = kY;
         p.steps[4].inputs[0] = kY;
         p.steps[6].outputs[0] = kHalf;
       },
       "may make no trip"},
      {"a temporary written again", [](Program& p) { p.buffers[kSum].role = Role::kTemp; },
       "after it was read"},
      {"a state that only the loop writes, read outside",
       [&](Program& p) {
         p.steps[2].inputs[0] = kX;
         p.steps[3].outputs[0] = kSum;
         p.steps[4].inputs[0] = kX;
         p.steps[4].outputs[0] = kHalf;
         skip(p, 0);
       },
       "may make no trip"},
  };
  ExpectFaults(LoopProgram(), kFaults);
}

// x is read in every trip; half dies within its trip; what is live around the loop is live in it.
TEST(Loops, FaultyPlacesAreRefused) {
  const auto place = [](Program& p, uint32_t buffer, uint32_t on) {
    p.buffers[buffer].offset = p.buffers[on].offset;
  };
  const Fault kFaults[] = {
      {"a state over a temporary", [&](Program& p) { place(p, kHalf, kSum); }, "overlap"},
      {"a condition over a temporary", [&](Program& p) { place(p, kGoing, kNext); }, "overlap"},
      {"in place over what the next trip reads",
       [](Program& p) {
         // half takes the bytes of a value that was made before the loop.
         p.steps[6].inputs[0] = kSum;
         p.buffers[kNext].role = Role::kTemp;
         std::swap(p.steps[1], p.steps[2]);
         p.steps[1].inputs[0] = kX;  // next = -x, before the loop
         LoopsIn(p)[0] = {3, 3, kGoing};
         p.buffers[kHalf].storage = Storage::kAlias;
         p.buffers[kHalf].alias_of = kNext;
         p.buffers[kHalf].offset = 0;
       },
       "overlap"},
      {"in place in the last step of a trip",
       [](Program& p) {
         const std::vector<Step> s = p.steps;
         p.steps = {s[0], s[1], s[2], s[4], s[5], s[3], s[6]};
         p.steps[2].inputs[0] = kX;     // next = -x, before the loop
         p.steps[3].inputs[0] = kNext;  // sum = next + x
         LoopsIn(p)[0] = {3, 3, kGoing};
         EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString();
         p.buffers[kHalf].storage = Storage::kAlias;
         p.buffers[kHalf].alias_of = kNext;  // half = |next|, the last step
         p.buffers[kHalf].offset = 0;
       },
       "overlap"},
  };
  ExpectFaults(LoopProgram(), kFaults);
  // The same places are fine without a loop, or within one trip.
  Program p = LoopProgram();
  p.buffers[kHalf].storage = Storage::kAlias;
  p.buffers[kHalf].alias_of = kNext;
  p.buffers[kHalf].offset = 0;
  EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString();
}

TEST(Loops, InsideTooManyLoopsAreRefused) {
  EntryPoint e;
  e.step_count = 100;
  for (uint32_t d = 0; d < kMaxLoopDepth; ++d) e.loops.push_back({0, 100 - d, 0});
  EXPECT_TRUE(LoopTree::Build(e).ok());
  e.loops.push_back({0, 100 - static_cast<uint32_t>(kMaxLoopDepth), 0});
  const auto tree = LoopTree::Build(e);
  EXPECT_EQ(tree.status().code(), Code::kBadArtifact);
  EXPECT_NE(tree.status().message().find("inside 32 loops"), std::string::npos);
}

TEST(Loops, KnowHowLongValuesLive) {
  EntryPoint e;
  e.first_step = 10;
  e.step_count = 10;
  e.loops = {{12, 6, 0}, {12, 2, 0}, {15, 2, 0}, {18, 1, 0}};
  const auto tree = LoopTree::Build(e);
  ASSERT_TRUE(tree.ok()) << tree.status().ToString();
  using Live = std::pair<int64_t, int64_t>;
  EXPECT_EQ(tree->InnermostOf(11), LoopTree::kNone);
  EXPECT_EQ(tree->InnermostOf(13), 1);
  EXPECT_EQ(tree->InnermostOf(14), 0);
  EXPECT_EQ(tree->InnermostOf(16), 2);
  EXPECT_EQ(tree->InnermostOf(17), 0);
  EXPECT_EQ(tree->InnermostOf(18), 3);
  EXPECT_EQ(tree->InnermostOf(20), LoopTree::kNone);
  EXPECT_EQ(tree->LiveRange(10, 11), (Live{10, 11}));
  EXPECT_EQ(tree->LiveRange(10, 12), (Live{10, 17}));  // into both
  EXPECT_EQ(tree->LiveRange(14, 15), (Live{14, 16}));  // into the second inner one
  EXPECT_EQ(tree->LiveRange(13, 14), (Live{12, 14}));  // out of the first inner one
  EXPECT_EQ(tree->LiveRange(13, 15), (Live{12, 16}));  // from one into the other
  EXPECT_EQ(tree->LiveRange(13, 19), (Live{12, 19}));
  EXPECT_EQ(tree->LiveRange(15, 16), (Live{15, 16}));  // within a trip
  EXPECT_EQ(tree->LiveRange(9, 20), (Live{9, 20}));    // an input
  EXPECT_TRUE(tree->Contains(0, 2));
  EXPECT_FALSE(tree->Contains(2, 0));
  EXPECT_FALSE(tree->Contains(0, LoopTree::kNone));
  EXPECT_TRUE(tree->Contains(LoopTree::kNone, 3));
}

TEST(Loops, OnADeviceNeedTheGuardImage) {
  Program p = LoopProgram();
  p = OnDevice(p);
  EXPECT_NE(VerifyProgram(p).message().find("guard image -1"), std::string::npos);
  p.guard_image = 0;
  EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString();
}

}  // namespace
}  // namespace aicf::schema
