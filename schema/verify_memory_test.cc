// Overlaps, aliases and lifetimes: and random placements against a plain
// pairwise check.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// neg, then one more op per entry of `ops`; every value has its own bytes.
Program Chain(const std::vector<abi::ExprOp>& ops) {
  ProgramBuilder b;
  uint32_t last = b.Input("x", {16, 16});
  for (size_t i = 0; i < ops.size(); ++i) {
    const uint32_t next = i + 1 == ops.size() ? b.Output("y", {16, 16}) : b.Temp({16, 16});
    b.AddStep(Elementwise(ops[i]), {last}, {next});
    last = next;
  }
  return b.Finish();
}

constexpr auto kNeg = abi::ExprOp::kNeg;

TEST(VerifyMemoryTest, APlantedOverlapIsFound) {
  Program p = Chain({kNeg, kNeg, kNeg, kNeg});  // x=0, temps 1 2 3, y=4
  ExpectAccepted(p);
  p.buffers[2].offset = p.buffers[1].offset;
  ExpectRefused(p,
                "buffer 1 \"%1\" [1024, 2048) and buffer 2 \"%2\" [1024, 2048) overlap while both "
                "are live at step 1");
  // By one aligned unit, from either side, around and inside.
  for (const int64_t shift : {-768, -256, 256, 768}) {
    p.buffers[2].offset = p.buffers[1].offset + shift;
    ExpectRefused(p, "overlap");
  }
}

TEST(VerifyMemoryTest, BytesMayBeReusedOnceTheirBufferIsDead) {
  Program p = Chain({kNeg, kNeg, kNeg, kNeg});
  p.buffers[3].offset = p.buffers[1].offset;
  p.buffers[4].offset = p.buffers[2].offset;
  p.arena_bytes = p.buffers[2].offset + p.buffers[2].bytes;
  ExpectAccepted(p);
}

TEST(VerifyMemoryTest, InputsKeepTheirBytes) {
  Program p = Chain({kNeg, kNeg, kNeg});
  p.buffers[2].offset = p.buffers[0].offset;  // x was read for the last time at step 0
  ExpectRefused(p, "buffer 0 \"x\"");
  p = Chain({kNeg, kNeg});
  p.buffers[1].storage = Storage::kAlias;
  p.buffers[1].offset = 0;
  p.buffers[1].alias_of = 0;
  ExpectRefused(p, "buffer 0 \"x\"");
}

TEST(VerifyMemoryTest, OutputsKeepTheirBytes) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64});
  const uint32_t early = b.Output("early", {64});
  const uint32_t t = b.Temp({64});
  const uint32_t late = b.Output("late", {64});
  b.AddStep(Elementwise(kNeg), {x}, {early});
  b.AddStep(Elementwise(kNeg), {x}, {t});
  b.AddStep(Elementwise(kNeg), {t}, {late});
  Program p = b.Finish();
  ExpectAccepted(p);
  p.buffers[t].offset = p.buffers[early].offset;
  ExpectRefused(p, "buffer 1 \"early\"");
}

TEST(VerifyMemoryTest, WorkspacesTouchNothingLive) {
  Program p = FamiliesProgram();
  Step& s = p.steps.back();
  ASSERT_EQ(s.kernel, "cpu.topk.ref");
  ASSERT_GT(s.workspace_bytes, 0u);
  const uint64_t free_offset = s.workspace_offset;
  s.workspace_offset = p.buffers[s.outputs[1]].offset;
  ExpectRefused(p, "the workspace of step 9");
  s.workspace_offset = p.buffers[s.inputs[0]].offset;
  ExpectRefused(p, "the workspace of step 9");
  s.workspace_offset = free_offset;
  ExpectAccepted(p);
}

TEST(VerifyMemoryTest, AnAliasNeedsTheKernelsConsent) {
  // A transposing copy reads elements that it has already overwritten.
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {8, 8});
  const uint32_t t = b.Temp({8, 8});
  const uint32_t y = b.Output("y", {8, 8});
  b.MakeAlias(y, t);
  b.AddStep(Elementwise(kNeg), {x}, {t});
  abi::Problem transpose = Core(abi::Family::kCopy, abi::CopyAttrs{{{0, 0}}, false, 0}, 1);
  transpose.inputs = {{DType::kF32, {8, 8}, {1, 8}, 0}};
  b.AddStep(transpose, {t}, {y});
  ExpectRefused(b.Finish(), "overlap while both are live at step 1");
}

TEST(VerifyMemoryTest, AnAliasNeedsEqualViews) {
  Program p = ChainProgram();
  p.steps[1].problem.inputs[0].strides = {-5, 1};
  p.steps[1].problem.inputs[0].offset = 15;
  ExpectRefused(p, "overlap while both are live at step 1");
}

