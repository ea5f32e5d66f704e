// Packed operands by their record: found among the lowered program's constants, or unpacked.
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
    Pack();
    contents_.program.buffers[step.inputs[1]].origin->hash =
        HashBytes(std::as_bytes(std::span(w_)));
  }
  void Pack() {
    const schema::Step& step = contents_.program.steps[0];
    abi::FindKernel(step.kernel)
        ->pack(step.problem, {}, 1, w_.data(),
               contents_.weights.data() + contents_.program.buffers[step.inputs[1]].offset);
  }
  void ExpectFound(const std::vector<float>& want) {
    const auto artifact = Load();
    const auto found = FindUnpacked(artifact);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    ASSERT_EQ(found->inputs.size(), 1u);
    EXPECT_EQ(found->inputs[0].step, 0u);
    EXPECT_EQ(found->inputs[0].input, 1u);
    ASSERT_EQ(found->data[0].bytes().size(), want.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(found->inputs[0].data, want.data(), want.size() * sizeof(float)), 0);
  }
  void Store(const std::vector<std::vector<float>>& constants) {
    std::vector<NamedConstant> named;
    lowered_ = {};
    lowered_.name = "test";
    for (const auto& values : constants) {
      const Dims shape{static_cast<int64_t>(values.size())};
      ir::LoweredBuffer b{"c", DType::kF32, shape, schema::Role::kConstant, {}};
      b.constant = ir::Tensor::FromValues(DType::kF32, shape, std::span(values));
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

TEST_F(UnpackedTest, TheConstantWithTheRecordedHashIsTaken) {
  // Packing makes a zero of it: only the constant itself still has it.
  w_[500] = 1e-40f;
  schema::Buffer& packed = contents_.program.buffers[1];
  packed.origin->hash = HashBytes(std::as_bytes(std::span(w_)));
  Pack();
  std::vector<float> other = w_;
  other[500] = 0;
  Store({other, w_});
  ExpectFound(w_);
  packed.origin.reset();
  ExpectFound(other);
}

TEST_F(UnpackedTest, WhatALoweredProgramLacksIsUnpacked) {
  std::vector<float> other = w_;
  other[500] += 1;
  Store({other});
  ExpectFound(w_);
  contents_.lowered.clear();
  contents_.lowered_weights.clear();
  ExpectFound(w_);
}

TEST_F(UnpackedTest, ARecordThatIsNotTrueIsAnError) {
  w_[7] += 1;
  contents_.program.buffers[1].origin->hash = HashBytes(std::as_bytes(std::span(w_)));
  Store({w_});
  const Status status = FindUnpacked(Load()).status();
  EXPECT_EQ(status.code(), Code::kBadArtifact);
  EXPECT_NE(status.message().find("does not hold what its record says"), std::string::npos)
      << status.ToString();
}

// A constant that the view would leave cannot be what was packed, whatever its hash.
TEST_F(UnpackedTest, AConstantThatIsTooSmallIsNotTaken) {
  const std::vector<float> small = {1, 2, 3};
  contents_.program.buffers[1].origin->hash = HashBytes(std::as_bytes(std::span(small)));
  Store({small});
  ExpectFound(w_);
}

TEST_F(UnpackedTest, TheHintNamesAnotherKernelOrTheMathMode) {
  schema::Program& p = contents_.program;
  EXPECT_EQ(PinFlags(p, 0), "--set step.0.kernel=cpu.gemm.blis");
  p.steps[0].problem.math = abi::MathMode::kFp16;
  EXPECT_EQ(PinFlags(p, 0), "--set step.0.math=fp32");
}

}  // namespace
}  // namespace aicf::tools
