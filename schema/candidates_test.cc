// An artifact does not depend on what this build would choose: with any candidate of any kernel in
// any of its steps it is as valid as with the preferred one, and a step without the preferred
// parameters is refused for no other reason than that they are illegal.
#include <gtest/gtest.h>

#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "schema/testing.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using testing::BlocksProgram;
using testing::ContentsOf;
using testing::FamiliesProgram;
using testing::OnDevice;

// The step with another variant, its workspace after everything else.
Program With(Program p, size_t step, const abi::KernelInfo& kernel, const abi::Variant& variant) {
  Step& s = p.steps[step];
  s.kernel = kernel.key;
  SetVariant(s, variant);
  s.symbol = kernel.backend == abi::Backend::kCuda
                 ? abi::InstanceSymbol(s.kernel, s.problem, variant)
                 : std::string();
  const uint64_t end = (p.arena_bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  s.workspace_offset = variant.workspace_bytes == 0 ? 0 : end;
  if (variant.workspace_bytes != 0) p.arena_bytes = end + variant.workspace_bytes;
  return p;
}

// It would need another buffer than the plan has.
int VerifyEveryCandidate(const Program& program, abi::Backend backend) {
  const abi::DeviceSpec device = *abi::FindDevice(program.target);
  int verified = 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const abi::Problem& problem = program.steps[i].problem;
    for (const abi::KernelInfo& kernel : abi::KernelsOf(problem.family)) {
      if (kernel.backend != backend || !kernel.supports(problem, device).empty()) continue;
      for (const abi::Candidate& c : abi::CandidatesOf(kernel, problem, device)) {
        if (testing::WantsPacked(kernel, problem, c.variant.parameters)) continue;
        const auto file = Serialize(ContentsOf(With(program, i, kernel, c.variant)));
        EXPECT_TRUE(file.ok()) << abi::VariantName(kernel.key, c.variant.parameters) << ": "
                               << file.status().ToString();
        if (!file.ok()) continue;
        const auto loaded = Artifact::Parse(*file, true);
        EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
        ++verified;
      }
    }
  }
  return verified;
}

TEST(Candidates, AnyOneOfThemIsAValidPlanForTheGpu) {
  EXPECT_GT(VerifyEveryCandidate(OnDevice(FamiliesProgram()), abi::Backend::kCuda), 30);
}

TEST(Candidates, AnyOneOfThemIsAValidPlanForTheCpu) {
  const int of_families = VerifyEveryCandidate(FamiliesProgram(), abi::Backend::kCpu);
  EXPECT_GE(of_families + VerifyEveryCandidate(BlocksProgram(), abi::Backend::kCpu),
            abi::kFamilyCount);
}

}  // namespace
}  // namespace aicf::schema
