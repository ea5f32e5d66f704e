#include "tests/models/run.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/codegen/nvrtc.h"
#include "tools/common/compare.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

Result<double> ErrorOf(Session& session, const TensorInfo& info, const CaseTensor& reference) {
  AICF_ASSIGN_OR_RETURN(const tools::NpyArray want, tools::ReadNpy(reference.file));
  if (want.dtype != info.dtype || want.shape != info.shape) {
    return Error(Code::kCheckFailed, "output '", info.name, "': expected ", DTypeName(want.dtype), " ",
                 ToString(want.shape), ", found ", DTypeName(info.dtype), " ", ToString(info.shape));
  }
  std::vector<std::byte> got(info.bytes);
  AICF_RETURN_IF_ERROR(session.GetOutput(info.name, got.data(), got.size()));
  return tools::Compare({info.dtype, got}, {want.dtype, want.data}, {}).max_scaled_error;
}

}  // namespace

std::vector<ModelCase> SupportedCases() {
  std::vector<ModelCase> supported;
  for (ModelCase& c : LoadCases()) {
    for (const char* prefix :
         {"ppocr", "mnist", "squeezenet", "super_resolution", "dtln", "silero"}) {
      if (c.name.starts_with(prefix)) {
        supported.push_back(std::move(c));
        break;
      }
    }
  }
  return supported;
}

Result<std::vector<std::byte>> CompileBytes(const ModelCase& c, const std::string& target,
                                            abi::MathMode math) {
  CompileOptions options;
  options.target = target;
  options.math = math;
  for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
  AICF_ASSIGN_OR_RETURN(CompileResult result, Compile(c.model, options));
  return std::move(result.bytes);
}

Result<std::shared_ptr<const Program>> CompileCase(const ModelCase& c, const std::string& target,
                                                   abi::MathMode math) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, CompileBytes(c, target, math));
  return Program::FromBytes(bytes);
}

Result<double> WorstError(const ModelCase& c, std::shared_ptr<const Program> program,
                          const std::string& device) {
  SessionOptions options;
  options.device = device;
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Create(program, options));
  for (const CaseTensor& t : c.inputs) {
    AICF_ASSIGN_OR_RETURN(const tools::NpyArray in, tools::ReadNpy(t.file));
    AICF_RETURN_IF_ERROR(session->SetInput(t.name, in.data.data(), in.data.size()));
  }
  AICF_RETURN_IF_ERROR(session->Run());
  double worst = 0;
  for (const CaseTensor& t : c.outputs) {
    for (const TensorInfo& info : program->outputs()) {
      if (info.name != t.name) continue;
      AICF_ASSIGN_OR_RETURN(const double error, ErrorOf(*session, info, t));
      worst = std::max(worst, error);
    }
  }
  return worst;
}

bool HasGpu() {
  static const bool found = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return false;
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    return init != nullptr && init(0) == 0;
  }();
  return found;
}

bool HasNvrtc() { return Nvrtc::Open().ok(); }

}  // namespace aicf::testing
