// Which steps run beside each other, and which launches overlap.
#include "compiler/passes/plan/streams.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/compiler.h"
#include "compiler/passes/plan/gathering.h"
#include "compiler/passes/plan/side_runs.h"
#include "compiler/passes/plan/step_needs.h"
#include "schema/artifact.h"
#include "schema/step_order.h"

namespace aicf {
namespace {

// Steps by what they need, each of `us` and one block.
std::vector<StepLoad> Loads(const std::vector<std::vector<uint32_t>>& needs, double us = 2) {
  std::vector<StepLoad> loads;
  for (const auto& n : needs) loads.push_back({us, 1, n});
  return loads;
}

constexpr SideRules kRules = {132, 4, 3};
const std::vector<std::vector<uint32_t>> kFork = {{}, {0}, {1}, {0}, {3}, {2, 4}};

TEST(SideRuns, TwoBranchesThatMeet) {
  const auto found = FindSideRuns(Loads(kFork), kRules);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].starts, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(found[0].end, 5u);
  EXPECT_EQ(found[0].saves_us, 4);
}

TEST(SideRuns, WhereItDoesNotPay) {
  EXPECT_TRUE(FindSideRuns(Loads(kFork, 1.5), kRules).empty()) << "saves what it costs";
  EXPECT_TRUE(FindSideRuns(Loads({{}, {0}, {1}, {2}}), kRules).empty()) << "a chain";
  EXPECT_TRUE(FindSideRuns(Loads({}), kRules).empty());
  std::vector<StepLoad> large = Loads(kFork);
  large[2].blocks = 132;
  EXPECT_TRUE(FindSideRuns(large, kRules).empty()) << "one branch fills the device";
  large[2].blocks = 0;
  EXPECT_TRUE(FindSideRuns(large, kRules).empty()) << "a launch of unknown size";
}

TEST(SideRuns, OneStepIsLong) {
  constexpr SideRules rules = {132, 4, 3, /*long_us=*/5};
  std::vector<StepLoad> loads = Loads(kFork);
  EXPECT_TRUE(FindSideRuns(loads, rules).empty()) << "nothing but starts";
  for (const size_t s : {1, 2, 3, 4}) {
    loads = Loads(kFork);
    loads[s].us = 5;
    EXPECT_EQ(FindSideRuns(loads, rules).size(), 1u) << s;
  }
}

TEST(SideRuns, AsManyAsThereAreStreams) {
  const auto loads =
      Loads({{}, {0}, {1}, {0}, {3}, {0}, {5}, {0}, {7}, {0}, {9}, {2, 4, 6, 8, 10}});
  EXPECT_EQ(FindSideRuns(loads, kRules)[0].starts, (std::vector<uint32_t>{1, 3, 5, 7}));
  EXPECT_EQ(FindSideRuns(loads, {132, 2, 3})[0].starts, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(FindSideRuns(loads, {3, 4, 3})[0].starts, (std::vector<uint32_t>{1, 3, 5}));
}

// Whatever is found keeps its promises.
TEST(SideRuns, RandomProgramsNeedNothingOfRunsBesideThem) {
  std::mt19937 random(7);
  size_t found_groups = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<StepLoad> loads;
    for (uint32_t s = 0; s < 30; ++s) {
      StepLoad load{0.5 + random() % 40 / 8.0, static_cast<int64_t>(1 + random() % 60)};
      for (uint32_t n = 0; n < s; ++n) {
        if (random() % (s + 1) < 2) load.needs.push_back(n);
      }
      loads.push_back(load);
    }
    uint32_t free = 0;
    for (const SideRuns& group : FindSideRuns(loads, kRules)) {
      ++found_groups;
      ASSERT_GE(group.starts[0], free);
      free = group.end;
      int64_t blocks = 0;
      for (size_t r = 0; r < group.starts.size(); ++r) {
        const uint32_t end = group.EndOf(r);
        int64_t most = 0;
        for (uint32_t s = group.starts[r]; s < end; ++s) {
          most = std::max(most, loads[s].blocks);
          for (uint32_t n : loads[s].needs) {
            ASSERT_TRUE(n < group.starts[0] || n >= group.starts[r]) << s << " needs " << n;
          }
        }
        blocks += most;
      }
      ASSERT_LE(blocks, 132);
      ASSERT_GT(group.saves_us, 3);
    }
  }
  EXPECT_GT(found_groups, 100u);
}

/// Elementwise steps: out = one + other.
class SumBuilder {
 public:
  /// `elements` of every value from here on.
  void Resize(int64_t elements) { elements_ = elements; }
  uint32_t Add(schema::Role role) {
    ir::LoweredBuffer buffer;
    buffer.name = StrCat("v", lowered_.buffers.size());
    buffer.shape = {elements_};
    buffer.role = role;
    const auto id = static_cast<uint32_t>(lowered_.buffers.size());
    if (role == schema::Role::kInput) lowered_.inputs.push_back(id);
    if (role == schema::Role::kOutput) lowered_.outputs.push_back(id);
    lowered_.buffers.push_back(std::move(buffer));
    return id;
  }
  uint32_t Sum(uint32_t one, uint32_t other, schema::Role role = schema::Role::kTemp) {
    const uint32_t out = Add(role);
    ir::LoweredStep step;
    step.sources = {StrCat("sum", lowered_.steps.size())};
    step.problem.family = abi::Family::kElementwise;
    step.problem.attrs = abi::ElementwiseAttrs{};
    step.problem.core_inputs = 2;
    step.problem.inputs.assign(2, abi::DenseView(DType::kF32, {elements_}));
    step.problem.outputs = {abi::DenseView(DType::kF32, {elements_})};
    abi::ExprBuilder e;
    step.problem.epilogue =
        e.Finish({e.Binary(abi::ExprOp::kAdd, e.Input(0, DType::kF32), e.Input(1, DType::kF32))});
    step.inputs = {one, other};
    step.outputs = {out};
    lowered_.steps.push_back(std::move(step));
    return out;
  }
  ir::Lowered Finish() { return std::move(lowered_); }

