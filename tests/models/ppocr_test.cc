// The recogniser end to end on the committed picture, with the models scripts/test.sh fetches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "models/ppocr/image.h"
#include "models/ppocr/recognizer.h"
#include "tests/models/run.h"

namespace aicf::testing {
namespace {

constexpr char kText[] = "Shipped 1024 engines on 21 November 2026";

Result<CompileResult> CompileRecogniser(CompileOptions options) {
  options.shapes["x"] = Dims{1, 3, 48, 640};
  return Compile(std::string(std::getenv("AICF_PPOCR_MODELS")) + "/rec.onnx", options);
}

Result<std::string> ReadSample(const CompileResult& compiled, const std::string& device) {
  AICF_ASSIGN_OR_RETURN(auto program, Program::FromBytes(compiled.bytes));
  SessionOptions session_options;
  session_options.device = device;
  AICF_ASSIGN_OR_RETURN(auto session, Session::Create(program, session_options));
  AICF_ASSIGN_OR_RETURN(const ppocr::Image image,
                        ppocr::ReadPng(AICF_SOURCE_DIR "/models/ppocr/data/shipped.png"));
  const std::vector<float> x = ppocr::Preprocess(image, 48, 640);
  AICF_RETURN_IF_ERROR(session->SetInput("x", TensorOf(x, {1, 3, 48, 640})));
  AICF_RETURN_IF_ERROR(session->Run());
  const TensorInfo& out = program->outputs()[0];
  std::vector<float> scores(out.bytes / sizeof(float));
  AICF_RETURN_IF_ERROR(session->GetOutput(out.name, TensorInto(scores, out.shape)));
  return ppocr::DecodeCtc(scores, static_cast<int>(out.shape.back()),
                          ppocr::ParseDictionary(program->metadata("character")));
}

void ExpectText(const std::string& target, const std::string& device) {
  CompileOptions options;
  options.target = target;
  const Result<CompileResult> compiled = CompileRecogniser(options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  const Result<std::string> text = ReadSample(*compiled, device);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*text, kText);
}

// The picture as other photographs of it might be: its left part, darker or brighter, with noise.
CalibrationSample Photograph(const ppocr::Image& image, int number) {
  std::mt19937 random(static_cast<uint32_t>(number));
  std::normal_distribution<float> noise(0, 4);
  ppocr::Image part;
  part.width = image.width * (9 - number) / 10;
  part.height = image.height;
  for (int y = 0; y < image.height; ++y) {
    for (int i = 0; i < 3 * part.width; ++i) {
      const auto pixel =
          static_cast<float>(image.rgb[static_cast<size_t>(3 * y * image.width + i)]);
      const float changed = pixel * (0.8f + 0.1f * static_cast<float>(number)) + noise(random);
      part.rgb.push_back(static_cast<uint8_t>(std::clamp(changed, 0.0f, 255.0f)));
    }
  }
  const std::vector<float> x = ppocr::Preprocess(part, 48, 640);
  CalibrationSample sample{"photograph", {}};
  sample.tensors.emplace(
      "", ir::Tensor::FromValues<float>(DType::kF32, {1, 3, 48, 640}, std::span<const float>(x)));
  return sample;
}

class PpOcr : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("AICF_PPOCR_MODELS") == nullptr) {
      GTEST_SKIP() << "AICF_PPOCR_MODELS is unset (models/fetch.sh ppocr fetches them)";
    }
  }
};
using GpuPpOcr = PpOcr;

TEST_F(PpOcr, ReadsTheLineOnTheCpu) { ExpectText("cpu", "cpu"); }

// Four samples, none of which is the picture that it reads then.
TEST_F(PpOcr, ReadsTheLineInIntegers) {
  const auto image = ppocr::ReadPng(AICF_SOURCE_DIR "/models/ppocr/data/shipped.png");
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  CompileOptions options;
  options.precision = DType::kI8;
  for (int i = 0; i < 4; ++i) options.calibrate.samples.push_back(Photograph(*image, i));
  const Result<CompileResult> compiled = CompileRecogniser(options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  int integers = 0;
  for (const Decision& d : compiled->decisions.decisions()) {
    integers += d.kind == DecisionKind::kOperands && d.choice == "i8" ? 1 : 0;
  }
  EXPECT_GE(integers, 16) << "of its 47 products";
  const Result<std::string> text = ReadSample(*compiled, "cpu");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*text, kText);
}

TEST_F(PpOcr, ReadsTheLineWithACudaPlanOnTheReferenceKernels) {
  if (!HasNvrtc()) GTEST_SKIP() << "NVRTC is not here: no CUDA plan can be compiled";
  ExpectText("cuda:sm_90a", "cpu");
}

TEST_F(GpuPpOcr, ReadsTheLineOnTheGpu) {
  if (!HasGpu()) GTEST_SKIP() << "no CUDA device here";
  ExpectText("cuda:sm_90a", "cuda:0");
}

}  // namespace
}  // namespace aicf::testing
