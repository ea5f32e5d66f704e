// The recogniser end to end on the committed picture, with the models scripts/test.sh fetches.
#include <gtest/gtest.h>

#include <cstdlib>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "models/ppocr/image.h"
#include "models/ppocr/recognizer.h"
#include "tests/models/run.h"

namespace aicf::testing {
namespace {

constexpr char kText[] = "Shipped 1024 engines on 21 November 2026";

Result<std::string> ReadSample(const std::string& target, const std::string& device) {
  CompileOptions options;
  options.target = target;
  options.shapes["x"] = Dims{1, 3, 48, 640};
  const std::string model = std::string(std::getenv("AICF_PPOCR_MODELS")) + "/rec.onnx";
  AICF_ASSIGN_OR_RETURN(const CompileResult compiled, Compile(model, options));
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
  const Result<std::string> text = ReadSample(target, device);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*text, kText);
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
