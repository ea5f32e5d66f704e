// The real models step by step: every step's kernel against the reference kernel on the same
// buffers, within the step's own tolerance. On this CPU's vector kernels, and where there is a GPU
// on its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "compiler/compiler.h"
#include "schema/artifact.h"
#include "tests/models/cases.h"
#include "tests/models/rounded_steps.h"
#include "tests/models/run.h"
#include "tools/common/npy.h"
#include "tools/verify/verify_steps.h"

namespace aicf::testing {
namespace {

// Seconds at most on two cores; AICF_VERIFY_ALL=1 adds the models that take a minute.
bool IsQuick(const ModelCase& c) {
  static const std::set<std::string_view> kSlow = {
      "ppocrv4_det_640",      "ppocrv4_rec_320", "ppocrv4_rec_b6_320", "mlsd_320_tiny",
      "super_resolution_224", "basic_pitch",     "yolox_nano_416"};
  return !kSlow.contains(c.name);
}

std::vector<ModelCase> CasesToVerify() {
  std::vector<ModelCase> cases = LoadCases();
  if (std::getenv("AICF_VERIFY_ALL") == nullptr) {
    std::erase_if(cases, [](const ModelCase& c) { return !IsQuick(c); });
  }
  return cases;
}

Result<std::vector<std::vector<std::byte>>> InputsOf(const ModelCase& c, const Program& program) {
  std::vector<std::vector<std::byte>> inputs;
  for (const TensorInfo& info : program.inputs()) {
    for (const CaseTensor& t : c.inputs) {
      if (t.name != info.name) continue;
      AICF_ASSIGN_OR_RETURN(tools::NpyArray array, tools::ReadNpy(t.file));
      inputs.push_back(std::move(array.data));
    }
  }
  if (inputs.size() == program.inputs().size()) return inputs;
  return Error(Code::kInvalidArgument, "the case lacks an input");
}

class VerifyModels : public ::testing::TestWithParam<ModelCase> {
 protected:
  void Verify(const std::string& target, abi::MathMode math, const std::string& device,
              DType precision = DType::kF32) {
    const ModelCase& c = GetParam();
    const auto bytes = CompileBytes(c, target, math, precision);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto stored = schema::Artifact::Parse(*bytes, /*with_optional=*/true);
    const auto program = Program::FromBytes(*bytes);
    ASSERT_TRUE(stored.ok() && program.ok());
    const auto inputs = InputsOf(c, **program);
    ASSERT_TRUE(inputs.ok()) << inputs.status().ToString();
    SessionOptions session;
    session.device = device;
    const auto report = tools::VerifySteps(*program, *stored, 0, session, *inputs, {});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->steps.size(), (*program)->step_count());
    Judge(**program, *report);
  }
  static void Judge(const Program& program, const tools::StepsReport& report) {
    size_t compared = 0;
    for (const tools::StepCheck& s : report.steps) {
      EXPECT_EQ(s.changed, "") << "step " << s.step;
      const schema::Step& step = program.artifact().program().steps[s.step];
      if (s.runs > 0) ++compared;
      EXPECT_TRUE(s.pass) << "step " << s.step << " (" << step.kernel << "; "
                          << (step.sources.empty() ? "" : step.sources[0]) << "): relative L2 "
                          << s.comparison.relative_l2 << ", " << s.comparison.mismatches << " of "
                          << s.comparison.elements << " elements beyond " << s.tolerance.ToString();
    }
    EXPECT_GT(compared, 0u);
  }
};

// What fp16 products cost each step is within its tolerance, and is seen.
TEST_P(VerifyModels, Fp16ProductsStayWithinTheirTolerance) {
  const ModelCase& c = GetParam();
  if (c.name.find("fp16") != std::string::npos) GTEST_SKIP() << "its operands are f16 already";
  CompileOptions options;
  options.target = "cuda:sm_90a";
  options.math = abi::MathMode::kFp16;
  options.images = false;
  for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
  options.nan_branches = true;  // see ModelCase
  auto compiled = Compile(c.model, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  const auto program = Program::FromBytes(compiled->bytes);
  ASSERT_TRUE(RoundWeights(compiled->contents.program, compiled->contents.weights).ok());
  const auto rounded_bytes = schema::Serialize(compiled->contents);
  ASSERT_TRUE(program.ok() && rounded_bytes.ok());
  const auto rounded = Program::FromBytes(*rounded_bytes);
  const auto inputs = InputsOf(c, **program);
  ASSERT_TRUE(rounded.ok() && inputs.ok());
  const auto device = MakeRoundedSteps(*rounded);
  const auto reference = MakeReferenceSteps(*program, 0, 0, {});
  const auto drift = MakeReferenceSteps(*program, 0, 0, {});
  ASSERT_TRUE(device.ok() && reference.ok() && drift.ok());
  const auto report = tools::CompareSteps((*program)->artifact().program(), 0,
                                          {**device, **reference, **drift, {}}, *inputs, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  Judge(**program, *report);
  double most = 0;
  for (const tools::StepCheck& s : report->steps) most = std::max(most, s.comparison.relative_l2);
  EXPECT_GT(most, 1e-5);
}

class GpuVerifyModels : public VerifyModels {
 protected:
  void SetUp() override {
    if (!HasGpu()) GTEST_SKIP() << "no CUDA device here";
  }
};

TEST_P(VerifyModels, EveryStepOnThisCpu) { Verify("cpu", abi::MathMode::kFp32, "cpu"); }

TEST_P(GpuVerifyModels, EveryStepInFp32) { Verify("cuda:sm_90a", abi::MathMode::kFp32, "cuda:0"); }
TEST_P(GpuVerifyModels, EveryStepInFp16) { Verify("cuda:sm_90a", abi::MathMode::kFp16, "cuda:0"); }
TEST_P(GpuVerifyModels, EveryStepStoredInFp16) {
  Verify("cuda:sm_90a", abi::MathMode::kFp32, "cuda:0", DType::kF16);
}

INSTANTIATE_TEST_SUITE_P(Real, VerifyModels, ::testing::ValuesIn(CasesToVerify()), CaseName());
INSTANTIATE_TEST_SUITE_P(GpuReal, GpuVerifyModels, ::testing::ValuesIn(CasesToVerify()),
                         CaseName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VerifyModels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuVerifyModels);

}  // namespace
}  // namespace aicf::testing
