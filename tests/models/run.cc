#include "tests/models/run.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "compiler/codegen/nvrtc.h"
#include "runtime/step_by_step.h"
#include "schema/artifact.h"
#include "tests/models/rounded_steps.h"
#include "tools/common/compare.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

Result<double> ErrorOf(const TensorInfo& info, std::span<const std::byte> got,
                       const CaseTensor& reference) {
  AICF_ASSIGN_OR_RETURN(const tools::NpyArray want, tools::ReadNpy(reference.file));
  if (want.dtype != info.dtype || want.shape != info.shape) {
    return Error(Code::kCheckFailed, "output '", info.name, "': expected ", DTypeName(want.dtype),
                 " ", ToString(want.shape), ", found ", DTypeName(info.dtype), " ",
                 ToString(info.shape));
  }
  return tools::Compare({info.dtype, got}, {want.dtype, want.data}, {}).max_scaled_error;
}

using ReadOutput = std::function<Status(size_t output, std::vector<std::byte>& to)>;

Result<std::vector<OutputError>> CompareOutputs(const ModelCase& c, const Program& program,
                                                const ReadOutput& read) {
  std::vector<OutputError> errors;
  const std::vector<TensorInfo>& infos = program.outputs();
  for (const CaseTensor& t : c.outputs) {
    for (size_t i = 0; i < infos.size(); ++i) {
      if (infos[i].name != t.name) continue;
      std::vector<std::byte> got(infos[i].bytes);
      AICF_RETURN_IF_ERROR(read(i, got));
      AICF_ASSIGN_OR_RETURN(const double error, ErrorOf(infos[i], got, t));
      errors.push_back({t.name, error});
    }
  }
  if (errors.size() != c.outputs.size()) {
    return Error(Code::kCheckFailed, "the artifact has ", errors.size(), " of the model's ",
                 c.outputs.size(), " outputs");
  }
  return errors;
}

// A CUDA plan in the mode whose constants are rounded as its products round them.
Result<std::shared_ptr<const Program>> CompileRounded(const ModelCase& c, abi::MathMode math) {
  CompileOptions options;
  options.target = "cuda:sm_90a";
  options.math = math;
  options.images = false;
  for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
  options.nan_branches = true;  // see ModelCase
  AICF_ASSIGN_OR_RETURN(CompileResult compiled, Compile(c.model, options));
  AICF_RETURN_IF_ERROR(RoundWeights(compiled.contents.program, compiled.contents.weights));
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(compiled.contents));
  return Program::FromBytes(bytes);
}

constexpr ReferenceRow kReferences[] = {
#define AICF_REFERENCE(model, output, engine, depth, fp32, tf32, fp16) \
  {model, output, engine, depth, fp32, tf32, fp16},
#include "tests/models/reference_errors.inc"
#undef AICF_REFERENCE
};

double PriceOf(const ReferenceRow& row, abi::MathMode math) {
  return math == abi::MathMode::kTf32 ? row.tf32 : row.fp16;
}

double RandomWalk(const ReferenceRow& row) {
  return 4 * 0x1p-11 * std::sqrt(static_cast<double>(std::max(row.depth, 1)));
}

}  // namespace

Result<std::vector<std::byte>> CompileBytes(const ModelCase& c, const std::string& target,
                                            abi::MathMode math, DType precision) {
  CompileOptions options;
  options.target = target;
  options.math = math;
  options.precision = precision;
  for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
  options.nan_branches = true;  // see ModelCase
  AICF_ASSIGN_OR_RETURN(CompileResult result, Compile(c.model, options));
  return std::move(result.bytes);
}

Result<std::shared_ptr<const Program>> CompileCase(const ModelCase& c, const std::string& target,
                                                   abi::MathMode math, DType precision) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                        CompileBytes(c, target, math, precision));
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
  return CompareOutputs(c, *program, [&](size_t i, std::vector<std::byte>& to) {
    const TensorInfo& info = program->outputs()[i];
    return session->GetOutput(info.name, {info.dtype, info.shape, to.data(), to.size()});
  });
}

Result<std::vector<OutputError>> RoundedOutputErrors(const ModelCase& c, abi::MathMode math) {
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program, CompileRounded(c, math));
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<StepByStep> steps, MakeRoundedSteps(program));
  const schema::Program& plan = program->artifact().program();
  const schema::EntryPoint& entry = plan.entry_points[0];
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    for (const CaseTensor& t : c.inputs) {
      if (t.name != program->inputs()[i].name) continue;
      AICF_ASSIGN_OR_RETURN(const tools::NpyArray in, tools::ReadNpy(t.file));
      AICF_RETURN_IF_ERROR(steps->Write(entry.inputs[i], in.data.data()));
    }
  }
  AICF_RETURN_IF_ERROR(WalkSteps(*steps, plan, 0, [&](const StepVisit& visit) {
    return visit.runs ? steps->RunStep(visit.step) : OkStatus();
  }));
  return CompareOutputs(c, *program, [&](size_t i, std::vector<std::byte>& to) {
    return steps->Read(entry.outputs[i], to.data());
  });
}

const ReferenceRow* FindReference(std::string_view model, std::string_view output) {
  for (const ReferenceRow& row : kReferences) {
    if (row.model == model && row.output == output) return &row;
  }
  return nullptr;
}

bool Amplifies(const ReferenceRow& row, abi::MathMode math) {
  return 2 * PriceOf(row, math) > RandomWalk(row);
}

double OutputTolerance(const ReferenceRow& row, abi::MathMode math, bool stores_half) {
  if (math == abi::MathMode::kFp32) {
    const double own = (stores_half ? 2e-2 : 1e-4) + row.engine;
    return row.fp32 > own ? row.fp32 + 1e-4 : own;
  }
  const double walk = RandomWalk(row);
  return (Amplifies(row, math) ? 2 * PriceOf(row, math) : walk) + row.engine;
}

double StorageTolerance(const ReferenceRow& row) {
  return 2 * OutputTolerance(row, abi::MathMode::kFp16, /*stores_half=*/true);
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
