// Order between steps: round trips, and every rule about streams, waits, programmatic launches and
// races against a program that breaks it alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "schema/artifact.h"
#include "schema/codec.h"
#include "schema/format.h"
#include "schema/lifetimes.h"
#include "schema/step_order.h"
#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using abi::ExprOp;

// A diamond: 0: a = -x; 1: b = exp a; 2: c = -b; 3 (stream 1): d = |a|; 4: y = c + d.
// Buffers: 0 x, 1 a, 2 b, 3 c, 4 d, 5 y.
Program Diamond() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {16, 16});
  const uint32_t a = b.Temp({16, 16}), e = b.Temp({16, 16}), c = b.Temp({16, 16}),
                 d = b.Temp({16, 16});
  const uint32_t y = b.Output("y", {16, 16});
  b.AddStep(Elementwise(ExprOp::kNeg), {x}, {a});
  b.AddStep(Elementwise(ExprOp::kExp), {a}, {e});
  b.AddStep(Elementwise(ExprOp::kNeg), {e}, {c});
  b.AddStep(Elementwise(ExprOp::kAbs), {a}, {d});
  b.AddStep(Elementwise(ExprOp::kAdd), {c, d}, {y});
  Program p = OnDevice(b.Finish());
  p.steps[1].programmatic = p.steps[2].programmatic = true;
  p.steps[3].stream = 1;
  p.steps[3].waits = {0};
  p.steps[4].waits = {3};
  return p;
}

TEST(Streams, ProgrammaticLaunchesNeedATargetThatHasThem) {
  Program p = OnDevice(Diamond(), "cuda:sm_80");
  ExpectRefused(p, "a programmatic launch on the target cuda:sm_80, which has none");
  p.steps[1].programmatic = p.steps[2].programmatic = false;
  ExpectAccepted(p);
}