 private:
  ir::Lowered lowered_;
  int64_t elements_ = 64;
};

// A step of each size, none of which needs another.
ir::Lowered Apart(const std::vector<int64_t>& sizes) {
  SumBuilder b;
  for (const int64_t elements : sizes) {
    b.Resize(elements);
    const uint32_t x = b.Add(schema::Role::kInput);
    b.Sum(x, x, schema::Role::kOutput);
  }
  return b.Finish();
}

// Step 0, two branches of five steps (1 to 5 and 6 to 10), and their sum. Branches add x at each
// step.
ir::Lowered TwoBranches() {
  SumBuilder b;
  const uint32_t x = b.Add(schema::Role::kInput);
  const uint32_t start = b.Sum(x, x);
  uint32_t left = start, right = start;
  for (int i = 0; i < 5; ++i) left = b.Sum(left, x);
  for (int i = 0; i < 5; ++i) right = b.Sum(right, x);
  b.Sum(left, right, schema::Role::kOutput);
  return b.Finish();
}

struct StreamPlan {
  Result<schema::Contents> contents = Status(Code::kInternal, "not planned");
  DecisionLog decisions;
  const schema::Step& step(size_t s) const { return contents->program.steps[s]; }
  const Decision* Find(DecisionKind kind, int step) const {
    for (const Decision& d : decisions.decisions()) {
      if (d.kind == kind && d.subject.step == step) return &d;
    }
    return nullptr;
  }
};

Wish WishFor(DecisionKind kind, int step, std::string choice) {
  Decision d;
  d.kind = kind;
  d.subject = schema::Subject::Step(step, {StrCat("sum", step)});
  d.choice = std::move(choice);
  return {d, 0, StrCat("--set step.", step)};
}

/// Says that every kernel was measured to take so long.
class EqualCosts final : public CostSource {
 public:
  explicit EqualCosts(double us) : us_(us) {}
  Status Prepare(std::span<const CostQuestion>, const abi::DeviceSpec&) override {
    return OkStatus();
  }
  std::vector<KernelCost> CostsOf(const CostQuestion& question, const abi::DeviceSpec&) override {
    std::vector<KernelCost> costs(question.options.size(), {us_, us_, 0});
    for (size_t k = 0; k < costs.size(); ++k) {
      costs[k].predicted_us = question.options[k].candidate.cost_us;
    }
    return costs;
  }
  std::optional<LibraryAlgorithm> AlgorithmOf(const abi::Problem&, const abi::KernelInfo&,
                                              const abi::DeviceSpec&) override {
    return std::nullopt;
  }
  std::string UsedTimings() const override { return {}; }

