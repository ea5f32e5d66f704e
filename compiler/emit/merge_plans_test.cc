// Plans of one model at several shapes, joined: what is shared, what stays apart, and that the
// verifier accepts the whole.
#include "compiler/emit/merge_plans.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compiler/buckets/testing.h"
#include "schema/verify.h"

namespace aicf {
namespace {

constexpr char kModel[] =
    "input %x: f32[?x4]\nconst %w: f32[4x3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n"
    "const %b: f32[3] = [1, 2, 3]\n%m: f32 = MatMul(%x, %w) \"product\"\n"
    "%a: f32 = Add(%m, %b) \"bias\"\n%s: f32 = Softmax(%a) {axis=-1} \"soft\"\n"
    "%y: f32 = Exp(%s) \"end\"\noutput %y";

std::vector<NamedPlan> Plans(const std::vector<int64_t>& rows,
                             const std::string& target = "cpu:baseline") {
  std::vector<NamedPlan> plans;
  for (int64_t r : rows) {
    auto contents = testing::PlanOf(testing::OpenModel(kModel), {{"x", {r, 4}}}, target);
    EXPECT_TRUE(contents.ok()) << contents.status().ToString();
    if (contents.ok()) plans.push_back({StrCat("rows", r), *std::move(contents)});
  }
  return plans;
}

TEST(MergePlans, SharesWeightsAndArena) {
  const std::vector<NamedPlan> plans = Plans({2, 64, 7});
  const auto merged = MergePlans(plans);
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  const schema::Program& p = merged->program;
  EXPECT_TRUE(schema::VerifyProgram(p).ok()) << schema::VerifyProgram(p).ToString();
  uint64_t arena = 0, weights = 0;
  size_t steps = 0;
  for (const NamedPlan& plan : plans) {
    arena = std::max(arena, plan.contents.program.arena_bytes);
    weights = std::max(weights, plan.contents.program.weights_bytes);
    steps += plan.contents.program.steps.size();
  }
  EXPECT_EQ(p.arena_bytes, arena);
  EXPECT_EQ(p.weights_bytes, weights);
  EXPECT_EQ(p.weights_bytes, merged->weights.size());
  ASSERT_EQ(p.steps.size(), steps);
  ASSERT_EQ(p.entry_points.size(), 3u);
  EXPECT_EQ(p.entry_points[1].name, "rows64");
  EXPECT_EQ(p.buffers[p.entry_points[1].inputs[0]].shape, (Dims{64, 4}));
  // Each constant is one buffer, whoever reads it.
  std::set<std::string> constants;
  for (const schema::Buffer& b : p.buffers) {
    if (b.role != schema::Role::kConstant) continue;
    EXPECT_TRUE(constants.insert(StrCat(b.name, b.offset)).second) << b.name;
  }
}

TEST(MergePlans, IsDeterministicAndSerialises) {
  const auto one = MergePlans(Plans({3, 5})), other = MergePlans(Plans({3, 5}));
  ASSERT_TRUE(one.ok() && other.ok());
  const auto a = schema::Serialize(*one), b = schema::Serialize(*other);
  ASSERT_TRUE(a.ok()) << a.status().ToString();
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(*a, *b);
}

TEST(MergePlans, ASinglePlanKeepsItsBytes) {
  auto plans = Plans({3});
  const std::string before = schema::ToString(plans[0].contents.program);
  plans[0].name = "main";
  const auto merged = MergePlans(std::move(plans));
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(schema::ToString(merged->program), before);
}

// A step waits for steps of its own entry point, wherever that begins.
TEST(MergePlans, WaitsMoveWithTheirSteps) {
  std::vector<NamedPlan> plans = Plans({2, 7}, "cuda:sm_90a");
  ASSERT_EQ(plans.size(), 2u);
  const size_t first = plans[0].contents.program.steps.size();
  for (NamedPlan& plan : plans) {
    schema::Program& p = plan.contents.program;
    ASSERT_GE(p.steps.size(), 2u);
    for (schema::Step& s : p.steps) s.programmatic = false;
    p.steps[1].stream = 1;
    p.steps[1].waits = {0};
    for (size_t s = 2; s < p.steps.size(); ++s) p.steps[s].waits = {1};
  }
  const auto merged = MergePlans(std::move(plans));
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  const schema::Program& p = merged->program;
  EXPECT_EQ(p.steps[1].waits, (std::vector<uint32_t>{0}));
  EXPECT_EQ(p.steps[first + 1].waits, (std::vector<uint32_t>{static_cast<uint32_t>(first)}));
  EXPECT_TRUE(schema::VerifyProgram(p).ok()) << schema::VerifyProgram(p).ToString();
}

// Device code made up: the plans share one image and have one of their own each.
TEST(MergePlans, SharesImages) {
  std::vector<NamedPlan> plans = Plans({2, 6}, "cuda:sm_90a");
  ASSERT_EQ(plans.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    schema::Contents& c = plans[i].contents;
    const auto add = [&](int fill) {
      const std::vector<std::byte> code(64, static_cast<std::byte>(fill));
      c.program.images.push_back({"sm_90a", "made up", HashBytes(code), c.images.size(), 64});
      c.images.insert(c.images.end(), code.begin(), code.end());
    };
    add(static_cast<int>(10 + i));
    add(7);
    for (size_t s = 0; s < c.program.steps.size(); ++s) {
      c.program.steps[s].image = static_cast<int32_t>(s % 2);
    }
    c.program.guard_image = 1;
  }
  const auto merged = MergePlans(plans);
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  const schema::Program& p = merged->program;
  ASSERT_EQ(p.images.size(), 3u);
  EXPECT_EQ(merged->images.size(), 3u * 64);
  EXPECT_EQ(p.guard_image, 1);
  const size_t first = plans[0].contents.program.steps.size();
  EXPECT_EQ(p.steps[first].image, 2);
  EXPECT_EQ(p.steps[first + 1].image, 1);
  for (const schema::Image& image : p.images) {
    EXPECT_EQ(HashBytes(std::span(merged->images).subspan(image.offset, image.bytes)), image.hash);
  }
}

// A state of n elements, and an update in its place.
void AddState(NamedPlan& plan, const std::string& name, int64_t elements) {
  schema::Program& p = plan.contents.program;
  schema::Buffer state;
  state.name = name;
  state.shape = {elements};
  state.bytes = static_cast<uint64_t>(elements) * 4;
  state.role = schema::Role::kState;
  state.storage = schema::Storage::kState;
  schema::Buffer update = state;
  update.storage = schema::Storage::kAlias;
  update.alias_of = static_cast<uint32_t>(p.buffers.size());
  p.buffers.push_back(state);
  p.buffers.push_back(update);
}

TEST(MergePlans, StatesAreSharedByName) {
  std::vector<NamedPlan> plans = Plans({2, 6});
  AddState(plans[0], "h", 100);
  AddState(plans[1], "c", 3);
  AddState(plans[1], "h", 100);
  const auto merged = MergePlans(plans);
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  const schema::Program& p = merged->program;
  EXPECT_TRUE(schema::VerifyProgram(p).ok()) << schema::VerifyProgram(p).ToString();
  EXPECT_EQ(p.state_bytes, 512u + 256);
  std::map<std::string, int> states, updates;
  for (uint32_t b = 0; b < p.buffers.size(); ++b) {
    if (p.buffers[b].role != schema::Role::kState) continue;
    const std::string& root = p.buffers[schema::RootOf(p, b)].name;
    ++(schema::IsState(p.buffers[b]) ? states : updates)[root];
  }
  EXPECT_EQ(states, (std::map<std::string, int>{{"c", 1}, {"h", 1}}));
  EXPECT_EQ(updates, (std::map<std::string, int>{{"c", 1}, {"h", 2}}));
}

TEST(MergePlans, AStateOfTwoShapesIsRefused) {
  std::vector<NamedPlan> plans = Plans({2, 6});
  AddState(plans[0], "h", 100);
  AddState(plans[1], "h", 101);
  const Status status = MergePlans(std::move(plans)).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("entry point 'rows6'"), std::string::npos);
  EXPECT_NE(status.message().find("state 'h' is f32 101"), std::string::npos);
}

TEST(DecisionLog, StepsAreCountedFromTheProgramsStart) {
  DecisionLog own, all;
  Decision kernel, fold;
  kernel.subject = schema::Subject::Step(3, {"a"});
  fold.subject = schema::Subject::Op("Shape", "step 3");
  own.Record(kernel);
  own.Record(fold);
  all.Append(own, "b6", 10);
  EXPECT_EQ(ToString(all.decisions()[0].subject), "step 13 [a]");
  EXPECT_EQ(ToString(all.decisions()[1].subject), "Shape \"step 3\"");
  EXPECT_NE(all.ToJsonLines().find("\"entry\":\"b6\""), std::string::npos);
  EXPECT_EQ(own.ToJsonLines().find("\"entry\""), std::string::npos);
}

}  // namespace
}  // namespace aicf
