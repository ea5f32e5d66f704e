#include "tests/models/run.h"

#include <dlfcn.h>

#include <cstdlib>

#include "compiler/codegen/nvrtc.h"
#include "tools/common/compare.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

Result<double> ErrorOf(Session& session, const TensorInfo& info, const CaseTensor& reference) {
  AICF_ASSIGN_OR_RETURN(const tools::NpyArray want, tools::ReadNpy(reference.file));
  if (want.dtype != info.dtype || want.shape != info.shape) {
    return Error(Code::kCheckFailed, "output '", info.name, "': expected ", DTypeName(want.dtype),
                 " ", ToString(want.shape), ", found ", DTypeName(info.dtype), " ",
                 ToString(info.shape));
  }
  std::vector<std::byte> got(info.bytes);
  AICF_RETURN_IF_ERROR(
      session.GetOutput(info.name, {info.dtype, info.shape, got.data(), got.size()}));
  return tools::Compare({info.dtype, got}, {want.dtype, want.data}, {}).max_scaled_error;
}

struct KnownError {
  std::string_view model, output;
  double error;
};

constexpr KnownError kKnownErrors[] = {
#define AICF_REFERENCE(model, output, error) {model, output, error},
#include "tests/models/reference_errors.inc"
#undef AICF_REFERENCE
};

}  // namespace

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

Result<std::vector<OutputError>> OutputErrors(const ModelCase& c,
                                              std::shared_ptr<const Program> program,
                                              const std::string& device) {
  SessionOptions options;
  options.device = device;
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Create(program, options));
  for (const CaseTensor& t : c.inputs) {
    AICF_ASSIGN_OR_RETURN(const tools::NpyArray in, tools::ReadNpy(t.file));
    AICF_RETURN_IF_ERROR(
        session->SetInput(t.name, {in.dtype, in.shape, in.data.data(), in.data.size()}));
  }
  AICF_RETURN_IF_ERROR(session->Run());
  std::vector<OutputError> errors;
  for (const CaseTensor& t : c.outputs) {
    for (const TensorInfo& info : program->outputs()) {
      if (info.name != t.name) continue;
      AICF_ASSIGN_OR_RETURN(const double error, ErrorOf(*session, info, t));
      errors.push_back({t.name, error});
    }
  }
  if (errors.size() != c.outputs.size()) {
    return Error(Code::kCheckFailed, "the artifact has ", errors.size(), " of the model's ",
                 c.outputs.size(), " outputs");
  }
  return errors;
}

double ReferenceError(std::string_view model, std::string_view output) {
  for (const KnownError& known : kKnownErrors) {
    if (known.model == model && (known.output == "*" || known.output == output)) return known.error;
  }
  return 0;
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
