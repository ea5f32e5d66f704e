// Tuned artifacts of the real models from the committed cache, on a machine that may have no GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/costs/cached_costs.h"
#include "compiler/tune/bench_program.h"
#include "compiler/tune/testing.h"
#include "compiler/tune/tuner.h"
#include "tests/models/run.h"

namespace aicf::testing {
namespace {

std::string CommittedCache() {
  const auto path = std::filesystem::path(AICF_SOURCE_DIR) / "bench" / "timing-cache" / "h200.txt";
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Tuned {
  std::vector<std::byte> bytes;
  int contested = 0, measured = 0;
};

CompileOptions CudaOptions(const ModelCase& c, CostSource& costs) {
  CompileOptions options;
  options.target = "cuda";
  options.images = false;
  options.costs = &costs;
  for (const CaseTensor& input : c.inputs) options.shapes[input.name] = input.shape;
  options.nan_branches = true;  // see ModelCase
  return options;
}

Tuned CompileTuned(const ModelCase& c, const tune::TimingCache& cache) {
  tune::CachedCosts costs(cache, {});
  const auto result = Compile(c.model, CudaOptions(c, costs));
  EXPECT_TRUE(result.ok()) << c.name << ": " << result.status().ToString();
  if (!result.ok()) return {};
  Tuned tuned{result->bytes, 0, 0};
  for (const Decision& d : result->decisions.decisions()) {
    if (d.kind != DecisionKind::kKernel) continue;
    tuned.contested += d.reason != Reason::kOnlyLegal ? 1 : 0;
    tuned.measured += d.reason != Reason::kOnlyLegal && d.measured_us >= 0 ? 1 : 0;
  }
  return tuned;
}

/// Makes of every problem that it is asked about what a stopwatch would run.
class BenchMaker final : public CostSource {
 public:
  int made = 0;

  Status Prepare(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) override {
    for (const CostQuestion& q : questions) {
      std::vector<tune::BenchKernel> kernels;
      for (const KernelOption& o : q.options) {
        if (o.kernel->backend != abi::Backend::kLibrary) kernels.push_back({&o});
      }
      AICF_ASSIGN_OR_RETURN(const schema::Contents contents,
                            tune::MakeBenchProgram(*q.problem, kernels, device));
      const Status verified = schema::Serialize(contents).status();
      if (!verified.ok()) return verified.WithContext(q.subject);
      ++made;
    }
    return OkStatus();
  }
  std::vector<KernelCost> CostsOf(const CostQuestion& q, const abi::DeviceSpec& device) override {
    return tune::PredictedCosts(q, device);
  }
  std::optional<LibraryAlgorithm> AlgorithmOf(const abi::Problem&, const abi::KernelInfo&,
                                              const abi::DeviceSpec&) override {
    return std::nullopt;
  }
  std::string UsedTimings() const override { return ""; }
};

TEST(Benches, EveryProblemOfTheModelsCanBeTimed) {
  const std::vector<ModelCase> cases = LoadCases();
  if (cases.empty()) GTEST_SKIP() << "AICF_TEST_MODELS names no folder of models";
  for (const ModelCase& c : cases) {
    if (!c.model.ends_with(".onnx")) continue;
    for (const auto& [target, math] : {std::pair("cpu", abi::MathMode::kFp32),
                                       {"cuda", abi::MathMode::kFp32},
                                       {"cuda", abi::MathMode::kFp16}}) {
      BenchMaker benches;
      CompileOptions options;
      options.target = target;
      options.math = math;
      options.images = false;
      options.costs = &benches;
      for (const CaseTensor& input : c.inputs) options.shapes[input.name] = input.shape;
      options.nan_branches = true;  // see ModelCase
      const Status status = Compile(c.model, options).status();
      EXPECT_TRUE(status.ok()) << c.name << " " << target << ": " << status.ToString();
      EXPECT_GT(benches.made, 0) << c.name;
    }
  }
}

TEST(SimulatedTuning, ACacheIsAllThatACompilationNeeds) {
  const std::vector<ModelCase> cases = LoadCases();
  if (cases.empty()) GTEST_SKIP() << "AICF_TEST_MODELS names no folder of models";
  tune::TimingCache all;
  for (const ModelCase& c : cases) {
    if (!c.model.ends_with(".onnx")) continue;
    tune::testing::FakeMachine machine;
    tune::TuneRules rules;
    rules.now = [&] { return machine.clock; };
    tune::Tuner tuner({}, machine, rules, {});
    const auto tuned = Compile(c.model, CudaOptions(c, tuner));
    ASSERT_TRUE(tuned.ok()) << c.name << ": " << tuned.status().ToString();
    EXPECT_EQ(tuner.problems_left(), 0) << c.name;
    // Through the file, without the machine.
    const auto read = tune::TimingCache::Parse(tuner.measured().ToText());
    ASSERT_TRUE(read.ok()) << c.name << ": " << read.status().ToString();
    tune::CachedCosts cached(*read, {.error_on_miss = true});
    const auto compiled = Compile(c.model, CudaOptions(c, cached));
    ASSERT_TRUE(compiled.ok()) << c.name << ": " << compiled.status().ToString();
    EXPECT_EQ(compiled->bytes, tuned->bytes) << c.name;
    // From what the artifact carries, without the file.
    auto carried = tune::CachedCosts::FromUsed(cached.UsedTimings());
    ASSERT_TRUE(carried.ok()) << c.name << ": " << carried.status().ToString();
    const auto again = Compile(c.model, CudaOptions(c, *carried));
    ASSERT_TRUE(again.ok()) << c.name << ": " << again.status().ToString();
    EXPECT_EQ(again->bytes, tuned->bytes) << c.name;
    all.Merge(*read);
  }
  EXPECT_GT(all.size(), 1000u);
}

TEST(CommittedTimingCache, CompilesTunedModelsToTheSameBytesEveryTime) {
  const std::string text = CommittedCache();
  if (text.empty()) GTEST_SKIP() << "bench/timing-cache/h200.txt is not there";
  std::vector<ModelCase> cases = LoadCases();
  for (const ModelCase& c : FetchedCases()) cases.push_back(c);
  if (cases.empty()) GTEST_SKIP() << "neither AICF_TEST_MODELS nor AICF_PPOCR_MODELS is set";
  const auto cache = tune::TimingCache::Parse(text);
  ASSERT_TRUE(cache.ok()) << cache.status().ToString();
  int contested = 0, measured = 0;
  for (const ModelCase& c : cases) {
    if (!c.model.ends_with(".onnx")) continue;
    const Tuned first = CompileTuned(c, *cache);
    EXPECT_EQ(CompileTuned(c, *cache).bytes, first.bytes) << c.name;
    contested += first.contested;
    measured += first.measured;
  }
  // A change of a pass makes other problems, which are predicted until somebody tunes again.
  EXPECT_GE(measured, contested * 8 / 10)
      << "run bench/tune_models.py on an H200 and commit its cache";
}

}  // namespace
}  // namespace aicf::testing
