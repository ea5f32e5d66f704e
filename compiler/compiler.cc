#include "compiler/compiler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/scanner.h"
#include "compiler/buckets/padding.h"
#include "compiler/emit/merge_plans.h"
#include "compiler/emit/model_hash.h"
#include "compiler/emit/weights.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {

namespace {

std::string ShapesText(const ShapeMap& shapes) {
  std::string out;
  for (const auto& [name, shape] : shapes) {
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
  j["shapes"] = ShapesText(options.shapes);
  for (const Bucket& b : options.buckets) j["buckets"][b.name] = ShapesText(b.shapes);
  if (!options.values.empty()) j["values"] = ValuesText(options);
  j["deterministic"] = options.deterministic;
  j["policy"] = options.policy;
  j["disabled_passes"] = options.passes.disabled;
  j["disabled_fusion"] = options.no_fusion;
  j["device_compiler"] = program.images.empty() ? "" : program.images[0].compiler;
  j["libraries"] = Libraries(program);
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

struct NamedLowered {
  std::string name;  // empty for the only one
  const ir::Lowered* lowered;
};

// The lowered programs travel in the artifact, each of several behind a line with its entry point's
// name; constants that the plan keeps as they are are stored once.
void AttachLowered(const std::vector<NamedLowered>& entries, schema::Contents& contents) {
  WeightsBuilder planned;
  for (const schema::Buffer& b : contents.program.buffers) {
    if (b.role != schema::Role::kConstant) continue;
    planned.Add(std::span(contents.weights).subspan(b.offset, b.bytes));
  }
  std::vector<NamedConstant> missing;
  for (const NamedLowered& entry : entries) {
    if (!entry.name.empty()) contents.lowered += StrCat("entry ", Quote(entry.name), "\n");
    contents.lowered += ToString(*entry.lowered);
    for (const ir::LoweredBuffer& b : entry.lowered->buffers) {
      if (!b.constant.has_data()) continue;
      const Hash128 hash = HashBytes(b.constant.bytes());
      if (!planned.Contains(hash)) missing.push_back({hash, b.constant.bytes()});
    }
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

namespace {

// One entry point on its way through the pipeline.
struct CompiledEntry {
  DecisionLog decisions;
  ir::Lowered lowered;
  schema::Contents contents;
};

Result<CompiledEntry> CompileEntry(const ir::Graph& model, const CompileOptions& options,
                                   PassRunner& runner, PassContext context) {
  CompiledEntry entry;
  context.decisions = &entry.decisions;
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, PrepareGraph(model, options, runner, context));
  AICF_ASSIGN_OR_RETURN(entry.lowered, Lower(graph, runner, context));
  AICF_ASSIGN_OR_RETURN(entry.contents, MakePlan(entry.lowered, options, context));
  entry.contents.program.metadata = graph.metadata;
  return entry;
}

// What may be padded at run time, for a compilation with buckets.
Status RecordPaddings(const ir::Graph& model, const CompileOptions& options,
                      const std::vector<Bucket>& entries, PassContext context,
                      std::vector<CompiledEntry>& compiled) {
  if (options.buckets.empty()) return OkStatus();
  ir::Graph bound = model;
  AICF_RETURN_IF_ERROR(BindValues(bound, options.values));
  AICF_ASSIGN_OR_RETURN(const auto shapes, InputShapes(bound, entries));
  for (size_t e = 0; e < entries.size(); ++e) {
    context.decisions = &compiled[e].decisions;
    AICF_ASSIGN_OR_RETURN(compiled[e].contents.program.entry_points[0].paddings,
                          ProvePaddings(bound, shapes, e, context));
  }
  return OkStatus();
}

// Before anything is compiled: names, inputs and shapes of the buckets.
Status CheckEntries(const ir::Graph& model, const CompileOptions& options,
                    const std::vector<Bucket>& entries) {
  if (options.buckets.empty()) return OkStatus();
  ir::Graph bound = model;
  AICF_RETURN_IF_ERROR(BindValues(bound, options.values));
  return InputShapes(bound, entries).status();
}

CompileOptions OptionsFor(const CompileOptions& options, const Bucket& entry) {
  CompileOptions own = options;
  own.shapes = entry.shapes;
  return own;
}

Result<std::vector<CompiledEntry>> CompileEntries(const ir::Graph& model,
                                                  const CompileOptions& options,
                                                  const std::vector<Bucket>& entries,
                                                  PassRunner& runner) {
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.math = options.math;
  context.no_fusion = options.no_fusion;
  AICF_RETURN_IF_ERROR(CheckEntries(model, options, entries));
  std::vector<CompiledEntry> compiled;
  for (const Bucket& entry : entries) {
    auto one = CompileEntry(model, OptionsFor(options, entry), runner, context);
    if (!one.ok()) {
      const std::string label = EntryLabel(options, entry);
      return label.empty() ? one.status() : one.status().WithContext(label);
    }
    compiled.push_back(*std::move(one));
  }
  AICF_RETURN_IF_ERROR(RecordPaddings(model, options, entries, context, compiled));
  return compiled;
}

// The parts of one program, and everything about how they came to be.
Status Join(std::vector<CompiledEntry>& compiled, const CompileOptions& options,
            const std::vector<Bucket>& entries, CompileResult& result) {
  std::vector<NamedPlan> plans;
  for (size_t e = 0; e < entries.size(); ++e) {
    plans.push_back({entries[e].name, std::move(compiled[e].contents)});
  }
  AICF_ASSIGN_OR_RETURN(result.contents, MergePlans(std::move(plans)));
  std::vector<NamedLowered> lowered;
  for (size_t e = 0; e < entries.size(); ++e) {
    const std::string name = options.buckets.empty() ? "" : entries[e].name;
    result.decisions.Append(compiled[e].decisions, name,
                            result.contents.program.entry_points[e].first_step);
    lowered.push_back({name, &compiled[e].lowered});
  }
  if (options.strip) return OkStatus();
  AttachLowered(lowered, result.contents);
  result.contents.decisions = result.decisions.ToJsonLines();
  return OkStatus();
}

// A pass runs once for every entry point.
std::vector<PassTiming> SumByPass(const std::vector<PassTiming>& timings) {
  std::vector<PassTiming> sums;
  for (const PassTiming& t : timings) {
    const auto known = std::ranges::find(sums, t.name, &PassTiming::name);
    if (known == sums.end()) {
      sums.push_back(t);
    } else {
      known->milliseconds += t.milliseconds;
    }
  }
  return sums;
}

}  // namespace

Result<CompileResult> Compile(const std::string& model_path, const CompileOptions& options) {
  CompileResult result;
  PassRunner runner(options.passes);
  AICF_RETURN_IF_ERROR(runner.CheckNames());
  AICF_RETURN_IF_ERROR(abi::FindDevice(options.target).status());
  AICF_ASSIGN_OR_RETURN(const std::vector<Bucket> entries, EntryPointsOf(options));
  AICF_ASSIGN_OR_RETURN(const ir::Graph model, ImportOnnx(model_path));
  AICF_ASSIGN_OR_RETURN(const std::string model_hash, HashModelFile(model_path));
  AICF_ASSIGN_OR_RETURN(std::vector<CompiledEntry> compiled,
                        CompileEntries(model, options, entries, runner));
  AICF_RETURN_IF_ERROR(Join(compiled, options, entries, result));
  result.contents.provenance = Provenance(model_hash, options, result.contents.program);
  AICF_ASSIGN_OR_RETURN(result.bytes, schema::Serialize(result.contents));
  result.timings = SumByPass(runner.timings());
  return result;
}

}  // namespace aicf
