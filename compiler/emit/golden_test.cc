// Samples for the golden section: outputs computed where they are not given, dynamic ones cut.
#include "compiler/emit/golden.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/text.h"
#include "schema/golden.h"
#include "schema/testing.h"

namespace aicf {
namespace {

using schema::testing::Elementwise;
using schema::testing::ProgramBuilder;

/// y = neg(x), of whose first axis the first `count` positions are data; and the input's dtype.
class AttachGoldenTest : public ::testing::Test {
 protected:
  AttachGoldenTest() {
    ProgramBuilder b;
    const uint32_t x = b.Input("x", {3, 2}), n = b.Input("n", {1}, DType::kI64);
    const uint32_t y = b.Output("y", {3, 2}), count = b.Output("count", {1}, DType::kI64);
    b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y});
    b.AddStep(Elementwise(abi::ExprOp::kAbs, DType::kI64), {n}, {count});
    contents_ = schema::testing::ContentsOf(b.Finish());
    contents_.program.entry_points[0].extents = {{0, 0, 1}};
    const auto lowered = ir::ParseLowered(R"(
lowered "cut"
%0 = input "x" f32 3x2
%1 = input "n" i64 1
%2 = output "y" f32 3x2
%3 = output "count" i64 1
inputs %0, %1
outputs %2, %3
extent 0 axis 0 count 1
step ["neg"] (%0) -> (%2) : elementwise math=fp32 core=1 in(f32 3x2 [2, 1]+0)
  out(f32 3x2 [2, 1]+0) pro id epi (%0 = in 0 : f32; %1 = neg %0 : f32) -> %1
step ["abs"] (%1) -> (%3) : elementwise math=fp32 core=1 in(i64 1 [1]+0) out(i64 1 [1]+0)
  pro id epi (%0 = in 0 : i64; %1 = abs %0 : i64) -> %1
)");
    EXPECT_TRUE(lowered.ok()) << lowered.status().ToString();
    lowered_ = *lowered;
  }
  static ir::Tensor Floats(const Dims& shape, const std::vector<float>& values) {
    return ir::Tensor::FromValues(DType::kF32, shape, std::span(values));
  }
  static ir::Tensor Count(int64_t value) {
    return ir::Tensor::FromValues(DType::kI64, {1}, std::span<const int64_t>(&value, 1));
  }
  Status Attach(const std::vector<GoldenSpec>& specs) {
    return AttachGolden(specs, {&lowered_}, contents_);
  }
  schema::Golden Attached() {
    EXPECT_TRUE(schema::Serialize(contents_).ok()) << "the section belongs to the program";
    const auto golden = schema::ParseGolden(contents_.golden);
    EXPECT_TRUE(golden.ok()) << golden.status().ToString();
    return golden.ok() ? *golden : schema::Golden{};
  }

  schema::Contents contents_;
  ir::Lowered lowered_;
  const ir::Tensor x_ = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
};

TEST_F(AttachGoldenTest, OutputsAreComputedAndCutToWhatTheyHold) {
  for (const int64_t count : {0, 2, 3, 9}) {
    ASSERT_TRUE(Attach({{.tensors = {{"x", x_}, {"n", Count(count)}}}}).ok());
    const schema::Golden golden = Attached();
    ASSERT_EQ(golden.samples.size(), 1u);
    const schema::GoldenSample& s = golden.samples[0];
    EXPECT_EQ(s.origin, schema::GoldenOrigin::kReference);
    EXPECT_EQ(s.atol, kGoldenTolerance);
    EXPECT_EQ(s.rtol, kGoldenTolerance);
    ASSERT_EQ(s.outputs.size(), 1u) << "the count is no output of the model";
    const int64_t rows = std::min<int64_t>(count, 3);
    EXPECT_EQ(s.outputs[0].shape, (Dims{rows, 2}));
    for (int64_t i = 0; i < rows * 2; ++i) {
      float value;
      std::memcpy(&value, &s.outputs[0].data[static_cast<size_t>(i) * 4], 4);
      EXPECT_EQ(value, -static_cast<float>(i + 1));
    }
  }
}