TEST(Streams, RoundTrip) {
  const Program p = Diamond();
  ExpectAccepted(p);
  const auto bytes = EncodeProgram(p);
  ASSERT_TRUE(bytes.ok());
  const auto decoded = DecodeProgram(*bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  const auto parsed = ParseProgram(ToString(p));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(ToString(*parsed), ToString(p));
  for (size_t s = 0; s < p.steps.size(); ++s) {
    for (const Program* read : {&*decoded, &*parsed}) {
      EXPECT_EQ(read->steps[s].stream, p.steps[s].stream);
      EXPECT_EQ(read->steps[s].waits, p.steps[s].waits);
      EXPECT_EQ(read->steps[s].programmatic, p.steps[s].programmatic);
    }
  }
  EXPECT_NE(ToString(p).find(" out[%4] stream=1 waits=[0] packed="), std::string::npos);
  EXPECT_NE(ToString(p).find(" out[%2] programmatic packed="), std::string::npos);
  EXPECT_EQ(ParseProgram("program target=\"cpu\" math=fp32 arena=0 lower=0 weights=0\nstep \"k\" "
                         "from[] in[] out[] waits=[-1] packed=0 work=0+0 { }")
                .status()
                .code(),
            Code::kInvalidArgument);
}

// A reader that does not know the fields refuses the file.
TEST(Streams, AreARequiredFeature) {
  const std::function<void(Program&)> kUses[] = {
      [](Program& p) { p.steps[0].stream = 1; }, [](Program& p) { p.steps[1].waits = {0}; },
      [](Program& p) { p.steps[1].programmatic = true; }};
  constexpr uint64_t kOthers = kFeatureRecords | kFeatureSymbols;
  EXPECT_EQ(FeaturesOf(OnDevice(ChainProgram())), kOthers);
  for (const auto& use : kUses) {
    Program p = OnDevice(ChainProgram());
    use(p);
    EXPECT_EQ(FeaturesOf(p), kFeatureOrder | kOthers);
  }
  const auto file = Serialize(ContentsOf(Diamond()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ((*Artifact::Parse(*file, true))->header().required_features, kFeatureOrder | kOthers);
  // The bit and the program have to agree.
  std::vector<std::byte> without = *file;
  RawHeader h;
  std::memcpy(&h, without.data(), sizeof h);
  h.required_features = kOthers;
  std::memcpy(without.data(), &h, sizeof h);
  Reseal(without);
  EXPECT_EQ(Artifact::Parse(without, true).status().message(),
            "header: required features 640, the program needs 642");
}

TEST(Streams, WaitsNameEarlierStepsOfOtherStreams) {
  const Fault kFaults[] = {
      {"an unknown stream", [](Program& p) { p.steps[3].stream = kMaxStreams; }, "stream 8 of 8"},
      {"an absurd stream", [](Program& p) { p.steps[3].stream = 0xffffffff; }, "of 8"},
      {"itself", [](Program& p) { p.steps[4].waits = {4}; },
       "waits for step 4, expected an earlier"},
      {"a later step", [](Program& p) { p.steps[3].waits = {4}; }, "waits for step 4"},
      {"no step at all", [](Program& p) { p.steps[3].waits = {77}; }, "waits for step 77"},
      {"its own stream",
       [](Program& p) {
         p.steps[4].waits = {2, 3};
       },
       "waits for step 2 of its own stream 0"},
      {"one twice",
       [](Program& p) {
         p.steps[4].waits = {3, 3};
       },
       "do not ascend"},
      {"out of order",
       [](Program& p) {
         p.steps[3].waits = {1, 0};
       },
       "do not ascend"},
      {"two of a stream",
       [](Program& p) {
         p.steps[3].waits = {0, 1};
       },
       "waits for two steps of stream 0"},
      {"on a CPU",
       [](Program& p) {
         p = ChainProgram();
         p.steps[1].programmatic = true;
       },
       "on the target cpu:baseline"},
      {"a stream on a CPU",
       [](Program& p) {
         p = ChainProgram();
         p.steps[1].stream = 1;
       },
       "on the target cpu:baseline"},
  };
  ExpectFaults(Diamond(), kFaults);
}

TEST(Streams, WaitsStayInTheirEntryPoint) {
  Program p = OnDevice(EntriesProgram());
  p.steps[3].stream = 1;
  ExpectAccepted(p);
  p.steps[3].waits = {0};
  ExpectRefused(p, "waits for step 0, expected an earlier one of its entry point");
  p.steps[3].waits = {};
  p.steps[2].programmatic = true;  // the step before it is of another entry point
  ExpectRefused(p, "a programmatic launch of the first step of its stream");
}

TEST(Streams, ProgrammaticLaunches) {
  const Fault kFaults[] = {
      {"the first step", [](Program& p) { p.steps[0].programmatic = true; },
       "of the first step of its stream"},
      {"the first step of another stream",
       [](Program& p) {
         p.steps[3].programmatic = true;
         p.steps[3].waits = {};
       },
       "of the first step of its stream"},
      {"a join", [](Program& p) { p.steps[4].programmatic = true; },
       "that also waits for a step of another stream"},
  };
  ExpectFaults(Diamond(), kFaults);
}

// y = x * w; z = -y.
Program LibraryProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {32, 32});
  const uint32_t w = b.Constant("w", {32, 32});
  const uint32_t y = b.Temp({32, 32});
  const uint32_t z = b.Output("z", {32, 32});
  b.AddStep(Elementwise(ExprOp::kNeg), {x}, {b.Temp({32, 32})});
  b.AddStep(Core(abi::Family::kGemm, abi::GemmAttrs{}, 2), {x, w}, {y});
  b.AddStep(Elementwise(ExprOp::kNeg), {y}, {z});
  Program p = OnDevice(b.Finish());
  Step& gemm = p.steps[1];
  gemm.kernel = "cublaslt.matmul";
  gemm.parameters = {};
  gemm.launch = {};
  gemm.tensor_maps = {};
  gemm.workspace_bytes = gemm.workspace_offset = 0;
  gemm.image = -1;
  gemm.symbol = "";
  gemm.algorithm = {1, 2, 3};
  gemm.library_version = 1;
  p.arena_bytes = 0;
  for (const Buffer& buffer : p.buffers) {
    if (buffer.storage != Storage::kArena) continue;
    p.arena_bytes = std::max(p.arena_bytes, buffer.offset + buffer.bytes);
  }
  return p;
}

TEST(Streams, AProgrammaticLaunchIsBetweenOwnKernels) {
  const Fault kFaults[] = {
      {"of a library's call", [](Program& p) { p.steps[1].programmatic = true; },
       "of a kernel that does not wait for the one before it"},
      {"after a library's call", [](Program& p) { p.steps[2].programmatic = true; },
       "which is no kernel of aicf's own"},
  };
  ExpectFaults(LibraryProgram(), kFaults);
}

// 0: c = x > 0; 1: if c, a = -x; 2: b = exp x; 3: d = -b; y of b and d.
Program GuardedStreams() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1});
  const uint32_t c = b.Temp({1}, DType::kBool);
  const uint32_t a = b.Output("a", {1}), e = b.Temp({1}), y = b.Output("y", {1});
  abi::Problem positive = Elementwise(ExprOp::kNeg);
  abi::ExprBuilder test;
  positive.epilogue = test.Finish(
      {test.Binary(ExprOp::kLt, test.Const(0.0, DType::kF32), test.Input(0, DType::kF32))});
  b.AddStep(positive, {x}, {c});
  b.AddStep(Elementwise(ExprOp::kNeg), {x}, {a}).guards = {{c, true}};
  b.AddStep(Elementwise(ExprOp::kExp), {x}, {e});
  b.AddStep(Elementwise(ExprOp::kNeg), {e}, {y});
  Program p = OnDevice(b.Finish());
  p.guard_image = 0;
  p.steps[3].programmatic = true;
  return p;
}

