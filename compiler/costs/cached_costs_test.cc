// The choice of kernels by a timing cache, through the compiler's plan.
#include "compiler/costs/cached_costs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compiler.h"
#include "compiler/costs/fit.h"
#include "compiler/tune/testing.h"

namespace aicf::tune {
namespace {

using testing::kH200;
using testing::Product;

constexpr std::string_view kOdd = "cuda.gemm.tiled_128x128";  // nobody's prediction for these sizes

/// y = (x * x) * x of n by n matrices.
ir::Lowered TwoProducts(int64_t n) {
  ir::Lowered lowered;
  for (const auto& [name, role] : {std::pair("x", schema::Role::kInput),
                                   {"t", schema::Role::kTemp},
                                   {"y", schema::Role::kOutput}}) {
    ir::LoweredBuffer buffer;
    buffer.name = name;
    buffer.shape = {n, n};
    buffer.role = role;
    lowered.buffers.push_back(std::move(buffer));
  }
  for (uint32_t s = 0; s < 2; ++s) {
    ir::LoweredStep step;
    step.sources = {StrCat("product", s)};
    step.problem = Product(n, n, n);
    step.inputs = {s, 0};
    step.outputs = {s + 1};
    lowered.steps.push_back(std::move(step));
  }
  lowered.inputs = {0};
  lowered.outputs = {2};
  return lowered;
}

struct Planned {
  Result<schema::Contents> contents;
  DecisionLog decisions;
};

Planned Plan(CostSource* costs, const std::string& policy = "") {
  CompileOptions options;
  options.target = "cuda";
  options.images = false;
  options.costs = costs;
  if (!policy.empty()) options.policy = *Policy::ParseClause("gemm=" + policy);
  Planned planned{Status(Code::kInternal, "not planned"), {}};
  PassContext context;
  context.device = *abi::FindDevice(options.target);
  context.decisions = &planned.decisions;
  planned.contents = MakePlan(TwoProducts(256), options, context);
  return planned;
}

// What a timing cache calls the variant of a step.
std::string NameOfStep(const Planned& planned, size_t step) {
  const schema::Step& s = planned.contents->program.steps[step];
  return abi::VariantName(s.kernel, s.parameters);
}

Timing Us(double us) { return {us, 0.1, 15, "nvrtc-13.0", {}}; }

TimingCache CacheWhereTheOddOneWins() {
  TimingCache cache;
  const abi::Problem p = Product(256, 256, 256);
  cache.Put(kH200, p, testing::NameOf(p, "cuda.gemm.tiled_64x64"), Us(20));
  cache.Put(kH200, p, testing::NameOf(p, kOdd), Us(12));
  cache.Put(kH200, p, "cublaslt.matmul", {3, 0.1, 15, "cublaslt-130100", {{7, 8}, 130100, 512}});
  return cache;
}

TEST(CachedCosts, MeasuredTimesDecideAndAreRecorded) {
  const Planned predicted = Plan(nullptr);
  ASSERT_TRUE(predicted.contents.ok()) << predicted.contents.status().ToString();
  EXPECT_NE(NameOfStep(predicted, 0), testing::NameOf(Product(256, 256, 256), kOdd));
  EXPECT_EQ(predicted.decisions.decisions()[0].reason, Reason::kPredicted);
  EXPECT_LT(predicted.decisions.decisions()[0].measured_us, 0);

  CachedCosts costs(CacheWhereTheOddOneWins(), {});
  const Planned planned = Plan(&costs);
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  EXPECT_EQ(NameOfStep(planned, 0), testing::NameOf(Product(256, 256, 256), kOdd));
  const Decision& d = planned.decisions.decisions()[0];
  EXPECT_EQ(d.reason, Reason::kMeasured);
  EXPECT_EQ(d.measured_us, 12);
  EXPECT_GT(d.cost_us, 0);
  for (const Alternative& a : d.alternatives) {
    // Faster, but chosen only where the policy names it: the comparison is there all the same.
    if (a.choice == "cublaslt.matmul") {
      EXPECT_EQ(a.measured_us, 3);
      EXPECT_NE(a.refusal, "");
    }
  }
  // The other tile is an alternative among the kernel's parameters.
  const Decision& parameters = planned.decisions.decisions()[1];
  EXPECT_EQ(parameters.kind, DecisionKind::kParameters);
  EXPECT_EQ(parameters.reason, Reason::kMeasured);
  const auto slower = [](const Alternative& a) { return a.measured_us == 20; };
  EXPECT_EQ(std::ranges::count_if(parameters.alternatives, slower), 1);
}

TEST(CachedCosts, UnmeasuredKernelsCompeteOnlyWhereNothingIsMeasured) {
  // Measured far above every prediction: still the choice, since a prediction is no time.
  TimingCache cache;
  cache.Put(kH200, Product(256, 256, 256), testing::NameOf(Product(256, 256, 256), kOdd), Us(5000));
  CachedCosts costs(cache, {});
  EXPECT_EQ(NameOfStep(Plan(&costs), 0), testing::NameOf(Product(256, 256, 256), kOdd));
  TimingCache other;
  other.Put(kH200, Product(8, 8, 8), testing::NameOf(Product(8, 8, 8), kOdd), Us(1));
  CachedCosts elsewhere(other, {});
  const Planned planned = Plan(&elsewhere);
  EXPECT_EQ(planned.decisions.decisions()[0].reason, Reason::kPredicted);
}

TEST(CachedCosts, DifferencesWithinTheNoiseChangeNoChoice) {
  const std::string predicted = NameOfStep(Plan(nullptr), 0);
  const abi::Problem p = Product(256, 256, 256);
  const auto plan = [&](double spread) {
    TimingCache cache;
    cache.Put(kH200, p, predicted, {12.3, spread, 15, "v", {}});
    cache.Put(kH200, p, testing::NameOf(p, kOdd), {12.0, spread / 2, 15, "v", {}});
    CachedCosts costs(cache, {});
    return Plan(&costs);
  };
  const Planned noisy = plan(0.4), clear = plan(0.2);
  EXPECT_EQ(NameOfStep(noisy, 0), predicted);
  EXPECT_EQ(noisy.decisions.decisions()[0].reason, Reason::kTieBreak);
  EXPECT_EQ(noisy.decisions.decisions()[0].measured_us, 12.3);
  EXPECT_EQ(NameOfStep(clear, 0), testing::NameOf(Product(256, 256, 256), kOdd));
  EXPECT_EQ(clear.decisions.decisions()[0].reason, Reason::kMeasured);
}

TEST(CachedCosts, ThePolicyComesFirst) {
  CachedCosts costs(CacheWhereTheOddOneWins(), {});
  const Planned planned = Plan(&costs, "tiled_64x64");
  EXPECT_EQ(NameOfStep(planned, 0),
            testing::NameOf(Product(256, 256, 256), "cuda.gemm.tiled_64x64"));
  EXPECT_EQ(planned.decisions.decisions()[0].reason, Reason::kPolicy);
}

TEST(CachedCosts, ALibrarysAlgorithmComesFromTheCache) {
  CachedCosts costs(CacheWhereTheOddOneWins(), {});
  const Planned planned = Plan(&costs, "cublaslt");
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  const schema::Step& step = planned.contents->program.steps[0];
  EXPECT_EQ(step.kernel, "cublaslt.matmul");
  EXPECT_EQ(step.algorithm, (std::vector<uint8_t>{7, 8}));
  EXPECT_EQ(step.library_version, 130100u);
  EXPECT_EQ(step.workspace_bytes, 512u);
}

// Problems that the built-in correction of a kernel's predictions was fitted to.
int BuiltInSamples(const std::string& row) {
  return BuiltInFit(*abi::FindDevice("cuda")).rows().at({row, "fp32"}).samples;
}

// Times of other problems, which correct this one's predictions.
void PutOthers(TimingCache* cache, int count) {
  for (int64_t n = 8; n < 8 + 2 * count; n += 2) {
    const abi::Problem p = Product(n, n, n);
    cache->Put(kH200, p, testing::NameOf(p, "cuda.gemm.tiled_32x32"), Us(static_cast<double>(n)));
  }
}

// A few problems correct the predictions of others no better than what the build was fitted to.
TEST(CachedCosts, FewTimesLeaveThePredictionsOfOtherProblems) {
  TimingCache few = CacheWhereTheOddOneWins(), many = few;
  PutOthers(&few, BuiltInSamples("cuda.gemm.tiled_32x32") - 1);
  PutOthers(&many, BuiltInSamples("cuda.gemm.tiled_32x32"));
  for (const auto& [cache, corrected] : {std::pair(&few, false), {&many, true}}) {
    CachedCosts costs(*cache, {});
    const Planned planned = Plan(&costs);
    EXPECT_EQ(costs.UsedTimings().find("fit cuda.gemm.tiled_32x32 fp32 ") != std::string::npos,
              corrected);
  }
}

TEST(CachedCosts, WhatWasUsedGivesTheSameAnswersAgain) {
  TimingCache cache = CacheWhereTheOddOneWins();
  PutOthers(&cache, BuiltInSamples("cuda.gemm.tiled_32x32"));
  CachedCosts costs(cache, {});
  const Planned first = Plan(&costs);
  const std::string used = costs.UsedTimings();
  EXPECT_NE(used.find("fit cuda.gemm.tiled_32x32 fp32 "), std::string::npos) << used;
  EXPECT_EQ(used.find("problem"), std::string::npos);
  EXPECT_LT(used.size(), cache.ToText().size());
  auto again = CachedCosts::FromUsed(used);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  const Planned second = Plan(&*again);
  EXPECT_EQ(second.decisions.ToJsonLines(), first.decisions.ToJsonLines());
  EXPECT_EQ(schema::ToString(second.contents->program), schema::ToString(first.contents->program));
  EXPECT_EQ(again->UsedTimings(), used);
  auto nothing = CachedCosts::FromUsed("");
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(Plan(&*nothing).decisions.ToJsonLines(), Plan(nullptr).decisions.ToJsonLines());
}

TEST(CachedCosts, TheDeviceIsTheOnlyOneOrTheNamedOne) {
  TimingCache cache = CacheWhereTheOddOneWins();
  const DeviceId h100{"cuda:sm_90a", "NVIDIA H100"};
  cache.Put(h100, Product(256, 256, 256),
            testing::NameOf(Product(256, 256, 256), "cuda.gemm.tiled_32x32"), Us(1));
  cache.Put({"cpu", "Some CPU"}, Product(256, 256, 256), "cpu.gemm.ref", Us(1));
  CachedCosts unnamed(cache, {});
  const Status several = Plan(&unnamed).contents.status();
  EXPECT_EQ(several.code(), Code::kInvalidArgument);
  EXPECT_NE(several.message().find("\"NVIDIA H100\", \"NVIDIA H200\""), std::string::npos)
      << several.message();
  CachedCosts first(cache, {.device_name = "NVIDIA H100"});
  EXPECT_EQ(NameOfStep(Plan(&first), 0),
            testing::NameOf(Product(256, 256, 256), "cuda.gemm.tiled_32x32"));
  CachedCosts second(cache, {.device_name = "NVIDIA H200"});
  EXPECT_EQ(NameOfStep(Plan(&second), 0), testing::NameOf(Product(256, 256, 256), kOdd));
  CachedCosts third(cache, {.device_name = "Some CPU"});
  const Status missing = Plan(&third).contents.status();
  EXPECT_EQ(missing.code(), Code::kInvalidArgument);
  EXPECT_NE(missing.message().find("no times of \"Some CPU\" for cuda:sm_90a"), std::string::npos)
      << missing.message();
}

TEST(CachedCosts, AMissIsAnErrorOnlyWhereItIsAskedFor) {
  TimingCache other;
  other.Put(kH200, Product(8, 8, 8), testing::NameOf(Product(8, 8, 8), kOdd), Us(1));
  CachedCosts lenient(other, {});
  EXPECT_TRUE(Plan(&lenient).contents.ok());
  CachedCosts strict(other, {.error_on_miss = true});
  const Status miss = Plan(&strict).contents.status();
  EXPECT_EQ(miss.code(), Code::kCheckFailed);
  for (const std::string& part :
       {std::string("misses 2 of 2 steps"), std::string("step 0 [product0]"),
        std::string("step 1 [product1]"), HashOf(Product(256, 256, 256)),
        std::string("NVIDIA H200")}) {
    EXPECT_NE(miss.message().find(part), std::string::npos) << miss.message();
  }
  CachedCosts hit(CacheWhereTheOddOneWins(), {.error_on_miss = true});
  EXPECT_TRUE(Plan(&hit).contents.ok());
  // What the policy decides needs no time.
  CachedCosts decided(other, {.error_on_miss = true});
  EXPECT_TRUE(Plan(&decided, "tiled_64x64").contents.ok());
  CachedCosts empty({}, {.error_on_miss = true});
  EXPECT_EQ(Plan(&empty).contents.status().code(), Code::kCheckFailed);
}

}  // namespace
}  // namespace aicf::tune
