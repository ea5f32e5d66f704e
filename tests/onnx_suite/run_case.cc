#include "tests/onnx_suite/run_case.h"

#include <dlfcn.h>

#include <algorithm>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "compiler/ir/constant_inputs.h"
#include "tools/common/compare.h"
#include "tools/common/output.h"

namespace aicf::testing {
namespace {

struct Inputs {
  std::map<std::string, ir::Tensor, std::less<>> data;
  std::map<std::string, ir::Tensor, std::less<>> bound;
};

// arange(n) / n in the model's own shape.
Result<ir::Tensor> LightInput(const ir::Value& input) {
  const std::optional<int64_t> count = ElementCount(input.shape);
  if (!count) return Error(Code::kUnsupported, "input ", input.name, " has an open shape");
  std::vector<float> values(static_cast<size_t>(*count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(*count));
  }
  return ir::Tensor::FromValues<float>(DType::kF32, input.shape, std::span<const float>(values));
}

Result<Inputs> ReadInputs(const SuiteCase& c) {
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, ImportOnnx(c.model));
  std::vector<ir::Tensor> given;
  if (!c.data.empty()) {
    AICF_ASSIGN_OR_RETURN(given, ReadTensors(c, "input"));
  }
  const std::vector<ir::ValueId> bind = ir::InputsToBind(graph);
  Inputs inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Value& value = graph.values[graph.inputs[i]];
    if (c.data.empty()) {
      AICF_ASSIGN_OR_RETURN(inputs.data[value.name], LightInput(value));
      continue;
    }
    if (i >= given.size()) return Error(Code::kIo, "no value for input ", value.name);
    const bool constant = std::ranges::find(bind, graph.inputs[i]) != bind.end();
    (constant ? inputs.bound : inputs.data)[value.name] = given[i];
  }
  return inputs;
}

Result<std::shared_ptr<const Program>> CompileCase(const SuiteCase& c, const SuiteTarget& target,
                                                   const Inputs& inputs) {
  CompileOptions options;
  options.target = target.target;
  options.images = target.images;
  options.values = inputs.bound;
  for (const auto& [name, tensor] : inputs.data) options.shapes[name] = tensor.shape();
  AICF_ASSIGN_OR_RETURN(const CompileResult compiled, Compile(c.model, options));
  return Program::FromBytes(compiled.bytes);
}

Status CheckOutput(const SuiteCase& c, Session& session, const TensorInfo& output,
                   const ir::Tensor& want) {
  AICF_ASSIGN_OR_RETURN(const tools::OutputData got, tools::ReadOutput(session, output));
  const TensorInfo& info = got.info;
  if (want.dtype() != info.dtype || want.shape() != info.shape) {
    return Error(Code::kCheckFailed, "output '", info.name, "': expected ", DTypeName(want.dtype()),
                 " ", ToString(want.shape()), ", found ", DTypeName(info.dtype), " ",
                 ToString(info.shape));
  }
  const SuiteTolerance t = ToleranceOf(c);
  const tools::Comparison result =
      tools::Compare({info.dtype, got.data}, {want.dtype(), want.bytes()}, {t.atol, t.rtol, {}});
  if (result.pass) return OkStatus();
  return Error(Code::kCheckFailed, "output '", info.name, "': ", result.mismatches, " of ",
               result.elements, " elements differ, worst at ",
               tools::IndexText(result.worst, info.shape), ": got ", result.got, ", expected ",
               result.expected);
}

// Some versions of the suite store the bits of a bf16 input as numbers of u16.
DType StoredDType(const Program& program, std::string_view name, DType stored) {
  const std::vector<TensorInfo>& inputs = program.inputs();
  const auto input = std::ranges::find(inputs, name, &TensorInfo::name);
  const bool bits = input != inputs.end() && input->dtype == DType::kBF16 && stored == DType::kU16;
  return bits ? DType::kBF16 : stored;
}

Status RunProgram(const SuiteCase& c, std::shared_ptr<const Program> program,
                  const SuiteTarget& target, const Inputs& inputs) {
  SessionOptions options;
  options.device = target.device;
  options.threads = 1;
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Create(program, options));
  for (const auto& [name, tensor] : inputs.data) {
    const auto data = tensor.bytes();
    const DType dtype = StoredDType(*program, name, tensor.dtype());
    AICF_RETURN_IF_ERROR(
        session->SetInput(name, {dtype, tensor.shape(), data.data(), data.size()}));
  }
  AICF_RETURN_IF_ERROR(session->Run());
  AICF_ASSIGN_OR_RETURN(const std::vector<ir::Tensor> want,
                        c.data.empty() ? ReadLightOutputs(c) : ReadTensors(c, "output"));
  const std::vector<TensorInfo>& outputs = program->outputs();
  if (want.size() != outputs.size()) {
    return Error(Code::kCheckFailed, "expected ", want.size(), " outputs, found ", outputs.size());
  }
  for (size_t i = 0; i < want.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckOutput(c, *session, outputs[i], want[i]));
  }
  return OkStatus();
}

}  // namespace

Status RunCase(const SuiteCase& c, const SuiteTarget& target) {
  AICF_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(c));
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program, CompileCase(c, target, inputs));
  return RunProgram(c, std::move(program), target, inputs);
}

bool HasGpuDevice() {
  static const bool found = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return false;
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    return init != nullptr && init(0) == 0;
  }();
  return found;
}

}  // namespace aicf::testing