TEST(Streams, WhereStepsAreSkipped) {
  const Fault kFaults[] = {
      {"another stream", [](Program& p) { p.steps[2].stream = 1; },
       "in an entry point that skips or repeats steps"},
      {"a skipped step", [](Program& p) { p.steps[1].programmatic = true; },
       "of a step that may be skipped or repeated"},
      {"after a skipped step", [](Program& p) { p.steps[2].programmatic = true; },
       "which may be skipped or repeated"},
  };
  ExpectFaults(GuardedStreams(), kFaults);
}

// Each edge of the diamond is needed.
TEST(Races, EveryEdgeIsNeeded) {
  const Fault kFaults[] = {
      {"the fork", [](Program& p) { p.steps[3].waits = {}; },
       "writes buffer 1 \"%1\" and step 3 (\"cuda.elementwise.map\") reads buffer 1 \"%1\""},
      {"the join", [](Program& p) { p.steps[4].waits = {}; },
       "writes buffer 4 \"%4\" and step 4 (\"cuda.elementwise.map\") reads buffer 4 \"%4\""},
      {"a stream without waits",
       [](Program& p) {
         p.steps[2].stream = 2;
         p.steps[2].programmatic = false;
       },
       "neither waits for the other"},
  };
  ExpectFaults(Diamond(), kFaults);
}

// d over b: b is dead when d is written, in the program's order, but not on its stream.
TEST(Races, ReusedBytes) {
  Program p = Diamond();
  p.buffers[4].offset = p.buffers[2].offset;
  ExpectRefused(p, "and neither waits for the other");
  p.steps[3].waits = {2};
  ExpectAccepted(p);
}

TEST(Races, Workspaces) {
  Program p = Diamond();
  for (size_t s : {1, 3}) {
    p.steps[s].workspace_offset = RoundUp(p.arena_bytes, kBufferAlignment);
    p.steps[s].workspace_bytes = 256;
  }
  p.arena_bytes = p.steps[1].workspace_offset + 256;
  ExpectRefused(p,
                "writes its workspace and step 3 (\"cuda.elementwise.map\") writes its workspace");
  p.steps[3].waits = {1};
  ExpectAccepted(p);
}

// The second branch computes in place over what the first one still reads.
TEST(Races, InPlace) {
  Program p = Diamond();
  p.buffers[4].storage = Storage::kAlias;  // d in place of a
  p.buffers[4].alias_of = 1;
  p.buffers[4].offset = 0;
  ExpectRefused(p, "reads buffer 1 \"%1\" and step 3");
  p.steps[3].waits = {1};
  ExpectAccepted(p);
}

// Two streams fill the two column ranges of one buffer.
TEST(Races, PartsOfABufferAtOnce) {
  Program p = OnDevice(ConcatProgram());
  p.steps[1].stream = 1;
  p.steps[2].waits = {1};
  ExpectAccepted(p);
  p.steps[2].waits = {};
  ExpectRefused(p, "neither waits for the other");
}

// An update of a state's second half while its first half is read.
TEST(Races, States) {
  const auto make = [](int64_t first) {
    ProgramBuilder b;
    const uint32_t x = b.Input("x", {32});
    const uint32_t h = b.State("h", {64});
    const uint32_t next = b.Update("h.next", h);
    const uint32_t y = b.Output("y", {32});
    abi::Problem read = Elementwise(ExprOp::kNeg);
    read.inputs = {{DType::kF32, {32}, {1}, 0}};
    abi::Problem write = Elementwise(ExprOp::kNeg);
    write.outputs = {{DType::kF32, {32}, {1}, first}};
    b.AddStep(read, {h}, {y});
    b.AddStep(write, {x}, {next});
    Program p = OnDevice(b.Finish());
    p.steps[1].stream = 1;
    return p;
  };
  ExpectAccepted(make(32));
  Program p = make(16);
  ExpectRefused(p, "reads buffer 1 \"h\" and step 1");
  p.steps[1].waits = {0};
  ExpectAccepted(p);
}

