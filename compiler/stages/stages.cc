#include "compiler/stages/stages.h"

#include "compiler/costs/fit.h"
#include "compiler/ir/lowered_sizes.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/states/pair_states.h"
#include "schema/golden.h"

namespace aicf {

namespace {

// Those that are given, or those of the artifact that the options come from.
Result<std::vector<NamedTensors>> SamplesOf(const CompileOptions& options) {
  std::vector<NamedTensors> samples;
  if (options.precision == DType::kF32 || IsQuantized(options.precision)) return samples;
  for (const GoldenSpec& given : options.golden) samples.push_back(given.tensors);
  if (!samples.empty() || options.golden_section.empty()) return samples;
  AICF_ASSIGN_OR_RETURN(const schema::Golden golden, schema::ParseGolden(options.golden_section));
  for (const schema::GoldenSample& sample : golden.samples) {
    NamedTensors inputs;
    for (const schema::GoldenTensor& t : sample.inputs) {
      inputs[t.name] = ir::Tensor(t.dtype, t.shape, t.data, nullptr);
    }
    samples.push_back(std::move(inputs));
  }
  return samples;
}

// Of the model as it stands; what loops and composite ops add is counted where it is added.
Status CheckBudgets(const ir::Graph& graph, const Budgets& budgets) {
  AICF_RETURN_IF_ERROR(budgets.Check(Budget::kNodes, static_cast<int64_t>(graph.nodes.size())));
  int64_t names = 0;
  for (const ir::Node& node : graph.nodes) names += static_cast<int64_t>(node.name.size());
  for (const ir::Value& value : graph.values) names += static_cast<int64_t>(value.name.size());
  AICF_RETURN_IF_ERROR(budgets.Check(Budget::kNameBytes, names));
  return budgets.Check(Budget::kInterface,
                       static_cast<int64_t>(graph.inputs.size() + graph.outputs.size()));
}

double CorrectedCostOf(const abi::Candidate& candidate, abi::MathMode math,
                       const abi::DeviceSpec& device) {
  return tune::BuiltInFit(device).Predict(candidate, math);
}

}  // namespace

Result<PassContext> ContextFor(const CompileOptions& options) {
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.math = options.math;
  // On a GPU what is not quantised is stored as it would be with fp16, or it would be what the time
  // goes into.
  const bool gpu = context.device.backend == abi::Backend::kCuda;
  context.storage = !IsQuantized(options.precision) ? options.precision
                    : gpu                           ? DType::kF16
                                                    : DType::kF32;
  if (!options.calibration.empty()) context.calibration = &options.calibration;
  AICF_ASSIGN_OR_RETURN(context.samples, SamplesOf(options));
  context.no_fusion = options.no_fusion;
  context.nan_branches = options.nan_branches;
  context.budgets = options.budgets;
  context.policy = &options.policy;
  context.policy_strict = options.policy_strict;
  if (!options.wishes.empty()) context.wishes = &options.wishes;
  context.corrected_cost = &CorrectedCostOf;
  return context;
}

Result<ir::Graph> PrepareGraph(ir::Graph graph, const CompileOptions& options, PassRunner& runner,
                               PassContext& context) {
  AICF_RETURN_IF_ERROR(runner.CheckNames());
  AICF_RETURN_IF_ERROR(CheckBudgets(graph, context.budgets));
  AICF_RETURN_IF_ERROR(BindValues(graph, options.values));
  AICF_RETURN_IF_ERROR(BindShapes(graph, options.shapes));
  AICF_RETURN_IF_ERROR(InferAndFold(graph, context));
  AICF_RETURN_IF_ERROR(runner.Run(graph, context));
  return graph;
}

Result<ir::Lowered> LowerVerified(const ir::Graph& graph, const CompileOptions& options,
                                  PassContext& context) {
  AICF_ASSIGN_OR_RETURN(ir::Lowered lowered, LowerGraph(graph, context));
  AICF_RETURN_IF_ERROR(MarkStates(options.states, options.auto_states, lowered, context));
  AICF_RETURN_IF_ERROR(MarkMetas(options.metas, lowered));
  AICF_RETURN_IF_ERROR(CheckMagnitudes(lowered));
  const Status verified = Verify(lowered);
  if (!verified.ok()) return Error(Code::kInternal, "after lowering: ", verified.message());
  return lowered;
}

Result<ir::Lowered> Lower(const ir::Graph& graph, const CompileOptions& options, PassRunner& runner,
                          PassContext& context) {
  AICF_ASSIGN_OR_RETURN(ir::Lowered lowered, LowerVerified(graph, options, context));
  AICF_RETURN_IF_ERROR(runner.Run(lowered, context));
  return lowered;
}

}  // namespace aicf