TEST(VerifyMemoryTest, OverwritingIsJudgedBesideTheKernelsWord) {
  abi::KernelInfo careless{};
  EXPECT_FALSE(MayOverwrite(careless, ChainProgram().steps[1].problem, 0, 0));  // declares nothing
  careless.in_place = [](const abi::Problem&, int) { return true; };
  const auto judge = [&](const abi::View& in, const abi::View& out) {
    abi::Problem p;
    p.inputs = {in};
    p.outputs = {out};
    EXPECT_FALSE(MayOverwrite(careless, p, 0, 1)) << "not the operand's output";
    return MayOverwrite(careless, p, 0, 0);
  };
  const abi::View v{DType::kF32, {4, 1}, {1, 7}, 2};
  EXPECT_TRUE(judge(v, v));
  EXPECT_TRUE(judge(v, {DType::kI32, {4, 1}, {1, 9}, 2}));  // the same bytes all the same
  EXPECT_FALSE(judge(v, {DType::kF64, {4, 1}, {1, 7}, 2}));
  EXPECT_FALSE(judge(v, {DType::kF32, {4, 2}, {1, 7}, 2}));
  EXPECT_FALSE(judge(v, {DType::kF32, {4, 1}, {2, 7}, 2}));
  EXPECT_FALSE(judge(v, {DType::kF32, {4, 1}, {1, 7}, 3}));
}

TEST(VerifyMemoryTest, AnAliasNeedsEveryReadInPlace) {
  Program p = ChainProgram();
  Step& s = p.steps[1];
  s.inputs[1] = s.inputs[0];  // t + t: both in place
  ExpectAccepted(p);
  s.problem.inputs[1].strides = {-5, 1};
  s.problem.inputs[1].offset = 15;
  ExpectRefused(p, "overlap while both are live at step 1");
}

TEST(VerifyMemoryTest, AnAliasEndsItsSource) {
  Program p = ChainProgram();
  p.steps[2].inputs[0] = 2;  // reads t after the sum took its bytes
  ExpectRefused(p, "overlap while both are live");
}

TEST(VerifyMemoryTest, SameBytesWithoutAnAliasAreAnOverlap) {
  Program p = ChainProgram();
  p.buffers[3].storage = Storage::kArena;
  p.buffers[3].alias_of = 0;
  p.buffers[3].offset = p.buffers[2].offset;
  ExpectRefused(p, "overlap while both are live at step 1");
}

TEST(VerifyMemoryTest, OnlyTheFirstOutputMayBeInPlace) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {4});
  const uint32_t t = b.Temp({4});
  const uint32_t first = b.Output("first", {4});
  const uint32_t second = b.Output("second", {4});
  b.AddStep(Elementwise(kNeg), {x}, {t});
  abi::Problem two = Elementwise(kNeg);
  two.epilogue.results.push_back(two.epilogue.results[0]);
  b.AddStep(two, {t}, {first, second});
  const Program good = b.Finish();
  ExpectAccepted(good);
  b.MakeAlias(first, t);
  ExpectAccepted(b.Finish());
  Program p = good;
  p.buffers[second].storage = Storage::kAlias;
  p.buffers[second].alias_of = t;
  p.buffers[second].offset = 0;
  ExpectRefused(p, "overlap while both are live at step 1");
}

TEST(VerifyMemoryTest, ChainsOfAliases) {
  Program p = Chain({kNeg, kNeg, kNeg, kNeg, kNeg});  // temps 1..4
  for (uint32_t i = 2; i <= 4; ++i) {
    p.buffers[i].storage = Storage::kAlias;
    p.buffers[i].offset = 0;
    p.buffers[i].alias_of = i % 2 == 0 ? i - 1 : 1;  // of the one before, or of the root
  }
  ExpectAccepted(p);
  p.steps[3].inputs[0] = 2;  // dead since step 2
  ExpectRefused(p, "overlap");
}

// Two entry points with temps of their own.
Program TwoEntries() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64});
  const uint32_t y = b.Output("y", {64});
  const uint32_t t = b.Temp({64});
  const uint32_t z = b.Output("z", {64});
  b.AddStep(Elementwise(kNeg), {x}, {y});
  b.AddStep(Elementwise(kNeg), {x}, {t});
  b.AddStep(Elementwise(kNeg), {t}, {z});
  Program p = b.Finish();
  p.entry_points = {{"one", {x}, {y}, 0, 1}, {"two", {x}, {z}, 1, 2}};
  return p;
}

TEST(VerifyMemoryTest, EntryPointsShareTheArena) {
  Program p = TwoEntries();
  ExpectAccepted(p);
  p.buffers[2].offset = p.buffers[1].offset;  // an output of the other entry point
  p.buffers[3].offset = p.buffers[1].offset + 256;
  p.arena_bytes = p.buffers[3].offset + 256;
  ExpectAccepted(p);
  p.steps[2].inputs[0] = 1;  // written by the other entry point only
  ExpectRefused(p, "entry point \"two\": step 2");
}

TEST(VerifyMemoryTest, OutputsOfOneStepStayApart) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {32});
  const uint32_t state = b.Update("next", b.State("cache", {64}));
  abi::Problem two = Elementwise(kNeg);
  two.epilogue.results.push_back(two.epilogue.results[0]);
  two.outputs = {{DType::kF32, {32}, {1}, 0}, {DType::kF32, {32}, {1}, 32}};
  b.AddStep(two, {x}, {state, state});
  Program p = b.Finish();
  ExpectAccepted(p);
  p.steps[0].problem.outputs[1].offset = 31;
  ExpectRefused(p, "outputs 0 and 1 overlap in buffer 2");
}

