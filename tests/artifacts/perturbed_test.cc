// A changed heuristic never invalidates an artifact. With every predicted cost and the order of
// every list of kernels and candidates changed, committed artifacts load and run as before, and
// compiling gives another plan that is just as valid and correct.
#include <gtest/gtest.h>

#include <set>

#include "compiler/codegen/nvrtc.h"
#include "compiler/compiler.h"
#include "runtime/cuda/device.h"
#include "tests/artifacts/perturbed.h"
#include "tests/artifacts/samples.h"

namespace aicf::artifacts {
namespace {

constexpr uint64_t kSeeds[] = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(Perturbed, CommittedArtifactsRunTheSame) {
  for (const std::string& path : CommittedArtifacts()) {
    const auto before = Load(path);
    ASSERT_TRUE(before.ok()) << before.status().ToString();
    const auto expected = RunSamplesOnCpu(before->program, before->golden);
    ASSERT_TRUE(expected.ok()) << path << ": " << expected.status().ToString();
    for (const uint64_t seed : kSeeds) {
      const Perturbed other(seed);
      const auto now = Load(path);
      ASSERT_TRUE(now.ok()) << path << ": " << now.status().ToString();
      const auto outputs = RunSamplesOnCpu(now->program, now->golden);
      ASSERT_TRUE(outputs.ok()) << path << ": " << outputs.status().ToString();
      EXPECT_EQ(*outputs, *expected) << path;
    }
  }
}

TEST(Perturbed, LoadingAndRunningAskForNoCandidates) {
  const uint64_t before = CandidateListsAskedFor();
  for (const std::string& path : CommittedArtifacts()) {
    const auto committed = Load(path);
    ASSERT_TRUE(committed.ok()) << committed.status().ToString();
    ASSERT_TRUE(RunSamplesOnCpu(committed->program, committed->golden).ok());
  }
  EXPECT_EQ(CandidateListsAskedFor(), before);
}

// What was chosen for a step.
std::string ChoiceOf(const schema::Step& s) { return abi::VariantName(s.kernel, s.parameters); }

Result<CompileResult> CompileAgain(const Committed& committed, bool images) {
  AICF_ASSIGN_OR_RETURN(CompileOptions options, OptionsOf(*committed.artifact));
  options.policy = {};  // a preference would leave nothing to choose
  options.policy_strict = false;
  options.images = images;
  return Recompile(committed.artifact, options);
}

// Compiles with another heuristic, and runs what comes out.
Result<CompileResult> CompileAndRun(const Committed& committed, uint64_t seed) {
  const Perturbed other(seed);
  AICF_ASSIGN_OR_RETURN(CompileResult result, CompileAgain(committed, /*images=*/false));
  AICF_ASSIGN_OR_RETURN(const auto program, Program::FromBytes(result.bytes));
  AICF_RETURN_IF_ERROR(RunSamplesOnCpu(program, committed.golden).status());
  return result;
}

// The families of which some step could have had another kernel or other parameters.
std::set<abi::Family> FamiliesWithAChoice(const CompileResult& result) {
  std::set<abi::Family> families;
  for (const Decision& d : result.decisions.decisions()) {
    if (d.kind != DecisionKind::kKernel && d.kind != DecisionKind::kParameters) continue;
    const auto legal = [](const Alternative& a) { return a.refusal.empty(); };
    if (d.subject.step < 0 || std::ranges::none_of(d.alternatives, legal)) continue;
    const auto step = static_cast<size_t>(d.subject.step);
    families.insert(result.contents.program.steps[step].problem.family);
  }
  return families;
}

class PerturbedPlans : public ::testing::TestWithParam<std::string> {};

TEST_P(PerturbedPlans, AreOthersAndRight) {
  std::set<abi::Family> changed, choices;
  for (const std::string& path : CommittedArtifacts(GetParam())) {
    const auto committed = Load(path);
    ASSERT_TRUE(committed.ok()) << committed.status().ToString();
    const auto own = CompileAgain(*committed, /*images=*/false);
    ASSERT_TRUE(own.ok()) << own.status().ToString();
    choices.merge(FamiliesWithAChoice(*own));
    for (const uint64_t seed : kSeeds) {
      const auto other = CompileAndRun(*committed, seed);
      ASSERT_TRUE(other.ok()) << path << ", seed " << seed << ": " << other.status().ToString();
      const std::vector<schema::Step>& steps = other->contents.program.steps;
      ASSERT_EQ(steps.size(), own->contents.program.steps.size()) << path;
      for (size_t i = 0; i < steps.size(); ++i) {
        const schema::Step& before = own->contents.program.steps[i];
        if (ChoiceOf(steps[i]) != ChoiceOf(before)) changed.insert(before.problem.family);
      }
    }
  }
  ASSERT_GE(CommittedFamilies().size(), kFamiliesOfTheFirstSet);
  for (const abi::Family family : CommittedFamilies()) {
    if (static_cast<size_t>(family) < kFamiliesOfTheFirstSet) choices.insert(family);
  }
  for (const abi::Family family : choices) {
    EXPECT_TRUE(changed.contains(family)) << abi::FamilyName(family) << " kept its choice always";
  }
}

INSTANTIATE_TEST_SUITE_P(Target, PerturbedPlans, ::testing::Values("cpu", "cuda"),
                         [](const auto& p) { return p.param; });

TEST(GpuPerturbed, PlansComputeTheSamplesOnTheDevice) {
  const auto driver = cuda::Driver::Get();
  if (!driver.ok()) GTEST_SKIP() << driver.status().message();
  const auto nvrtc = Nvrtc::Open();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  for (const std::string& path : CommittedArtifacts("cuda")) {
    const auto committed = Load(path);
    ASSERT_TRUE(committed.ok()) << committed.status().ToString();
    for (const uint64_t seed : {1, 2, 3}) {
      const Perturbed other(seed);
      const auto result = CompileAgain(*committed, /*images=*/true);
      ASSERT_TRUE(result.ok()) << path << ": " << result.status().ToString();
      const auto program = Program::FromBytes(result->bytes);
      ASSERT_TRUE(program.ok()) << program.status().ToString();
      const auto outputs = RunSamples(*program, committed->golden, {});
      EXPECT_TRUE(outputs.ok()) << path << ", seed " << seed << ": " << outputs.status().ToString();
    }
  }
}

}  // namespace
}  // namespace aicf::artifacts
