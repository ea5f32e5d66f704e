// Packed operands found again among the lowered program's constants.
#include "tools/verify/unpacked.h"

#include <gtest/gtest.h>

#include "compiler/emit/stored_lowered.h"
#include "compiler/plan/weights.h"
#include "schema/testing.h"
#include "tools/verify/pin_hint.h"

namespace aicf::tools {
namespace {

/// y = x * w, w packed in the plan; the lowered program holds it beside one of the same shape.
class UnpackedTest : public ::testing::Test {
 protected:
  UnpackedTest() : contents_(schema::testing::ContentsOf(schema::testing::PackedProgram())) {
    const schema::Step& step = contents_.program.steps[0];
    for (size_t i = 0; i < w_.size(); ++i) w_[i] = static_cast<float>(i % 11) - 5;
    abi::FindKernel(step.kernel)
        ->pack(step.problem, 1, w_.data(),
               contents_.weights.data() + contents_.program.buffers[step.inputs[1]].offset);
  }
  void Store(const std::vector<std::vector<float>>& constants) {
    std::vector<NamedConstant> named;
    lowered_.name = "test";
    for (const auto& values : constants) {
      ir::LoweredBuffer b{"c", DType::kF32, {40, 24}, schema::Role::kConstant, {}};
      b.constant = ir::Tensor::FromValues(DType::kF32, {40, 24}, std::span(values));
      lowered_.buffers.push_back(b);
      named.push_back({HashBytes(b.constant.bytes()), lowered_.buffers.back().constant.bytes()});
    }
    contents_.lowered = ir::ToString(lowered_);
    contents_.lowered_weights = EncodeConstants(std::move(named));
  }
  std::shared_ptr<const schema::Artifact> Load() {
    const auto bytes = schema::Serialize(contents_);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto artifact = schema::Artifact::Parse(*bytes, true);
    EXPECT_TRUE(artifact.ok());
    return *artifact;
  }

  schema::Contents contents_;
  ir::Lowered lowered_;
  std::vector<float> w_ = std::vector<float>(40 * 24);
};

TEST_F(UnpackedTest, TheOneThatPacksIntoThePlansBytesIsTaken) {
  std::vector<float> other = w_;
  other[500] += 1;
  Store({other, w_});
  const auto artifact = Load();
  const auto found = FindUnpacked(artifact);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ(found->inputs.size(), 1u);
  EXPECT_EQ(found->inputs[0].step, 0u);
  EXPECT_EQ(found->inputs[0].input, 1u);
  EXPECT_EQ(std::memcmp(found->inputs[0].data, w_.data(), w_.size() * 4), 0);
}

TEST_F(UnpackedTest, NoneThatPacksIntoThemIsAnError) {
  w_[7] += 1;
  Store({w_});
  const Status status = FindUnpacked(Load()).status();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("no constant that packs into them"), std::string::npos);
}

TEST_F(UnpackedTest, AStrippedArtifactSaysSo) {
  contents_.lowered.clear();
  const Status status = FindUnpacked(Load()).status();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("--strip"), std::string::npos) << status.ToString();
}

TEST_F(UnpackedTest, TheHintNamesAnotherKernelOrTheMathMode) {
  schema::Program& p = contents_.program;
  EXPECT_EQ(PinFlags(p, 0), "--set step.0.kernel=cpu.gemm.blis");
  p.steps[0].problem.math = abi::MathMode::kFp16;
  EXPECT_EQ(PinFlags(p, 0), "--set step.0.math=fp32");
}

}  // namespace
}  // namespace aicf::tools
