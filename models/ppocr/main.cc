// Reads one line of text from a picture: an example of embedding aicf.
//   ppocr-read REC.aicf LINE.png
#include <cstdio>

#include "aicf/aicf.h"
#include "models/ppocr/image.h"
#include "models/ppocr/recognizer.h"

namespace {

aicf::Result<std::string> ReadLine(const std::string& artifact, const std::string& picture) {
  AICF_ASSIGN_OR_RETURN(auto program, aicf::Program::Load(artifact));
  const aicf::TensorInfo& in = program->inputs()[0];
  const aicf::TensorInfo& out = program->outputs()[0];
  AICF_ASSIGN_OR_RETURN(const ppocr::Image image, ppocr::ReadPng(picture));
  const std::vector<float> pixels =
      ppocr::Preprocess(image, static_cast<int>(in.shape[2]), static_cast<int>(in.shape[3]));
  AICF_ASSIGN_OR_RETURN(auto session, aicf::Session::Create(program, {}));
  AICF_RETURN_IF_ERROR(session->SetInput(in.name, aicf::TensorOf(pixels, in.shape)));
  AICF_RETURN_IF_ERROR(session->Run());
  std::vector<float> scores(out.bytes / sizeof(float));
  AICF_RETURN_IF_ERROR(session->GetOutput(out.name, aicf::TensorInto(scores, out.shape)));
  return ppocr::DecodeCtc(scores, static_cast<int>(out.shape.back()),
                          ppocr::ParseDictionary(program->metadata("character")));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ppocr-read REC.aicf LINE.png\n");
    return 2;
  }
  const aicf::Result<std::string> text = ReadLine(argv[1], argv[2]);
  if (!text.ok()) {
    std::fprintf(stderr, "ppocr-read: %s\n", text.status().ToString().c_str());
    return aicf::ExitCode(text.status().code());
  }
  std::printf("%s\n", (*text).c_str());
  return 0;
}
