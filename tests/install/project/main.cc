// y = x + x of a small artifact, through the installed C++ interface.
#include <aicf/aicf.h>
#include <aicf/log.h>

#include <cstdio>
#include <vector>

namespace {

aicf::Status Run(const char* path) {
  AICF_ASSIGN_OR_RETURN(const auto program, aicf::Program::Load(path));
  AICF_ASSIGN_OR_RETURN(const auto session, aicf::Session::Create(program, {.device = "cpu"}));
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> y(6);
  AICF_RETURN_IF_ERROR(session->SetInput("x", aicf::TensorOf(x, {2, 3})));
  AICF_RETURN_IF_ERROR(session->Run());
  AICF_RETURN_IF_ERROR(session->GetOutput("y", aicf::TensorInto(y, {2, 3})));
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] != 2 * x[i]) return aicf::Error(aicf::Code::kCheckFailed, "y[", i, "] is ", y[i]);
  }
  const aicf::Status turned = session->SetInput("x", aicf::TensorOf(x, {3, 2}));
  if (turned.message() != "input 'x': expected f32 2x3, got f32 3x2") {
    return aicf::Error(aicf::Code::kCheckFailed, "a turned shape: ", turned.ToString());
  }
  return aicf::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  aicf::SetLogSink([](aicf::LogLevel, std::string_view) {});
  const aicf::Status status = Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return aicf::ExitCode(status.code());
}
