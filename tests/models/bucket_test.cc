// Buckets of a real model, the recogniser that scripts/test.sh fetches: widths exactly, batches
// padded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "aicf/aicf.h"
#include "compiler/compiler.h"

namespace aicf::testing {
namespace {

class Buckets : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("AICF_PPOCR_MODELS");
    if (folder == nullptr) {
      GTEST_SKIP() << "AICF_PPOCR_MODELS is unset (models/fetch.sh ppocr fetches them)";
    }
    model_ = std::string(folder) + "/rec.onnx";
  }
  std::shared_ptr<const Program> CompileFor(const CompileOptions& options) {
    const auto compiled = Compile(model_, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
    if (!compiled.ok()) return nullptr;
    auto program = Program::FromBytes(compiled->bytes);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return program.ok() ? *program : nullptr;
  }
  std::string model_;
};

std::vector<float> Picture(const Dims& shape) {
  std::vector<float> x(static_cast<size_t>(*ElementCount(shape)));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.37f * static_cast<float>(i % 9973));
  return x;
}

std::vector<float> RunAt(const std::shared_ptr<const Program>& program, const Dims& shape,
                         Session* session) {
  const InputShape input{"x", shape};
  EXPECT_TRUE(session->SelectShapes({&input, 1}).ok()) << ToString(shape);
  const std::vector<float> x = Picture(shape);
  EXPECT_TRUE(session->SetInput("x", TensorOf(x, shape)).ok());
  EXPECT_TRUE(session->Run().ok());
  const std::string& name = program->outputs()[0].name;
  const auto out = session->OutputShape(name);
  EXPECT_TRUE(out.ok());
  EXPECT_EQ((*out)[0], shape[0]);
  std::vector<float> y(static_cast<size_t>(*ElementCount(*out)));
  EXPECT_TRUE(session->GetOutput(name, TensorInto(y, *out)).ok());
  return y;
}

std::vector<float> RunAlone(const std::shared_ptr<const Program>& program, const Dims& shape) {
  auto session = Session::Create(program, {});
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return session.ok() ? RunAt(program, shape, session->get()) : std::vector<float>();
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - want[i]));
  }
  EXPECT_LE(worst, tolerance);
}

TEST_F(Buckets, WidthsAreEntryPointsThatShareTheirWeights) {
  CompileOptions options;
  options.buckets = {{"narrow", {{"x", {1, 3, 48, 160}}}}, {"wide", {{"x", {1, 3, 48, 320}}}}};
  const auto both = CompileFor(options);
  ASSERT_NE(both, nullptr);
  ASSERT_EQ(both->entries().size(), 2u);
  auto session = Session::Create(both, {});
  ASSERT_TRUE(session.ok());
  for (int round = 0; round < 2; ++round) {
    for (const int64_t width : {160, 320}) {
      const Dims shape{1, 3, 48, width};
      CompileOptions one;
      one.shapes["x"] = shape;
      const auto alone = CompileFor(one);
      ASSERT_NE(alone, nullptr);
      EXPECT_EQ(RunAt(both, shape, session->get()), RunAlone(alone, shape));
      EXPECT_LT(both->weights_bytes(), alone->weights_bytes() * 3 / 2);
    }
  }
  // Columns know of each other: no width between the two.
  const InputShape between{"x", {1, 3, 48, 240}};
  const Status refused = (*session)->SelectShapes({&between, 1});
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("'narrow': x 1x3x48x160; 'wide': x 1x3x48x320"),
            std::string::npos)
      << refused.message();
}

TEST_F(Buckets, ABatchOfThreeRunsPaddedToSix) {
  for (const std::string target : {"cpu", "cuda:sm_90a"}) {
    CompileOptions options;
    options.target = target;
    options.images = false;
    const Dims six{6, 3, 48, 64}, three{3, 3, 48, 64};
    options.buckets = {{"six", {{"x", six}}}};
    const auto program = CompileFor(options);
    ASSERT_NE(program, nullptr);
    EXPECT_EQ(program->inputs()[0].min_shape, (Dims{1, 3, 48, 64}));
    options.buckets.clear();
    options.shapes["x"] = three;
    const auto exact = CompileFor(options);
    ASSERT_NE(exact, nullptr);
    SessionOptions on_cpu;
    on_cpu.device = "cpu";
    auto session = Session::Create(program, on_cpu), alone = Session::Create(exact, on_cpu);
    ASSERT_TRUE(session.ok() && alone.ok());
    ExpectNear(RunAt(program, three, session->get()), RunAt(exact, three, alone->get()), 1e-6);
  }
}

}  // namespace
}  // namespace aicf::testing
