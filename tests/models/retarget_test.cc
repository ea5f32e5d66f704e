// An artifact can be compiled again: the program that it carries is compiled for another target and
// back, and each time gives byte for byte what compiling the model gives.
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "tests/models/cases.h"

namespace aicf::testing {
namespace {

CompileOptions OptionsFor(const ModelCase& c, const std::string& target) {
  CompileOptions options;
  options.target = target;
  options.images = target == "cpu";  // device code needs NVRTC and is not what is tested
  for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
  options.nan_branches = true;  // see ModelCase
  return options;
}

Result<std::vector<std::byte>> FromModel(const ModelCase& c, const std::string& target) {
  AICF_ASSIGN_OR_RETURN(CompileResult result, Compile(c.model, OptionsFor(c, target)));
  return std::move(result.bytes);
}

Result<std::vector<std::byte>> FromArtifact(std::span<const std::byte> bytes,
                                            const std::string& target) {
  AICF_ASSIGN_OR_RETURN(const auto artifact, schema::Artifact::Parse(bytes, true));
  AICF_ASSIGN_OR_RETURN(CompileOptions options, OptionsOf(*artifact));
  options.target = target;
  options.images = target == "cpu";
  AICF_ASSIGN_OR_RETURN(CompileResult result, Recompile(artifact, options));
  return std::move(result.bytes);
}

class Retarget : public ::testing::TestWithParam<ModelCase> {};

TEST_P(Retarget, CpuToCudaAndBackIsWhatTheModelGives) {
  const auto cpu = FromModel(GetParam(), "cpu");
  ASSERT_TRUE(cpu.ok()) << cpu.status().ToString();
  const auto cuda = FromArtifact(*cpu, "cuda:sm_90a");
  ASSERT_TRUE(cuda.ok()) << cuda.status().ToString();
  const auto cuda_from_model = FromModel(GetParam(), "cuda:sm_90a");
  ASSERT_TRUE(cuda_from_model.ok()) << cuda_from_model.status().ToString();
  EXPECT_EQ(*cuda, *cuda_from_model);
  const auto back = FromArtifact(*cuda, "cpu");
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, *cpu);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Retarget);
INSTANTIATE_TEST_SUITE_P(Real, Retarget, ::testing::ValuesIn(AllCases()), CaseName());

}  // namespace
}  // namespace aicf::testing