TEST(VerifyMemoryTest, EmptyBuffersOccupyNothing) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {0, 8});
  const uint32_t t = b.Temp({0, 8});
  const uint32_t y = b.Output("y", {0, 8});
  b.AddStep(Elementwise(kNeg), {x}, {t});
  b.AddStep(Elementwise(kNeg), {t}, {y});
  ExpectAccepted(b.Finish());
}

// The same question asked the slow way: for every pair of buffers and every step.
class PairwiseOracle {
 public:
  explicit PairwiseOracle(const Program& p) : p_(p), count_(static_cast<int>(p.steps.size())) {
    for (int i = 0; i < count_; ++i) {
      for (uint32_t b : p.steps[i].inputs) Extend(b, i);
      for (uint32_t b : p.steps[i].outputs) Extend(b, i);
    }
    for (uint32_t b : p.entry_points[0].inputs) Extend(b, -1), Extend(b, count_);
    for (uint32_t b : p.entry_points[0].outputs) Extend(b, count_);
  }

  bool HasOverlap() const {
    for (const auto& [a, life_a] : lives_) {
      for (const auto& [b, life_b] : lives_) {
        if (a != b && Clash(a, b) && !InPlace(a, b) && !InPlace(b, a)) return true;
      }
    }
    return false;
  }

 private:
  void Extend(uint32_t b, int step) {
    if (p_.buffers[b].role == Role::kConstant) return;
    const auto [it, fresh] = lives_.try_emplace(b, step, step);
    it->second.first = std::min(it->second.first, step);
    it->second.second = std::max(it->second.second, step);
  }
  uint32_t Root(uint32_t b) const {
    while (p_.buffers[b].storage == Storage::kAlias) b = p_.buffers[b].alias_of;
    return b;
  }
  bool Clash(uint32_t a, uint32_t b) const {
    const auto &la = lives_.at(a), &lb = lives_.at(b);
    if (la.second < lb.first || lb.second < la.first) return false;
    const uint64_t begin_a = p_.buffers[Root(a)].offset, begin_b = p_.buffers[Root(b)].offset;
    return begin_a < begin_b + p_.buffers[b].bytes && begin_b < begin_a + p_.buffers[a].bytes;
  }
  // `b` takes over from `a` at the step that reads `a` last and writes `b` first.
  bool InPlace(uint32_t a, uint32_t b) const {
    const int at = lives_.at(b).first;
    if (Root(a) != Root(b) || lives_.at(a).second != at || at < 0 || at >= count_) return false;
    const Step& s = p_.steps[at];
    return s.outputs[0] == b && std::count(s.inputs.begin(), s.inputs.end(), a) > 0;
  }

  const Program& p_;
  const int count_;
  std::map<uint32_t, std::pair<int, int>> lives_;
};

// A random program of additions over equal shapes, placed at random in a tight arena.
Program RandomProgram(std::mt19937& rng) {
  ProgramBuilder b;
  const Dims shape = {64};
  std::vector<uint32_t> values = {b.Input("x", shape)};
  const int steps = 2 + static_cast<int>(rng() % 8);
  for (int i = 0; i < steps; ++i) {
    const uint32_t left = values[rng() % values.size()], right = values.back();
    const bool output = i + 1 == steps || rng() % 5 == 0;
    const uint32_t next = output ? b.Output(StrCat("y", i), shape) : b.Temp(shape);
    if (rng() % 3 == 0) b.MakeAlias(next, rng() % 2 == 0 ? right : left);
    b.AddStep(Elementwise(abi::ExprOp::kAdd), {left, right}, {next});
    values.push_back(next);
  }
  Program p = b.Finish();
  const uint64_t slots = 2 + rng() % (2 * values.size());
  p.arena_bytes = 0;
  for (Buffer& buffer : p.buffers) {
    if (buffer.storage != Storage::kArena) continue;
    if (rng() % 2 == 0) buffer.offset = rng() % slots * kBufferAlignment;
    p.arena_bytes = std::max(p.arena_bytes, buffer.offset + buffer.bytes);
  }
  return p;
}

TEST(VerifyMemoryTest, AgreesWithAPairwiseCheckOnRandomPrograms) {
  std::mt19937 rng(20240607);
  int good = 0, bad = 0, aliased = 0;
  for (int round = 0; round < 6000; ++round) {
    const Program p = RandomProgram(rng);
    const bool overlap = PairwiseOracle(p).HasOverlap();
    const Status status = VerifyProgram(p);
    ASSERT_EQ(status.ok(), !overlap) << status.ToString() << "\n" << ToString(p);
    if (!status.ok()) {
      ASSERT_NE(status.message().find("overlap"), std::string::npos) << status.ToString();
    }
    ++(overlap ? bad : good);
    for (const Buffer& b : p.buffers) aliased += !overlap && b.storage == Storage::kAlias;
  }
  // The generator must exercise both answers, and legal aliases among them.
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
  EXPECT_GT(aliased, 200);
}

}  // namespace
}  // namespace aicf::schema