 private:
  const double us_;
};

StreamPlan Plan(const ir::Lowered& lowered, const std::vector<Wish>& wanted = {},
                std::set<std::string, std::less<>> disabled = {},
                const std::string& target = "cuda:sm_90a", const Policy& policy = {},
                bool strict = false, double step_us = kLongStepUs) {
  EXPECT_TRUE(ir::Verify(lowered).ok()) << ir::Verify(lowered).ToString();
  CompileOptions options;
  options.target = target;
  options.images = false;
  options.policy = policy;
  EqualCosts costs(step_us);
  options.costs = &costs;
  options.passes.disabled = std::move(disabled);
  Wishes wishes;
  for (const Wish& w : wanted) wishes.Add(w);
  StreamPlan planned;
  PassContext context;
  context.device = *abi::FindDevice(target);
  context.decisions = &planned.decisions;
  context.policy = &policy;
  context.policy_strict = strict;
  if (!wishes.empty()) context.wishes = &wishes;
  planned.contents = MakePlan(lowered, options, context);
  if (planned.contents.ok()) {
    const auto bytes = schema::Serialize(*planned.contents);  // verifies
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  }
  return planned;
}

TEST(ChooseLaunches, ATargetWithoutProgrammaticLaunchesHasFullOnes) {
  const StreamPlan planned = Plan(TwoBranches(), {}, {}, "cuda:sm_86");
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  for (int s = 0; s < 12; ++s) {
    EXPECT_FALSE(planned.step(s).programmatic) << s;
    const Decision* d = planned.Find(DecisionKind::kLaunch, s);
    ASSERT_NE(d, nullptr);
    EXPECT_EQ(d->choice, "full");
    ASSERT_EQ(d->alternatives.size(), 1u);
    EXPECT_EQ(d->alternatives[0].refusal, "capability: cuda:sm_86 has no programmatic launches");
  }
  const auto first = *Policy::Parse("elementwise=programmatic");
  const StreamPlan strict = Plan(TwoBranches(), {}, {}, "cuda:sm_86", first, true);
  EXPECT_EQ(strict.contents.status().code(), Code::kUnsupported);
  EXPECT_NE(strict.contents.status().message().find("has no programmatic launches"),
            std::string::npos);
}

// Times that tuning measured choose kernels, but the limit was found with predictions.
TEST(ChooseLaunches, MeasuredTimesChangeNothing) {
  for (const double us : {0.1, 100.0}) {
    StreamPlan planned = Plan(TwoBranches());
    ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
    schema::Program& program = planned.contents->program;
    for (schema::Step& s : program.steps) s.programmatic = false;
    DecisionLog measured;
    for (Decision d : planned.decisions.decisions()) {
      if (d.kind != DecisionKind::kKernel) continue;
      d.cost_us = d.measured_us = us;
      measured.Record(d);
    }
    PassContext context;
    context.device = *abi::FindDevice("cuda:sm_90a");
    context.decisions = &measured;
    ASSERT_TRUE(ChooseLaunches(program, context).ok());
    EXPECT_TRUE(program.steps[1].programmatic) << us;
    // What this build corrects predictions by does count.
    context.corrected_cost = [](const abi::Candidate& c, abi::MathMode, const abi::DeviceSpec&) {
      return c.cost_us + kShortStepUs;
    };
    ASSERT_TRUE(ChooseLaunches(program, context).ok());
    EXPECT_FALSE(program.steps[1].programmatic) << us;
  }
}

// Of 64 elements a step is as short as can be; 2^26 take 200 us.
TEST(ChooseLaunches, ALongStepAndTheOneAfterItWait) {
  const StreamPlan planned = Plan(Apart({64, 64, 1 << 26, 64, 64}), {}, {"choose-streams"});
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  const bool programmatic[] = {false, true, false, false, true};
  for (int s = 0; s < 5; ++s) EXPECT_EQ(planned.step(s).programmatic, programmatic[s]) << s;
  for (const int s : {2, 3}) {
    EXPECT_NE(ReasonText(*planned.Find(DecisionKind::kLaunch, s))
                  .find("an early launch costs more than it saves where one of them takes more "
                        "than 12 us"),
              std::string::npos);
  }
  EXPECT_NE(
      ReasonText(*planned.Find(DecisionKind::kLaunch, 4)).find("an early launch pays up to 12 us"),
      std::string::npos);
}

// A hundred small blocks may all land on the few multiprocessors that are free first.
TEST(ChooseLaunches, StepsWhoseBlocksGatherHaveToBeShorter) {
  StreamPlan planned = Plan(Apart({64, 64, 1 << 17, 1 << 16, 64}), {}, {"choose-streams"});
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  schema::Program& program = planned.contents->program;
  ASSERT_GT(
      Gathering(program.steps[3].launch, program.steps[2].launch, *abi::FindDevice("cuda:sm_90a")),
      kGathering);
  PassContext context;
  context.device = *abi::FindDevice("cuda:sm_90a");
  DecisionLog decisions;
  context.decisions = &decisions;
  const auto expect = [&](bool early_if_gathering) {
    ASSERT_TRUE(ChooseLaunches(program, context).ok());
    EXPECT_TRUE(program.steps[1].programmatic);
    EXPECT_TRUE(program.steps[2].programmatic) << "it has empty multiprocessors";
    EXPECT_EQ(program.steps[3].programmatic, early_if_gathering);
    EXPECT_TRUE(program.steps[4].programmatic);
  };
  expect(true);
  context.corrected_cost = [](const abi::Candidate& c, abi::MathMode, const abi::DeviceSpec&) {
    return c.cost_us + 6;
  };
  expect(false);
}

TEST(ChooseStreams, BranchesRunBesideEachOther) {
  const StreamPlan planned = Plan(TwoBranches());
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  for (int s = 0; s < 12; ++s) {
    const bool side = s >= 6 && s <= 10;
    EXPECT_EQ(planned.step(s).stream, side ? 1u : 0u) << s;
    const bool programmatic = s != 0 && s != 6 && s != 11;
    EXPECT_EQ(planned.step(s).programmatic, programmatic) << s;
    ASSERT_NE(planned.Find(DecisionKind::kStream, s), nullptr);
    EXPECT_EQ(planned.Find(DecisionKind::kStream, s)->choice, side ? "1" : "0");
    ASSERT_NE(planned.Find(DecisionKind::kLaunch, s), nullptr);
    EXPECT_EQ(planned.Find(DecisionKind::kLaunch, s)->choice,
              programmatic ? "programmatic" : "full");
  }
  EXPECT_EQ(planned.step(6).waits, (std::vector<uint32_t>{0}));
  EXPECT_EQ(planned.step(11).waits, (std::vector<uint32_t>{10}));
  EXPECT_NE(planned.Find(DecisionKind::kStream, 7)->sentence.find("2 runs of steps from "),
            std::string::npos);
  EXPECT_EQ(ReasonText(*planned.Find(DecisionKind::kStream, 11)),
            "rule: it needs [sum10], right before it");
  EXPECT_EQ(planned.Find(DecisionKind::kLaunch, 11)->alternatives[0].refusal,
            "stream: it also waits for a step of another stream");
}

TEST(ChooseStreams, ShortStepsFollowEachOther) {
  const StreamPlan planned = Plan(TwoBranches(), {}, {}, "cuda:sm_90a", {}, false, /*step_us=*/3);
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  for (int s = 0; s < 12; ++s) EXPECT_EQ(planned.step(s).stream, 0u) << s;
  EXPECT_EQ(ReasonText(*planned.Find(DecisionKind::kStream, 6)),
            "predicted: no run of steps beside it saves more than the 3 us of a fork and a join, "
            "beside a step of at least 5 us");
}

// Two short steps, one that fills the device, one that needs none of them, and their sum.
TEST(ChooseStreams, AStepThatNeedsNothingBeginsEarly) {
  SumBuilder b;
  const uint32_t x = b.Add(schema::Role::kInput);
  const uint32_t chain = b.Sum(b.Sum(x, x), x);
  b.Resize(1 << 22);
  const uint32_t large = b.Add(schema::Role::kInput);
  b.Sum(large, large, schema::Role::kOutput);
  b.Resize(64);
  b.Sum(chain, b.Sum(x, x), schema::Role::kOutput);
  const StreamPlan planned = Plan(b.Finish());
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  for (int s = 0; s < 5; ++s) EXPECT_EQ(planned.step(s).stream, s == 3 ? 1u : 0u) << s;
  EXPECT_TRUE(planned.step(3).waits.empty());
  EXPECT_EQ(planned.step(4).waits, (std::vector<uint32_t>{3}));
  EXPECT_EQ(ReasonText(*planned.Find(DecisionKind::kStream, 3)),
            "predicted: it needs nothing of the steps from [sum0] on and fits on the device beside "
            "them, which saves 5 us");
}

// Two values that are live at once on two streams take bytes of their own, though the steps that
// use them lie apart in the program.
TEST(ChooseStreams, ConcurrentValuesShareNoBytes) {
  const StreamPlan beside = Plan(TwoBranches());
  const StreamPlan serial = Plan(TwoBranches(), {}, {"choose-streams"});
  ASSERT_TRUE(beside.contents.ok() && serial.contents.ok());
  EXPECT_GT(beside.contents->program.arena_bytes, serial.contents->program.arena_bytes);
}

// The left branch reads the start while the right one would overwrite it.
TEST(ChooseStreams, NothingIsOverwrittenThatAnotherStreamMayRead) {
  const StreamPlan planned = Plan(TwoBranches());
  ASSERT_TRUE(planned.contents.ok());
  const Decision* d = planned.Find(DecisionKind::kInPlace, 6);
  ASSERT_NE(d, nullptr);
  EXPECT_EQ(d->choice, "own buffer");
  EXPECT_EQ(d->alternatives.at(0).refusal, "stream: it may still be read by [sum1] on stream 0");
  const StreamPlan serial = Plan(TwoBranches(), {}, {"choose-streams"});
  EXPECT_NE(serial.Find(DecisionKind::kInPlace, 6)->choice, "own buffer");
}

TEST(ChooseStreams, DisabledPassesDecideNothing) {
  const StreamPlan planned = Plan(TwoBranches(), {}, {"choose-streams", "choose-launches"});
  ASSERT_TRUE(planned.contents.ok());
  for (const schema::Step& s : planned.contents->program.steps) {
    EXPECT_EQ(s.stream, 0u);
    EXPECT_TRUE(s.waits.empty());
    EXPECT_FALSE(s.programmatic);
  }
  EXPECT_EQ(planned.Find(DecisionKind::kStream, 0), nullptr);
  EXPECT_EQ(planned.Find(DecisionKind::kLaunch, 0), nullptr);
  const StreamPlan cpu = Plan(TwoBranches(), {}, {}, "cpu:baseline");
  ASSERT_TRUE(cpu.contents.ok()) << cpu.contents.status().ToString();
  EXPECT_EQ(cpu.Find(DecisionKind::kStream, 0), nullptr);
}

TEST(ChooseStreams, WishesComeTrueOrAreErrors) {
  const StreamPlan moved = Plan(TwoBranches(), {WishFor(DecisionKind::kStream, 7, "2"),
                                                WishFor(DecisionKind::kLaunch, 3, "full")});
  ASSERT_TRUE(moved.contents.ok()) << moved.contents.status().ToString();
  EXPECT_EQ(moved.step(7).stream, 2u);
  EXPECT_EQ(moved.step(7).waits, (std::vector<uint32_t>{6}));
  EXPECT_EQ(moved.step(8).waits, (std::vector<uint32_t>{7}));
  EXPECT_EQ(moved.Find(DecisionKind::kStream, 7)->reason, Reason::kPolicy);
  EXPECT_FALSE(moved.step(3).programmatic);
  EXPECT_EQ(moved.Find(DecisionKind::kLaunch, 3)->reason, Reason::kPolicy);
  const StreamPlan refused =
      Plan(TwoBranches(), {WishFor(DecisionKind::kLaunch, 0, "programmatic")});
  EXPECT_EQ(refused.contents.status().code(), Code::kUnsupported);
  EXPECT_NE(refused.contents.status().message().find("it is the first step of its stream"),
            std::string::npos);
}

TEST(ChooseLaunches, ThePolicyIsAsked) {
  const StreamPlan full = Plan(TwoBranches(), {}, {}, "cuda:sm_90a",
                               *Policy::Parse("elementwise=full,node:sum2=programmatic"));
  ASSERT_TRUE(full.contents.ok());
  for (int s = 0; s < 12; ++s) EXPECT_EQ(full.step(s).programmatic, s == 2) << s;
  EXPECT_EQ(full.Find(DecisionKind::kLaunch, 1)->reason, Reason::kPolicy);
  EXPECT_EQ(full.Find(DecisionKind::kLaunch, 2)->reason, Reason::kPolicy);
  EXPECT_EQ(full.Find(DecisionKind::kLaunch, 0)->reason, Reason::kOnlyLegal);
  const Policy first = *Policy::Parse("node:sum0=programmatic");
  EXPECT_TRUE(Plan(TwoBranches(), {}, {}, "cuda:sm_90a", first).contents.ok());
  EXPECT_EQ(
      Plan(TwoBranches(), {}, {}, "cuda:sm_90a", first, true).contents.status().message(),
      "pass choose-launches: step 0 [sum0]: the policy asks for a programmatic launch; stream: "
      "it is the first step of its stream");
}

// Two products of 32 rows with 2048 x 16384 and 16384 x 2048 constant weights in bf16, k innermost.
ir::Lowered FeedForward() {
  ir::Lowered lowered;
  const auto add = [&](const char* name, Dims shape, schema::Role role) {
    ir::LoweredBuffer buffer;
    buffer.name = name;
    buffer.dtype = DType::kBF16;
    buffer.role = role;
    const auto bytes = static_cast<size_t>(shape[0] * shape[1] * 2);
    if (role == schema::Role::kConstant)
      buffer.constant = ir::Tensor::Own(DType::kBF16, shape, std::vector<std::byte>(bytes));
    buffer.shape = std::move(shape);
    lowered.buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(lowered.buffers.size() - 1);
  };
  const auto product = [&](uint32_t x, uint32_t w, uint32_t y) {
    ir::LoweredStep step;
    step.sources = {StrCat("product", lowered.steps.size())};
    step.problem.family = abi::Family::kGemm;
    step.problem.attrs = abi::GemmAttrs{};
    step.problem.math = abi::MathMode::kBf16;
    step.problem.core_inputs = 2;
    const int64_t n = lowered.buffers[w].shape[0], k = lowered.buffers[w].shape[1];
    step.problem.inputs = {abi::DenseView(DType::kBF16, {32, k}),
                           {DType::kBF16, {k, n}, {1, k}, 0}};
    step.problem.outputs = {abi::DenseView(DType::kBF16, {32, n})};
    step.inputs = {x, w};
    step.outputs = {y};
    lowered.steps.push_back(std::move(step));
  };
  const uint32_t x = add("x", {32, 2048}, schema::Role::kInput);
  const uint32_t up = add("up", {16384, 2048}, schema::Role::kConstant);
  const uint32_t down = add("down", {2048, 16384}, schema::Role::kConstant);
  const uint32_t middle = add("middle", {32, 16384}, schema::Role::kTemp);
  const uint32_t y = add("y", {32, 2048}, schema::Role::kOutput);
  lowered.inputs = {x};
  lowered.outputs = {y};
  product(x, up, middle);
  product(middle, down, y);
  return lowered;
}

// Products that do little else than read constant weights count as short steps, even if that takes
// longer than kShortStepUs; others of the same size do not, though they read the first of their
// weights ahead as well.
TEST(ChooseLaunches, ReadingAheadCountsForKernelsThatStream) {
  const auto planned_with = [](const char* policy) {
    return Plan(FeedForward(), {}, {}, "cuda:sm_90a", *Policy::Parse(policy));
  };
  const StreamPlan streams = planned_with("gemm=cuda.gemm.stream_rows");
  ASSERT_TRUE(streams.contents.ok()) << streams.contents.status().ToString();
  EXPECT_EQ(streams.step(1).kernel, "cuda.gemm.stream_rows");
  EXPECT_EQ(streams.step(1).parameters["ahead"], 1);
  EXPECT_TRUE(streams.step(1).programmatic);
  const StreamPlan tiles = planned_with("gemm=cuda.gemm.hopper");
  ASSERT_TRUE(tiles.contents.ok()) << tiles.contents.status().ToString();
  EXPECT_EQ(tiles.step(1).kernel, "cuda.gemm.hopper");
  EXPECT_FALSE(tiles.step(1).programmatic);
}

// A plan that skips steps keeps to one stream and says so.
TEST(ChooseStreams, WhereStepsAreSkipped) {
  ir::Lowered lowered = TwoBranches();
  ir::LoweredBuffer flag;
  flag.name = "flag";
  flag.dtype = DType::kBool;
  flag.role = schema::Role::kInput;
  lowered.inputs.push_back(static_cast<uint32_t>(lowered.buffers.size()));
  lowered.steps[4].guards = {{static_cast<uint32_t>(lowered.buffers.size()), true}};
  lowered.buffers.push_back(std::move(flag));
  const StreamPlan planned = Plan(lowered);
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  for (int s = 0; s < 12; ++s) {
    EXPECT_EQ(planned.step(s).stream, 0u);
    EXPECT_EQ(planned.step(s).programmatic, s != 0 && s != 4 && s != 5) << s;
  }
  EXPECT_EQ(planned.Find(DecisionKind::kLaunch, 4)->alternatives[0].refusal,
            "guard: it may be skipped or repeated");
  EXPECT_EQ(planned.Find(DecisionKind::kLaunch, 5)->alternatives[0].refusal,
            "guard: [sum4] before it may be skipped or repeated");
  EXPECT_EQ(Plan(lowered, {WishFor(DecisionKind::kStream, 6, "1")}).contents.status().code(),
            Code::kUnsupported);
}

// Steps are compared only up to a limit, because a value of thousands of parts has millions of
// pairs.
TEST(StepNeeds, AreGivenUpBeyondALimit) {
  const StreamPlan planned = Plan(TwoBranches());
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  const auto needs = NeedsOf(planned.contents->program);
  ASSERT_TRUE(needs.has_value());
  EXPECT_EQ(needs->at(6), std::vector<uint32_t>{0});
  EXPECT_EQ(std::ranges::count(needs->at(11), 5u), 1);
  EXPECT_EQ(std::ranges::count(needs->at(11), 10u), 1);
  uint64_t pairs = 0;
  while (!NeedsOf(planned.contents->program, pairs)) ++pairs;
  EXPECT_GT(pairs, 11u);
  EXPECT_LT(pairs, 200u);
}

// Any assignment to streams gives a plan that the verifier accepts, and equal plans for equal
// wishes.
TEST(ChooseStreams, RandomWishesAreVerified) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    SumBuilder b;
    std::vector<uint32_t> values = {b.Add(schema::Role::kInput)};
    const int steps = 4 + static_cast<int>(random() % 20);
    std::vector<Wish> wishes;
    for (int s = 0; s < steps; ++s) {
      const uint32_t one = values[random() % values.size()],
                     other = values[random() % values.size()];
      const bool output = s + 1 == steps || random() % 6 == 0;
      values.push_back(b.Sum(one, other, output ? schema::Role::kOutput : schema::Role::kTemp));
      wishes.push_back(WishFor(DecisionKind::kStream, s, std::to_string(random() % 4)));
    }
    const ir::Lowered lowered = b.Finish();
    const StreamPlan planned = Plan(lowered, wishes);
    ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
    for (int s = 0; s < steps; ++s) {
      ASSERT_EQ(planned.Find(DecisionKind::kStream, s)->choice, wishes[s].decision.choice);
    }
    ASSERT_EQ(schema::ToString(Plan(lowered, wishes).contents->program),
              schema::ToString(planned.contents->program));
  }
}

}  // namespace
}  // namespace aicf
