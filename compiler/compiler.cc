#include "compiler/compiler.h"

#include <nlohmann/json.hpp>

#include "compiler/emit/weights.h"
#include "compiler/emit/model_hash.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {

namespace {

std::string ShapesText(const CompileOptions& options) {
  std::string out;
  for (const auto& [name, shape] : options.shapes) {
    out += StrCat(out.empty() ? "" : ",", name, ":", ToString(shape));
  }
  return out;
}

std::string ValuesText(const CompileOptions& options) {
  std::string out;
  for (const auto& [name, value] : options.values) {
    out += StrCat(out.empty() ? "" : ",", name, ":", DTypeName(value.dtype()), ":",
                  ToString(value.shape()), ":", ToHex(HashBytes(value.bytes())));
  }
  return out;
}

// Versions of the libraries whose algorithms the plan replays.
nlohmann::ordered_json Libraries(const schema::Program& program) {
  nlohmann::ordered_json versions = nlohmann::ordered_json::object();
  for (const schema::Step& step : program.steps) {
    if (step.library_version == 0) continue;
    versions[step.kernel.substr(0, step.kernel.find('.'))] = step.library_version;
  }
  return versions;
}

// Everything that went in, so that the same bytes can be made again. No clock, no path, no host name.
std::string Provenance(const std::string& model_hash, const CompileOptions& options,
                       const schema::Program& program) {
  nlohmann::ordered_json j;
  j["tool"] = "aicf-compile " AICF_VERSION;
  j["kernel_abi"] = abi::kKernelAbiVersion;
  j["model_xxh3_128"] = model_hash;
  j["target"] = program.target;
  j["math"] = abi::MathModeName(options.math);
  j["shapes"] = ShapesText(options);
  if (!options.values.empty()) j["values"] = ValuesText(options);
  j["deterministic"] = options.deterministic;
  j["policy"] = options.policy;
  j["disabled_passes"] = options.passes.disabled;
  j["disabled_fusion"] = options.no_fusion;
  j["device_compiler"] = program.images.empty() ? "" : program.images[0].compiler;
  j["libraries"] = Libraries(program);
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// The lowered program travels in the artifact; constants that the plan keeps as they are are stored once.
void AttachLowered(const ir::Lowered& lowered, schema::Contents& contents) {
  contents.lowered = ToString(lowered);
  WeightsBuilder planned;
  for (const schema::Buffer& b : contents.program.buffers) {
    if (b.role != schema::Role::kConstant) continue;
    planned.Add(std::span(contents.weights).subspan(b.offset, b.bytes));
  }
  std::vector<NamedConstant> missing;
  for (const ir::LoweredBuffer& b : lowered.buffers) {
    if (!b.constant.has_data()) continue;
    const Hash128 hash = HashBytes(b.constant.bytes());
    if (!planned.Contains(hash)) missing.push_back({hash, b.constant.bytes()});
  }
  contents.lowered_weights = EncodeConstants(std::move(missing));
}

}  // namespace

Result<ir::Graph> PrepareGraph(ir::Graph graph, const CompileOptions& options, PassRunner& runner,
                               PassContext& context) {
  AICF_RETURN_IF_ERROR(runner.CheckNames());
  AICF_RETURN_IF_ERROR(BindValues(graph, options.values));
  AICF_RETURN_IF_ERROR(BindShapes(graph, options.shapes));
  AICF_RETURN_IF_ERROR(InferAndFold(graph, context));
  AICF_RETURN_IF_ERROR(runner.Run(graph, context));
  return graph;
}

Result<ir::Lowered> Lower(const ir::Graph& graph, PassRunner& runner, PassContext& context) {
  AICF_ASSIGN_OR_RETURN(ir::Lowered lowered, LowerGraph(graph, context));
  const Status verified = Verify(lowered);
  if (!verified.ok()) return Error(Code::kInternal, "after lowering: ", verified.message());
  AICF_RETURN_IF_ERROR(runner.Run(lowered, context));
  return lowered;
}

Result<CompileResult> Compile(const std::string& model_path, const CompileOptions& options) {
  CompileResult result;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.math = options.math;
  context.decisions = &result.decisions;
  context.no_fusion = options.no_fusion;
  PassRunner runner(options.passes);
  AICF_RETURN_IF_ERROR(runner.CheckNames());
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, ImportOnnx(model_path));
  AICF_ASSIGN_OR_RETURN(const std::string model_hash, HashModelFile(model_path));
  AICF_ASSIGN_OR_RETURN(graph, PrepareGraph(std::move(graph), options, runner, context));
  AICF_ASSIGN_OR_RETURN(ir::Lowered lowered, Lower(graph, runner, context));
  AICF_ASSIGN_OR_RETURN(result.contents, MakePlan(lowered, options, context));
  result.contents.program.metadata = graph.metadata;
  result.contents.provenance = Provenance(model_hash, options, result.contents.program);
  if (!options.strip) {
    AttachLowered(lowered, result.contents);
    result.contents.decisions = result.decisions.ToJsonLines();
  }
  AICF_ASSIGN_OR_RETURN(result.bytes, schema::Serialize(result.contents));
  result.timings = runner.timings();
  return result;
}

}  // namespace aicf