// t and u share bytes. y = -t; then two streams fill u: its first and last columns or rows, and
// what is between them. The second one may not count on the first, which comes after the reader of
// t but leaves the middle alone.
TEST(Races, AViewWithGapsHidesNothingInThem) {
  const abi::View kParts[][2] = {
      {{DType::kF32, {8, 2}, {8, 7}, 0}, {DType::kF32, {8, 6}, {8, 1}, 1}},
      {{DType::kF32, {2, 8}, {7, 8}, 0}, {DType::kF32, {6, 8}, {1, 8}, 1}},
      {{DType::kF32, {2, 8}, {56, 1}, 0}, {DType::kF32, {6, 8}, {8, 1}, 8}},
      {{DType::kF32, {2, 1, 8}, {-56, 9, 1}, 56}, {DType::kF32, {8, 6}, {1, 8}, 8}},
  };
  for (const auto& parts : kParts) {
    ProgramBuilder b;
    const uint32_t x = b.Input("x", {8, 8}), t = b.Temp({8, 8}), u = b.Temp({8, 8});
    const uint32_t y = b.Output("y", {8, 8}), v = b.Output("v", {8, 8});
    b.AddStep(Elementwise(ExprOp::kNeg), {x}, {t});
    b.AddStep(Elementwise(ExprOp::kNeg), {t}, {y});
    for (const abi::View& part : parts) {
      abi::Problem fill = Elementwise(ExprOp::kNeg);
      fill.outputs = {part};
      b.AddStep(fill, {b.Input(StrCat("z", part.offset), part.shape)}, {u});
    }
    b.AddStep(Elementwise(ExprOp::kNeg), {u}, {v});
    Program p = OnDevice(b.Finish());
    p.buffers[u].offset = p.buffers[t].offset;
    p.steps[2].stream = 1;
    p.steps[2].waits = {1};
    p.steps[3].stream = 2;
    p.steps[3].waits = {1};
    p.steps[4].waits = {2, 3};
    ExpectAccepted(p);
    p.steps[3].waits = {0};
    ExpectRefused(p, "neither waits for the other");
  }
}

// A random graph of steps on random streams: verification against a plain look at all pairs of
// steps.
class RandomStreams {
 public:
  explicit RandomStreams(unsigned seed) : random_(seed) {}

  Program Make() {
    ProgramBuilder b;
    std::vector<uint32_t> values = {b.Input("x", {8, 8})};
    const int steps = 3 + Below(16);
    for (int s = 0; s < steps; ++s) {
      const uint32_t one = values[Below(values.size())], other = values[Below(values.size())];
      const bool last = s + 1 == steps;
      const uint32_t out = last ? b.Output("y", {8, 8}) : b.Temp({8, 8});
      b.AddStep(Elementwise(ExprOp::kAdd), {one, other}, {out});
      values.push_back(out);
    }
    Program p = OnDevice(b.Finish());
    for (uint32_t s = 0; s < p.steps.size(); ++s) {
      p.steps[s].stream = Below(3);
      for (uint32_t w = 0; w < s; ++w) {
        const auto same = [&](uint32_t v) { return p.steps[v].stream == p.steps[w].stream; };
        std::vector<uint32_t>& waits = p.steps[s].waits;
        if (p.steps[w].stream == p.steps[s].stream || Below(2) == 0) continue;
        std::erase_if(waits, same);
        waits.push_back(w);
      }
    }
    return p;
  }

  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  std::mt19937 random_;
};

// Whether a path of edges leads from step a to step b.
bool Reaches(const Program& p, uint32_t a, uint32_t b) {
  if (a == b) return true;
  for (uint32_t w : p.steps[b].waits) {
    if (w >= a && Reaches(p, a, w)) return true;
  }
  for (uint32_t s = b; s-- > a;) {
    if (p.steps[s].stream == p.steps[b].stream) return Reaches(p, a, s);
  }
  return false;
}

bool IsAlone(const Program& p, uint32_t step) {
  for (uint32_t s = 0; s < p.steps.size(); ++s) {
    if (s != step && !Reaches(p, std::min(s, step), std::max(s, step))) return false;
  }
  return true;
}

