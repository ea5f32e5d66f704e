// Random loops against the interpreter, with all passes and with none; and every plan that verifies
// computes the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/verify.h"
#include "tests/loops/random_loops.h"

namespace aicf::loops {
namespace {

void Check(const Case& c, Compiled& compiled, uint32_t seed) {
  std::mt19937 rng(seed + 77);
  for (int64_t trips : {2, 0, -2, 1, 3}) {
    std::vector<Vector> values(static_cast<size_t>(c.values), Vector(kWidth, NAN));
    const Feeds feeds = RandomFeeds(c, trips, rng, &values);
    Execute(c.main, trips, values);
    const Outputs got = Replay(compiled, feeds);
    ASSERT_EQ(got.size(), c.main.next.size());
    for (size_t k = 0; k < got.size(); ++k) {
      for (size_t e = 0; e < static_cast<size_t>(kWidth); ++e) {
        ASSERT_NEAR(got[k].values[e], values[static_cast<size_t>(c.main.next[k])][e], 2e-5)
            << "seed " << seed << " trips " << trips << " output " << k << "\n"
            << ToString(compiled.plan());
      }
    }
  }
}

RunnerOptions NoPasses() {
  RunnerOptions options;
  for (const PassInfo& pass : AllPasses()) {
    if (!pass.required) options.disabled.emplace(pass.name);
  }
  return options;
}

TEST(RandomLoops, ComputeWhatAnInterpreterDoes) {
  size_t loops = 0;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    const Case c = MakeCase(seed);
    for (const char* target : kTargets) {
      auto compiled = Compile(c.model, target, seed % 4 == 0 ? NoPasses() : RunnerOptions());
      ASSERT_TRUE(compiled.ok()) << "seed " << seed << ": " << compiled.status().ToString();
      Check(c, *compiled, seed);
      if (HasFatalFailure()) return;
      EXPECT_LE(compiled->loops(), CountLoops(c.main));
      loops += compiled->loops();
    }
  }
  EXPECT_GE(loops, 400u) << "the generator makes loops that stay";
}

// Another place for one buffer: on another's bytes, or as its alias. False where there is none.
bool Disturb(schema::Program& p, std::mt19937& rng) {
  const auto any = [&] { return static_cast<uint32_t>(rng() % p.buffers.size()); };
  const uint32_t a = any(), b = any();
  schema::Buffer& moved = p.buffers[a];
  if (a == b || moved.storage != schema::Storage::kArena ||
      p.buffers[b].storage != schema::Storage::kArena || moved.offset == p.buffers[b].offset) {
    return false;
  }
  if (rng() % 2 == 0) {
    moved.offset = p.buffers[b].offset;
  } else {
    moved.storage = schema::Storage::kAlias;
    moved.alias_of = b;
    moved.offset = 0;
  }
  p.arena_lower_bound = p.arena_bytes = 0;
  const auto cover = [&](uint64_t end) { p.arena_bytes = std::max(p.arena_bytes, end); };
  for (const schema::Buffer& buffer : p.buffers) {
    if (buffer.storage == schema::Storage::kArena) cover(buffer.offset + buffer.bytes);
  }
  for (const schema::Step& s : p.steps) {
    if (s.workspace_bytes != 0) cover(s.workspace_offset + s.workspace_bytes);
  }
  return true;
}

// What the verifier lets through computes the same, wherever the buffers lie: a trip destroys
// nothing that another needs.
TEST(RandomLoops, KeepTheirValuesWhereverTheVerifierAcceptsThem) {
  int accepted = 0, refused = 0;
  for (uint32_t seed = 200; seed < 260; ++seed) {
    const Case c = MakeCase(seed);
    const auto contents = Plan(c.model, kTargets[seed % 2]);
    ASSERT_TRUE(contents.ok()) << contents.status().ToString();
    auto original = Load(*contents);
    ASSERT_TRUE(original.ok()) << original.status().ToString();
    std::mt19937 rng(seed);
    for (int k = 0; k < 60; ++k) {
      schema::Contents other = *contents;
      if (!Disturb(other.program, rng)) continue;
      if (!schema::VerifyProgram(other.program).ok()) {
        ++refused;
        continue;
      }
      ++accepted;
      auto disturbed = Load(other);
      ASSERT_TRUE(disturbed.ok()) << disturbed.status().ToString();
      for (int64_t trips : {3, 0, 1}) {
        const Feeds feeds = RandomFeeds(c, trips, rng, nullptr);
        ASSERT_EQ(Replay(*disturbed, feeds), Replay(*original, feeds))
            << "seed " << seed << " trips " << trips << ToString(other.program);
      }
    }
  }
  EXPECT_GE(accepted, 100);
  EXPECT_GE(refused, 500);
}

}  // namespace
}  // namespace aicf::loops
