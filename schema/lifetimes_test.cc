// Lifetimes of hand-built programs, written out; and that no two of them overlap in a plan that the
// verifier accepts.
#include "schema/lifetimes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "schema/testing.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

using Buffers = std::vector<uint32_t>;

std::vector<Lifetime> Of(const Program& program, size_t entry = 0) {
  auto lifetimes = LifetimesOf(program, entry);
  EXPECT_TRUE(lifetimes.ok()) << lifetimes.status().ToString();
  return lifetimes.ok() ? *lifetimes : std::vector<Lifetime>();
}

TEST(Lifetimes, InputsAlwaysOutputsToTheEndTempsBetween) {
  const Program p = ChainProgram();  // x | w | t, and sum over it | y; steps 0 to 2
  const std::vector<Lifetime> found = Of(p);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], (Lifetime{0, 3, p.buffers[0].offset, 256, {0}}));
  EXPECT_EQ(found[1], (Lifetime{0, 2, p.buffers[2].offset, 256, {2, 3}}));
  EXPECT_EQ(found[2], (Lifetime{2, 3, p.buffers[4].offset, 256, {4}}));
  EXPECT_EQ(LiveBytes(found, p.entry_points[0]), (std::vector<uint64_t>{512, 512, 768, 512}));
}

TEST(Lifetimes, WhatEntersALoopLivesThroughIt) {
  ProgramBuilder b;
  const uint32_t go = b.Input("go", {1}, DType::kBool);
  const uint32_t x = b.Input("x", {4});
  const uint32_t going = b.Add(Role::kCarried, "going", DType::kBool, {1});
  const uint32_t early = b.Temp({4});
  const uint32_t inside = b.Temp({4});
  const uint32_t y = b.Output("y", {4});
  const abi::Problem copy = Core(abi::Family::kCopy, abi::CopyAttrs{{{0}}, false, 0}, 1);
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {early});
  b.AddStep(copy, {go}, {going});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {early, x}, {inside});
  b.AddStep(Elementwise(abi::ExprOp::kAbs), {inside}, {b.Temp({4})});
  b.AddStep(Elementwise(abi::ExprOp::kNot, DType::kBool), {going}, {going});
  b.AddStep(Elementwise(abi::ExprOp::kExp), {x}, {y});
  Program p = b.Finish();
  p.entry_points[0].loops = {{2, 3, going}};
  const auto item = [&](uint32_t buffer) {
    for (const Lifetime& l : Of(p)) {
      if (l.buffers == Buffers{buffer}) return l;
    }
    return Lifetime{};
  };
  EXPECT_EQ(item(early).first, 0);
  EXPECT_EQ(item(early).last, 4) << "last read at 2, but again in the next trip";
  EXPECT_EQ(item(inside).first, 2);
  EXPECT_EQ(item(inside).last, 3);
  EXPECT_EQ(item(going).first, 1);
  EXPECT_EQ(item(going).last, 4);
}

TEST(Lifetimes, OfEachEntryPointAlone) {
  const Program p = EntriesProgram();
  const std::vector<Lifetime> large = Of(p, 0), small = Of(p, 1);
  ASSERT_EQ(large.size(), 4u);
  ASSERT_EQ(small.size(), 4u);
  EXPECT_EQ(large[0], (Lifetime{0, 2, 0, 256, {0}}));
  EXPECT_EQ(small[0], (Lifetime{2, 4, 0, 256, {4}}));
  EXPECT_EQ(small[3], (Lifetime{3, 4, 768, 256, {7}}));
  EXPECT_EQ(LiveBytes(small, p.entry_points[1]), (std::vector<uint64_t>{768, 1024, 1024}));
}

TEST(Lifetimes, WorkspacesAndMetasLieInTheArenaStatesDoNot) {
  ProgramBuilder b;
  b.State("cache", {100});
  const uint32_t meta = b.Meta("position", {100});
  const uint32_t x = b.Input("x", {4});
  const uint32_t y = b.Output("y", {4});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y}).workspace_bytes = 300;
  const Program p = b.Finish();
  const std::vector<Lifetime> found = Of(p);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], (Lifetime{0, 1, p.buffers[meta].offset, 512, {meta}}));
  EXPECT_EQ(found[3], (Lifetime{0, 0, p.steps[0].workspace_offset, 512, {}, 0}));
}

TEST(Lifetimes, AnUnusedInputLivesAnUnnamedTempDoesNot) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {4});
  b.Input("unused", {4});
  b.Temp({4});
  const uint32_t y = b.Output("y", {4});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y});
  const std::vector<Lifetime> found = Of(b.Finish());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].buffers, Buffers{1});
  EXPECT_EQ(found[2].buffers, Buffers{3});
}

TEST(Lifetimes, WithoutSteps) {
  ProgramBuilder b;
  b.Input("x", {4});
  const Program p = b.Finish();
  const std::vector<Lifetime> found = Of(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(LiveBytes(found, p.entry_points[0]), std::vector<uint64_t>{256});
}

TEST(Lifetimes, RefuseSizesBeyondTheAddressSpace) {
  Program p = ChainProgram();
  p.buffers[2].bytes = ~uint64_t{0};
  EXPECT_EQ(LifetimesOf(p, 0).status().code(), Code::kResource);
  p = ChainProgram();
  p.steps[1].workspace_bytes = ~uint64_t{0} - 5;
  EXPECT_EQ(LifetimesOf(p, 0).status().code(), Code::kResource);
}

// Two programs that verify, and one byte of overlap that the verifier finds: both must agree.
TEST(Lifetimes, NoneOverlapWhereTheVerifierAcceptsThePlan) {
  for (const Program& p : {ChainProgram(), ConcatProgram(), FamiliesProgram(), EntriesProgram()}) {
    ASSERT_TRUE(VerifyProgram(p).ok());
    for (size_t e = 0; e < p.entry_points.size(); ++e) {
      const std::vector<Lifetime> all = Of(p, e);
      for (size_t i = 0; i < all.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          const bool time = all[i].first <= all[j].last && all[j].first <= all[i].last;
          const bool place = all[i].offset < all[j].offset + all[j].bytes &&
                             all[j].offset < all[i].offset + all[i].bytes;
          EXPECT_FALSE(time && place) << "items " << i << " and " << j;
        }
      }
      EXPECT_LE(std::ranges::max(LiveBytes(all, p.entry_points[e])),
                RoundUp(p.arena_bytes, kBufferAlignment));
    }
  }
}

}  // namespace
}  // namespace aicf::schema
