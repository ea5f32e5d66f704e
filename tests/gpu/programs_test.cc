/// Checks the programs of the GPU tests on machines without a GPU: they compile and verify, and the
/// reference kernels execute the plan that is made for CUDA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/codegen/nvrtc.h"
#include "compiler/ir/text.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/loop_program.h"

namespace aicf::gpu {
namespace {

std::shared_ptr<const Program> CompileOrNull(const ir::Lowered& lowered) {
  auto program = CompileLowered(lowered);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : nullptr;
}

TEST(Programs, TheMixedProgramMeansWhatItSays) {
  if (!Nvrtc::Open().ok()) GTEST_SKIP() << Nvrtc::Open().status().message();
  constexpr int64_t kRows = 5;
  constexpr int64_t kCols = 7;
  const auto program = CompileOrNull(MixedProgram(kRows, kCols));
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->target(), "cuda:sm_90a");
  const std::vector<float> x = RandomValues(kRows * kCols, 20);
  const std::vector<float> shift = RandomValues(kCols, 1);
  const std::vector<float> weights = RandomValues(kCols * kCols, 2);
  std::vector<float> expected(x.size());
  for (int64_t r = 0; r < kRows; ++r) {
    double product[kCols] = {};
    double sum = 0;
    double shares = 0;
    for (int64_t c = 0; c < kCols; ++c) {
      for (int64_t k = 0; k < kCols; ++k) {
        product[c] +=
            std::sin(static_cast<double>(x[r * kCols + k]) + shift[k]) * weights[k * kCols + c];
      }
      sum += product[c];
      shares += std::exp(product[c]);
    }
    for (int64_t c = 0; c < kCols; ++c) {
      expected[r * kCols + c] = static_cast<float>(std::exp(product[c]) / shares * sum);
    }
  }
  EXPECT_LT(RelativeError(Reference(program, x), expected), 1e-5);
}

TEST(Programs, TheLoopProgramMeansWhatItSays) {
  if (!Nvrtc::Open().ok()) GTEST_SKIP() << Nvrtc::Open().status().message();
  const auto lowered = ir::ParseLowered(kLoopProgram);
  ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
  const auto program = CompileOrNull(*lowered);
  ASSERT_NE(program, nullptr);
  EXPECT_GE(program->artifact().program().guard_image, 0);
  SessionOptions options;
  options.device = "cpu";
  const auto session = Session::Create(program, options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const std::vector<float> x(256, 2.5f);
  for (const int limit : {0, 1, 2, 6}) {
    for (const bool flag : {true, false}) {
      const auto bound = static_cast<float>(limit);
      std::vector<float> y(256);
      ASSERT_TRUE((*session)->SetInput("limit", TensorOf(std::span(&bound, 1))).ok());
      ASSERT_TRUE((*session)->SetInput("flag", TensorOf(std::span(&flag, 1))).ok());
      ASSERT_TRUE((*session)->SetInput("x", TensorOf(x)).ok());
      ASSERT_TRUE((*session)->Run().ok());
      ASSERT_TRUE((*session)->GetOutput("y", TensorInto(y)).ok());
      for (float v : y) ASSERT_NEAR(v, LoopProgramExpected(2.5f, limit, flag), 1e-4) << limit;
    }
  }
}

TEST(Programs, ALibraryStepVerifiesAndRunsOnTheReferenceKernels) {
  constexpr int64_t kRows = 3, kDepth = 17, kCols = 5;
  FixedAlgorithm library({std::vector<uint8_t>(64, 1), 130000, 4096});
  const auto contents = CompileToContents(DenseLayer(kRows, kDepth, kCols), &library);
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  EXPECT_EQ(contents->program.steps[0].kernel, "cublaslt.matmul");
  const auto bytes = schema::Serialize(*contents);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const auto program = Program::FromBytes(*bytes);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  const std::vector<float> x = RandomValues(kRows * kDepth, 21);
  const std::vector<float> w = RandomValues(kDepth * kCols, 40);
  const std::vector<float> bias = RandomValues(kCols, 41);
  std::vector<float> expected(kRows * kCols);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kCols; ++c) {
      double sum = bias[c];
      for (int64_t k = 0; k < kDepth; ++k) {
        sum += static_cast<double>(x[r * kDepth + k]) * w[k * kCols + c];
      }
      expected[r * kCols + c] = static_cast<float>(std::max(sum, 0.0));
    }
  }
  EXPECT_LT(RelativeError(Reference(*program, x), expected), 1e-5);
}

TEST(Programs, RelativeErrorSeesDifferencesAndNaN) {
  EXPECT_EQ(RelativeError({1, 2}, {1, 2}), 0);
  EXPECT_NEAR(RelativeError({1, 2.5f}, {1, 2}), 0.25, 1e-9);
  EXPECT_TRUE(std::isinf(RelativeError({NAN, 2}, {1, 2})));
}

}  // namespace
}  // namespace aicf::gpu
