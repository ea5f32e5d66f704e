#include <sys/mman.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "compiler/import/file.h"
#include "tests/faults/graphs/request.h"

namespace aicf::graphs {
namespace {

Dims ToDims(const Json& shape) {
  return Dims(std::span<const int64_t>(shape.get<std::vector<int64_t>>()));
}

Result<CompileOptions> OptionsFor(const Json& way) {
  CompileOptions options;
  options.target = way.at("target");
  options.images = false;
  for (const Json& name : way.value("off", Json::array())) {
    options.passes.disabled.insert(name.get<std::string>());
  }
  AICF_ASSIGN_OR_RETURN(options.precision, ParsePrecision(way.value("precision", "fp32")));
  options.math = abi::ParseMathMode(way.value("math", "fp32")).value();
  for (const Json& pair : way.value("states", Json::array())) {
    options.states.push_back({pair[0], pair[1]});
  }
  for (const Json& bucket : way.value("buckets", Json::array())) {
    Bucket made{bucket.at("name"), {}};
    for (const auto& [input, shape] : bucket.at("shapes").items()) {
      made.shapes[input] = ToDims(shape);
    }
    options.buckets.push_back(std::move(made));
  }
  return options;
}

Result<std::vector<std::byte>> CompileModel(const Request& request, const CompileOptions& options) {
  const FileDescriptor fd(memfd_create("model", MFD_CLOEXEC));
  const auto written = write(fd.get(), request.model.data(), request.model.size());
  if (written != static_cast<ssize_t>(request.model.size())) {
    return Error(Code::kIo, "the model cannot be written");
  }
  AICF_ASSIGN_OR_RETURN(CompileResult result, Compile(StrCat("/proc/self/fd/", fd.get()), options));
  return std::move(result.bytes);
}

// From the program that the artifact carries, instead of the model.
Status CompileAgain(const std::vector<std::byte>& bytes) {
  AICF_ASSIGN_OR_RETURN(const auto artifact,
                        schema::Artifact::Parse(bytes, /*with_optional=*/true));
  AICF_ASSIGN_OR_RETURN(CompileOptions options, OptionsOf(*artifact));
  options.images = false;
  AICF_ASSIGN_OR_RETURN(const CompileResult again, Recompile(artifact, options));
  if (again.bytes == bytes) return OkStatus();
  return Error(Code::kInternal, "compiled again, the artifact has other bytes");
}

Status SetTensors(const Request& request, const Json& run, Session& session) {
  std::vector<InputShape> shapes;
  for (const Json& index : run) {
    const RequestTensor& t = request.tensors.at(index);
    shapes.push_back({t.name, t.shape});
  }
  AICF_RETURN_IF_ERROR(session.SelectShapes(shapes));
  for (const Json& index : run) {
    const RequestTensor& t = request.tensors.at(index);
    AICF_RETURN_IF_ERROR(
        session.SetInput(t.name, {t.dtype, t.shape, t.data.data(), t.data.size()}));
  }
  return OkStatus();
}

Status AppendOutputs(const Program& program, Session& session, Answer& answer, Json& outputs) {
  for (const TensorInfo& info : program.entries()[session.selected_entry()].outputs) {
    AICF_ASSIGN_OR_RETURN(const Dims shape, session.OutputShape(info.name));
    const auto bytes = static_cast<size_t>(*ElementCount(shape) * DTypeBytes(info.dtype));
    const size_t at = answer.bytes.size();
    answer.bytes.resize(at + bytes);
    AICF_RETURN_IF_ERROR(
        session.GetOutput(info.name, {info.dtype, shape, answer.bytes.data() + at, bytes}));
    outputs.push_back({{"name", info.name},
                       {"dtype", std::string(DTypeName(info.dtype))},
                       {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
                       {"bytes", bytes}});
  }
  return OkStatus();
}

Status RunAll(const Request& request, const Json& way,
              const std::shared_ptr<const Program>& program, Session& session, Answer& answer) {
  for (const Json& run : way.at("runs")) {
    AICF_RETURN_IF_ERROR(SetTensors(request, run, session));
    AICF_RETURN_IF_ERROR(session.Run());
    Json outputs = Json::array();
    AICF_RETURN_IF_ERROR(AppendOutputs(*program, session, answer, outputs));
    answer.header["runs"].push_back(std::move(outputs));
  }
  return OkStatus();
}

Answer Failed(const char* stage, const Status& status) {
  Answer answer;
  answer.header["error"] = {
      {"stage", stage}, {"code", ExitCode(status.code())}, {"message", status.ToString()}};
  return answer;
}

}  // namespace

Answer CompileAndRun(const Request& request, const Json& way) {
  Answer answer;
  answer.header["runs"] = Json::array();
  const auto options = OptionsFor(way);
  if (!options.ok()) return Failed("options", options.status());
  const auto bytes = CompileModel(request, *options);
  if (!bytes.ok()) return Failed("compile", bytes.status());
  if (way.value("again", false)) {
    const Status again = CompileAgain(*bytes);
    if (!again.ok()) return Failed("again", again);
  }
  const auto program = Program::FromBytes(*bytes);
  if (!program.ok()) return Failed("load", program.status());
  SessionOptions session_options;
  session_options.device = "cpu";
  session_options.threads = 1;
  const auto session = Session::Create(*program, session_options);
  if (!session.ok()) return Failed("create", session.status());
  const Status ran = RunAll(request, way, *program, **session, answer);
  if (!ran.ok()) return Failed("run", ran);
  return answer;
}

}  // namespace aicf::graphs
