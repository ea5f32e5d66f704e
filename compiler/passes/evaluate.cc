#include "compiler/passes/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/loop_nodes.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {
namespace {

int64_t BytesOf(const ir::Graph& graph, const std::vector<ir::ValueId>& ids) {
  int64_t bytes = 0;
  for (ir::ValueId v : ids) {
    if (v == ir::kNoValue) continue;
    // Inferred shapes have byte sizes that fit; the sum of a few is clamped, not wrapped.
    const int64_t size = *ElementCount(graph.values[v].shape) * DTypeBytes(graph.values[v].dtype);
    if (__builtin_add_overflow(bytes, size, &bytes)) return INT64_MAX;
  }
  return bytes;
}

bool OnlyReshapes(std::string_view op) {
  return op == "Identity" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
         op == "Flatten";
}

bool ReadsShapeOnly(std::string_view op) { return op == "Shape" || op == "Size"; }

ir::Tensor ShapeResult(const ir::Graph& graph, const ir::Node& node) {
  const Dims& in = graph.values[node.inputs[0]].shape;
  const Dims& out = graph.values[node.outputs[0]].shape;
  if (node.op == "Size") {
    const int64_t count = *ElementCount(in);
    return ir::Tensor::FromValues<int64_t>(DType::kI64, out, std::span(&count, 1));
  }
  // The shape rule has taken both bounds into account: the extent of the output says how many
  // extents follow `start`.
  int64_t start = node.Int("start", 0);
  if (start < 0) start = std::max<int64_t>(start + in.rank(), 0);
  const size_t first = out[0] > 0 ? static_cast<size_t>(start) : 0;
  return ir::Tensor::FromValues<int64_t>(DType::kI64, out,
                                         in.span().subspan(first, static_cast<size_t>(out[0])));
}

double ElementsRead(const abi::View& view) {
  return static_cast<double>(ElementCount(view.shape).value_or(INT64_MAX));
}

// Estimated operations of the reference kernel for a step: its arithmetic, and one operation for
// each element that it reads or writes. The selection of boxes compares each box with all that were
// chosen before, which takes some 20 operations a pair.
double WorkOf(const abi::Problem& p) {
  double work = abi::FlopCount(p);
  for (const abi::View& view : p.inputs) work += ElementsRead(view);
  for (const abi::View& view : p.outputs) work += ElementsRead(view);
  if (p.family == abi::Family::kNms) {
    work += 20 * ElementsRead(p.inputs[1]) * static_cast<double>(p.inputs[1].shape.back());
  }
  if (p.family == abi::Family::kTopK) {
    work +=
        ElementsRead(p.inputs[0]) * std::log2(static_cast<double>(p.inputs[0].shape.back()) + 2);
  }
  if (p.family == abi::Family::kRoi) {
    const auto ratio = static_cast<double>(p.as<abi::RoiAttrs>().sampling_ratio);
    work += ElementsRead(p.outputs[0]) * (ratio > 0 ? ratio * ratio : ElementsRead(p.inputs[0]));
  }
  return work;
}

// The node as a graph of its own, its inputs as constants.
ir::Graph GraphOf(const ir::Graph& graph, const ir::Node& node) {
  ir::Graph one;
  one.name = node.name;
  std::map<ir::ValueId, ir::ValueId> known{{ir::kNoValue, ir::kNoValue}};
  const auto take = [&](ir::ValueId v) {
    const auto [it, added] = known.emplace(v, static_cast<ir::ValueId>(one.values.size()));
    if (added) one.AddValue(graph.values[v]);
    return it->second;
  };
  ir::Node copy = node;
  for (ir::ValueId& v : copy.inputs) v = take(v);
  for (ir::ValueId& v : copy.outputs) v = take(v);
  for (ir::ValueId v : copy.outputs) {
    if (v != ir::kNoValue) one.outputs.push_back(v);
  }
  one.nodes.push_back(std::move(copy));
  return one;
}

}  // namespace

Folder::Folder(PassContext& context, FoldLimits limits)
    : limits_(limits),
      total_bytes_(context.budgets.Of(Budget::kFoldedBytes)),
      bytes_left_(total_bytes_),
      operations_left_(static_cast<double>(context.budgets.Of(Budget::kFoldedOperations))) {
  context_.device = context.device;
  context_.math = abi::MathMode::kFp32;  // constants are exact whatever the model's products are
  context_.decisions = &discarded_;
}

bool Folder::CanFold(const ir::Graph& graph, const ir::Node& node) {
  if (ReadsShapeOnly(node.op)) return true;
  if (node.op == ir::kLoopBegin) return false;  // its results change from trip to trip
  return std::ranges::all_of(node.inputs, [&](ir::ValueId v) {
    return v == ir::kNoValue || graph.values[v].is_constant();
  });
}

Status Folder::CheckLimits(const ir::Graph& graph, const ir::Node& node) const {
  const int64_t bytes = BytesOf(graph, node.outputs);
  const int64_t limit = std::max(limits_.output_bytes, BytesOf(graph, node.inputs));
  if (bytes > limit) {
    return Error(Code::kResource, "its result of ", bytes, " bytes is above ", limit);
  }
  if (bytes <= bytes_left_) return OkStatus();
  return Error(Code::kResource, "constants of ", total_bytes_, " bytes were made already");
}

Result<std::vector<ir::Tensor>> Folder::Run(const ir::Graph& graph, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, LowerGraph(GraphOf(graph, node), context_));
  double work = 0;
  for (const ir::LoweredStep& step : lowered.steps) work += WorkOf(step.problem);
  if (work > std::min(limits_.operations, operations_left_)) {
    return Error(Code::kResource, "it takes ", static_cast<int64_t>(work), " operations");
  }
  operations_left_ -= work;
  return Interpret(lowered, {});
}

Result<std::optional<std::vector<ir::Tensor>>> Folder::Evaluate(const ir::Graph& graph,
                                                                const ir::Node& node,
                                                                std::string* why) {
  using Tensors = std::optional<std::vector<ir::Tensor>>;
  if (ReadsShapeOnly(node.op)) return Tensors({ShapeResult(graph, node)});
  if (OnlyReshapes(node.op)) {
    // The result is another view of the same bytes, so that large weights are not copied.
    const ir::Tensor& in = graph.values[node.inputs[0]].constant;
    return Tensors({in.Reshaped(graph.values[node.outputs[0]].shape)});
  }
  Status status = CheckLimits(graph, node);
  if (status.ok()) {
    auto results = Run(graph, node);
    if (results.ok()) {
      bytes_left_ -= BytesOf(graph, node.outputs);
      return Tensors(*std::move(results));
    }
    status = results.status();
  }
  *why = status.message();
  const bool kept = status.code() == Code::kResource || status.code() == Code::kUnsupported;
  return kept ? Result<Tensors>(Tensors()) : Result<Tensors>(status);
}

}  // namespace aicf