bool HasRace(const Program& p) {
  for (uint32_t b = 0; b < p.steps.size(); ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      const Step &one = p.steps[a], &other = p.steps[b];
      const auto touches = [&](const Step& s, uint32_t buffer) {
        const auto same = [&](uint32_t o) {
          return p.buffers[o].offset == p.buffers[buffer].offset;
        };
        return std::ranges::any_of(s.inputs, same) || std::ranges::any_of(s.outputs, same);
      };
      if ((touches(other, one.outputs[0]) || touches(one, other.outputs[0])) && !Reaches(p, a, b)) {
        return true;
      }
    }
  }
  return false;
}

// kPieces steps read one element each, which cuts the input into as many pieces; then as many read
// all of it. In one stream nothing has to be compared; in two, each reader meets those of the other
// in every piece.
TEST(Races, MoreAccessesThanAreComparedAreRefused) {
  constexpr int64_t kPieces = 6000;
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {kPieces}), element = b.Input("element", {1});
  for (int64_t i = 0; i < kPieces; ++i) {
    b.AddStep(Elementwise(ExprOp::kNeg), {element}, {b.Temp({1})});
  }
  for (int64_t i = 0; i < kPieces; ++i) {
    b.AddStep(Elementwise(ExprOp::kNeg), {x},
              {i == 0 ? b.Output("y", {kPieces}) : b.Temp({kPieces})});
  }
  Program p = b.Finish();
  for (int64_t i = 0; i < kPieces; ++i) {
    Step& step = p.steps[static_cast<size_t>(i)];
    step.inputs = {x};
    step.problem.inputs[0].offset = i;
  }
  p = OnDevice(p);
  ExpectAccepted(p);
  for (size_t s = 0; s < p.steps.size(); s += 2) p.steps[s].stream = 1;
  ExpectRefused(p, "too many accesses to bytes that several streams share", Code::kResource);
}

// Steps next to each other none of which is ordered with all others, at most.
size_t LongestStretch(const Program& p, const StepOrder& order) {
  size_t longest = 0, now = 0;
  for (uint32_t s = 0; s < p.steps.size(); ++s) {
    now = order.Alone(s) ? 0 : now + 1;
    longest = std::max(longest, now);
  }
  return longest;
}

TEST(Races, RandomProgramsAgainstAllPairs) {
  constexpr size_t kComparedInPairs = 32 / 3;  // steps of three accesses; longer ones by bytes
  int races = 0, sound = 0, alone = 0, beside = 0, in_pairs = 0, by_bytes = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Program p = RandomStreams(seed).Make();
    const StepOrder order(p, p.entry_points[0]);
    for (uint32_t a = 0; a < p.steps.size(); ++a) {
      for (uint32_t b = a + 1; b < p.steps.size(); ++b) {
        ASSERT_EQ(order.Before(a, b), Reaches(p, a, b)) << seed << " " << a << " " << b;
      }
      const bool expected = IsAlone(p, a);
      ASSERT_EQ(order.Alone(a), expected) << seed << " " << a;
      (expected ? alone : beside) += 1;
    }
    const Status status = VerifyProgram(p);
    ASSERT_EQ(status.ok(), !HasRace(p)) << seed << " " << status.ToString() << "\n" << ToString(p);
    (status.ok() ? sound : races) += 1;
    (LongestStretch(p, order) <= kComparedInPairs ? in_pairs : by_bytes) += 1;
  }
  EXPECT_GT(in_pairs, 100);
  EXPECT_GT(by_bytes, 30);
  EXPECT_GT(races, 100);
  EXPECT_GT(sound, 100);
  EXPECT_GT(alone, 1000);
  EXPECT_GT(beside, 1000);
}

// Bytes shared exactly where MayShareBytes says so are what the verifier accepts.
TEST(Races, MayShareBytesIsWhatIsVerified) {
  int shared = 0, apart = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomStreams random(seed);
    Program p = random.Make();
    if (!VerifyProgram(p).ok()) continue;
    const auto lives = *LifetimesOf(p, 0);
    const StepOrder order(p, p.entry_points[0]);
    for (size_t a = 0; a < lives.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        Program q = p;
        q.buffers[lives[a].buffers[0]].offset = q.buffers[lives[b].buffers[0]].offset;
        q.arena_bytes = 0;
        for (const Buffer& buffer : q.buffers) {
          q.arena_bytes = std::max(q.arena_bytes, buffer.offset + buffer.bytes);
        }
        const bool may = MayShareBytes(lives[a], lives[b], order);
        const Status status = VerifyProgram(q);
        ASSERT_EQ(status.ok(), may) << seed << " " << a << " " << b << " " << status.ToString();
        (may ? shared : apart) += 1;
      }
    }
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(apart, 100);
}

}  // namespace
}  // namespace aicf::schema