TEST_F(AttachGoldenTest, GivenOutputsAreKept) {
  GoldenSpec spec;
  spec.tensors = {{"x", x_}, {"n", Count(1)}, {"y", Floats({1, 2}, {7, 8})}};
  spec.rel = 0.5;
  ASSERT_TRUE(Attach({spec}).ok());
  const schema::Golden golden = Attached();
  const schema::GoldenSample& s = golden.samples[0];
  EXPECT_EQ(s.origin, schema::GoldenOrigin::kGiven);
  EXPECT_EQ(s.rel, 0.5);
  EXPECT_FALSE(s.atol.has_value());
  EXPECT_EQ(s.outputs[0].shape, (Dims{1, 2}));
}

TEST_F(AttachGoldenTest, WithoutSamplesThereIsNoSection) {
  ASSERT_TRUE(Attach({}).ok());
  EXPECT_TRUE(contents_.golden.empty());
}

TEST_F(AttachGoldenTest, MetasAreTakenAsGivenElseZero) {
  schema::EntryPoint& entry = contents_.program.entry_points[0];
  entry.metas = {entry.inputs.back()};
  entry.inputs.pop_back();
  entry.extents.clear();
  lowered_.extents.clear();
  ASSERT_TRUE(Attach({{.tensors = {{"x", x_}, {"n", Count(-2)}}}, {.tensors = {{"x", x_}}}}).ok());
  const auto golden = schema::ParseGolden(contents_.golden);
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  const int64_t expected[] = {2, 0};
  for (size_t i = 0; i < 2; ++i) {
    const schema::GoldenSample& sample = golden->samples[i];
    EXPECT_EQ(sample.inputs.size(), 2 - i);
    int64_t count = -1;
    ASSERT_EQ(sample.outputs.back().data.size(), sizeof count);
    std::memcpy(&count, sample.outputs.back().data.data(), sizeof count);
    EXPECT_EQ(count, expected[i]);
  }
  const ir::Tensor two = ir::Tensor::FromValues<int64_t>(DType::kI64, {2}, std::vector<int64_t>(2));
  const Status status = Attach({{.tensors = {{"x", x_}, {"n", two}}}});
  EXPECT_NE(status.message().find("meta 'n' is i64 2"), std::string::npos) << status.ToString();
}

TEST_F(AttachGoldenTest, FaultsNameSampleAndTensor) {
  const auto refused = [&](GoldenSpec spec, std::string_view part) {
    const GoldenSpec good{.tensors = {{"x", x_}, {"n", Count(1)}}};
    const Status status = Attach({good, std::move(spec)});
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("sample 2"), std::string::npos) << status.ToString();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.ToString();
    EXPECT_TRUE(contents_.golden.empty());
  };
  refused({.tensors = {{"x", x_}}}, "input 'n' is not given");
  refused({.tensors = {{"x", Count(1)}, {"n", Count(1)}}}, "input 'x' is i64 1, expected f32 3x2");
  refused({.tensors = {{"x", x_}, {"n", Count(1)}, {"y", Floats({4, 2}, std::vector<float>(8))}}},
          "output 'y' is f32 4x2");
  refused({.tensors = {{"x", x_}, {"n", Count(1)}, {"count", Count(1)}}}, "'count'");
}

TEST_F(AttachGoldenTest, TypesWithoutANumPyNameComeInTheirCarriers) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {2}, DType::kBF16);
  const uint32_t y = b.Output("y", {2}, DType::kBF16);
  b.AddStep(Elementwise(abi::ExprOp::kNeg, DType::kBF16), {x}, {y});
  contents_ = schema::testing::ContentsOf(b.Finish());
  const std::vector<uint16_t> bits = {0x3f80, 0x4000};
  const auto carrier = ir::Tensor::FromValues(DType::kU16, {2}, std::span(bits));
  ASSERT_TRUE(Attach({{.tensors = {{"x", carrier}, {"y", carrier}}}}).ok());
  EXPECT_EQ(Attached().samples[0].inputs[0].dtype, DType::kBF16);
}

}  // namespace
}  // namespace aicf
